"""Specification of a model: name, options and provider, and the addresses it may be called at.

A model and its options are one text, ``provider/name,option=value,option=value``, wherever a model
is named: flags, roles, run files, tables, Python. So two roles may use one model with different
settings, and a run's record contains its model's settings.

A file may not send a model's calls anywhere until the user of this machine allows it. A model's
text may hold an address (``vllm/x,base_url=http://gpu1:8000/v1``), and calls there carry a key of
the environment and the whole conversation. If it is typed, or in an environment variable, it is the
user's own. In a run's folder or a file of ``--run-config`` it comes from someone else. So code that
reads a model's text from a file calls `distrust_address`, and `navloom.models.get_model` refuses a
distrusted origin before any call, unless

- an environment variable that ends in ``_BASE_URL`` names the same origin;
- it was typed or allowed before: in this process, or on this machine by this user. The user's state
  folder stores it (``~/.local/state/navloom/addresses.json``, or ``$XDG_STATE_HOME``).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from navloom.errors import ModelError, UsageError
from navloom.files import replace_file

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

OUR_BOUND = "navloom_our_bound"
"""Key of a model's metadata: the maximum tokens of a reply, if Navloom chose it; 0 if that never
fits its server."""
Value = str | int | float | bool
"""Types of an option's value in a model's text."""
# Only a comma before `option=` ends a name, so that a file's path may have commas.
_NEXT = re.compile(r",(?=[A-Za-z_]\w*=)")
_SECRET = re.compile(r"(?i)api_?key|headers|secret|password")
_SECRET_FIELD = re.compile(r"(?i)key|token|secret|sig|pass")
_PASSWORD = re.compile(r"://[^/\s]*@")
_MOST_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Parsed specification of a model.

    Attributes:
        provider: the text before the first slash; all of it without a slash.
        name: the text after it, without the options; "" without a slash.
        options: the model's options.
    """

    provider: str
    name: str
    options: Mapping[str, Value] = field(default_factory=dict)

    @property
    def bare(self) -> str:
        """``provider/name`` without options."""
        return f"{self.provider}/{self.name}" if self.name else self.provider


@lru_cache(maxsize=256)
def read_spec(text: str) -> ModelSpec:
    """Parse a model's text; whether the model exists is not checked.

    Args:
        text: ``provider/name`` or ``provider/name,temperature=0.2,max_tokens=256``. A value that
            looks like a number, ``true`` or ``false`` is one, everything else is text.

    Raises:
        ModelError: an option is empty or given twice, or would put a secret into a run's files.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ModelError(f"{text[:40]}…: a model's name has {_MOST_CHARACTERS} characters at most.")
    bare, *given = _NEXT.split(text.strip())
    provider, _, name = bare.partition("/")
    options: dict[str, Value] = {}
    for part in given:
        key, _, value = (piece.strip() for piece in part.partition("="))
        if not value:
            raise ModelError(f"{bare}: the option '{key}' has no value: write {key}=VALUE.")
        if key in options:
            raise ModelError(f"{bare}: the option '{key}' is given twice.")
        if _SECRET.search(key) or _PASSWORD.search(value):
            raise ModelError(
                f"{bare}: '{key}' may hold a secret, and a model's name is written into runs:"
                " set the provider's environment variable instead."
            )
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = value
        options[key] = read if isinstance(read, bool | int | float) else value
    return ModelSpec(provider, name.strip(), options)


def is_address(text: object) -> bool:
    """Check whether a text is the address of a server: http or https, a host, an optional port."""
    try:
        parts = urlsplit(str(text))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def public_address(text: object) -> str:
    """Return an address without its secret parts: user, password, query, fragment."""
    try:
        parts = urlsplit(str(text))
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def address_secrets(text: str) -> list[str]:
    """Return the secrets in an address: user and password, and keys in its query."""
    parts = urlsplit(text)
    user, at, _ = parts.netloc.rpartition("@")
    found = [f"://{user}@", unquote(user.partition(":")[2])] if at else []
    found += [value for name, value in parse_qsl(parts.query) if _SECRET_FIELD.search(name)]
    return [each for each in found if each]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options of a model; None leaves one to the provider.

    Attributes:
        base_url: the server's address; overrides the provider's environment variable.
        api_key: the key; overrides the provider's environment variable.
        temperature: sampling temperature, 0 to 2.
        max_tokens: maximum tokens of one reply.
        attempt_timeout: seconds that one attempt may take, from its start to its end (600).
        max_retries: attempts after the first, if a retry may help (3).
        headers: further HTTP headers.
        extra: further arguments of the LangChain client's constructor, unchanged.
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
        """Return the options that are not None."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


IN_PROCESS_OPTIONS = frozenset({"attempt_timeout", "max_retries"})
"""Options of a model without a server."""
_SERVER_OPTIONS = frozenset(f.name for f in fields(ModelOptions))


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    Attributes:
        name: the text before the slash.
        about: one line for ``navloom models``.
        make: ``"module:function"`` or the function itself, ``(name, Options) -> BaseChatModel``; a
            string is imported on first use.
        models: the available names, or a few examples if ``is_open``.
        is_open: whether any other name is allowed too.
        needs: the environment variable required for a call, if any.
        takes: the supported options.
        extras: the keys supported in ``extra``; None leaves that to the client.
        package: the module required for a call, if any.
        install: the command that installs it.
        beside: a model's name to the further module that it needs and the command for that.
        speaks: prefix of the variables that name a chat completions server and its key
            (``X_BASE_URL``, ``X_API_KEY``), if there are any.
        fault: why nothing of this provider can be used (a broken third-party package), if so.
    """

    name: str
    about: str
    make: str | Callable[[str, ModelOptions], BaseChatModel]
    models: tuple[str, ...] = ()
    is_open: bool = True
    needs: str | None = None
    takes: frozenset[str] = _SERVER_OPTIONS
    extras: frozenset[str] | None = None
    package: str | None = None
    install: str | None = None
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    speaks: str | None = None
    fault: str | None = None

    def missing_setup(self, model: str | None = None) -> str | None:
        """Return what prevents use of this provider: a fault, a package or a variable, or None.

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

    def build(self, name: str, options: ModelOptions) -> BaseChatModel:
        """Make the chat model of this name.

        Raises:
            ModelError: the provider is broken or its package is not installed.
        """
        if self.fault:
            raise ModelError(self.fault)
        if self.package and find_spec(self.package) is None:
            raise ModelError(
                f"{self.name}/{name} needs the package {self.package}: {self.missing_setup()}"
            )
        make = self.make
        if isinstance(make, str):
            module, _, function = make.partition(":")
            make = getattr(import_module(module), function)
        model: BaseChatModel = make(name, options)
        return model


_ADDRESS_FORMAT = "navloom.addresses/1"
_ADDRESS = re.compile(
    r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?:[/?#].*)?", re.IGNORECASE
)
_ADDRESS_NAMES = re.compile(r"(?i)url|proxy|endpoint|host|address|base")
_USUAL_PORTS = {"http": "80", "https": "443"}
_MOST_ADDRESS_BYTES = 256 * 1024
_MOST_REMEMBERED = 500

_distrusted: dict[str, str] = {}
_allowed: set[str] = set()


class AddressError(ModelError):
    """Raised if a file names an address that the user has not allowed.

    Attributes:
        origin: the address's origin.
    """

    def __init__(self, message: str, origin: str) -> None:
        super().__init__(message)
        self.origin = origin


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address in normal form; other text unchanged."""
    found = _ADDRESS.fullmatch(address.strip())
    if found is None:
        return address.strip()
    scheme, host, port = found[1].lower(), found[2].lower(), found[3]
    number = "" if port in (None, _USUAL_PORTS[scheme]) else f":{int(port)}"
    return f"{scheme}://{host}{number}"


def distrust_address(text: object, where: str) -> None:
    """Distrust the addresses in a model's text that came from a file.

    Args:
        text: a possible model's text; other text names no address.
        where: the file and its field, for the user.
    """
    for option, address in _named(text).items():
        origin = origin_of(address)
        shown = public_address(address) if "://" in address else address
        _distrusted.setdefault(origin, f"{where} sends calls to {shown} ({option})"[:1000])


def trust_address(text: object) -> None:
    """Allow and remember the addresses in a model's text that the user typed."""
    origins = [origin_of(address) for address in _named(text).values()]
    if origins:
        _allow(origins, "typed")


def allow_origins(origins: Iterable[str]) -> None:
    """Allow files to send calls to these origins, now and later on this machine.

    Raises:
        UsageError: a text is no origin, such as ``http://localhost:8000``.
    """
    given = list(origins)
    for each in given:
        if _ADDRESS.fullmatch(each) is None:
            raise UsageError(
                f"--allow-address {each}: give scheme, host and port, such as http://localhost:8000"
            )
    if given:
        _allow([origin_of(each) for each in given], "allowed")


def origins_in(texts: Iterable[object]) -> list[str]:
    """Return the origins that models' texts name, sorted."""
    return sorted({origin_of(each) for text in texts for each in _named(text).values()})


def allow_in_process(origins: Iterable[str]) -> None:
    """Allow origins for this process only, after the calling process has checked them."""
    _allowed.update(origins)


def check_addresses(spec: ModelSpec) -> None:
    """Refuse a model whose address a file named and the user did not allow.

    Raises:
        AddressError: the address is distrusted and not allowed.
    """
    for address in _addresses_of(spec).values():
        origin = origin_of(address)
        if origin in _distrusted and origin not in _allowed | _from_environment() | _remembered():
            raise AddressError(
                f"{_distrusted[origin]}, which you have not allowed: your key and all that is asked"
                f" would go there. Where that is wanted, add --allow-address {origin}",
                origin,
            )


def state_folder() -> Path:
    """Return the folder of this user's stored choices."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navloom"
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    # A relative path is ignored (XDG Base Directory Specification): it depends on the folder.
    base = named if named.is_absolute() else Path.home() / ".local" / "state"
    return base / "navloom"


def _named(text: object) -> dict[str, str]:
    """Return the options of a model's text that hold an address."""
    if not isinstance(text, str) or "/" not in text or "=" not in text:
        return {}
    # `ROLE=PROVIDER/NAME` of --model-role.
    text = re.sub(r"^\s*\w+\s*=", "", text)
    try:
        return _addresses_of(read_spec(text))
    except ModelError:
        # An invalid model's text is refused where it is used.
        return {}


def _addresses_of(spec: ModelSpec) -> dict[str, str]:
    return {
        option: value
        for option, value in spec.options.items()
        if isinstance(value, str) and ("://" in value or _ADDRESS_NAMES.search(option))
    }


def _from_environment() -> set[str]:
    return {
        origin_of(value)
        for name, value in os.environ.items()
        if name.endswith("_BASE_URL") and value.strip()
    }


def _allow(origins: list[str], how: str) -> None:
    _allowed.update(origins)
    there = _read_allowed()
    new = [each for each in origins if each not in there]
    if not new or len(there) >= _MOST_REMEMBERED:
        return
    since = datetime.now(UTC).isoformat(timespec="seconds")
    there |= dict.fromkeys(new, f"{how} {since}")
    said = json.dumps({"format": _ADDRESS_FORMAT, "origins": there}, indent=2) + "\n"
    try:
        state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(_allowed_file(), said.encode())
    except OSError:
        # It holds for this process; the next one refuses again and says what to type.
        return


def _remembered() -> set[str]:
    return set(_read_allowed())


def _read_allowed() -> dict[str, str]:
    """Return the origins that this user typed or allowed; {} if the file is unreadable."""
    try:
        with _allowed_file().open("rb") as file:
            said = json.loads(file.read(_MOST_ADDRESS_BYTES))
        there = said["origins"] if said["format"] == _ADDRESS_FORMAT else {}
        return {str(origin): str(how) for origin, how in there.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _allowed_file() -> Path:
    return state_folder() / "addresses.json"
