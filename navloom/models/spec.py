"""Specification of a model: its name, options and provider, and the addresses it may be called at.

A model and what is asked of it are one text, ``provider/name,option=value,option=value``, wherever
a model is named: flags, roles, run files, tables, Python. So two roles may have one model with
different settings, and a run's own record says how its model was set.

A file may send a model's calls nowhere until the user of this machine allows it. A model's text may
hold an address (``vllm/x,base_url=http://gpu1:8000/v1``), and calls there carry a key of the
environment and everything that is asked. Typed, or in an environment variable, it is the user's own
word. From a run's folder or a file of ``--run-config`` it is somebody's. So whoever reads a model's
text from a file tells `distrust`, and `navloom.models.get_model` refuses an origin that is
distrusted, before any call, unless

- an environment variable that ends in ``_BASE_URL`` names the same origin;
- it was typed or allowed before: in this process, or on this machine by this user, whose own state
  folder remembers it (``~/.local/state/navloom/addresses.json``, or ``$XDG_STATE_HOME``).
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
"""In a model's metadata: the most tokens of a reply, where they are Navloom's choice; 0 where they
never fit its server."""
Value = str | int | float | bool
"""What an option may be set to by text."""
# Only a comma before `option=` ends a name, so that a file's path may have commas.
_NEXT = re.compile(r",(?=[A-Za-z_]\w*=)")
_SECRET = re.compile(r"(?i)api_?key|headers|secret|password")
_SECRET_FIELD = re.compile(r"(?i)key|token|secret|sig|pass")
_PASSWORD = re.compile(r"://[^/\s]*@")
_MOST_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model that is named.

    Attributes:
        provider: what stands before the first slash; all of it where there is none.
        name: what stands after it, without the options; "" where there is no slash.
        options: what is asked of the model.
    """

    provider: str
    name: str
    options: Mapping[str, Value] = field(default_factory=dict)

    @property
    def bare(self) -> str:
        """``provider/name`` alone."""
        return f"{self.provider}/{self.name}" if self.name else self.provider


@lru_cache(maxsize=256)
def read_spec(text: str) -> ModelSpec:
    """Take a model's text apart; whether there is such a model is not looked at.

    Args:
        text: ``provider/name`` or ``provider/name,temperature=0.2,max_tokens=256``. A value that
            reads as a number, ``true`` or ``false`` is one, everything else is text.

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
    """Whether a text is the address of a server: http or https, a host, a port if any."""
    try:
        parts = urlsplit(str(text))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def public_address(text: object) -> str:
    """An address without what may be secret in it: user, password, query, fragment."""
    try:
        parts = urlsplit(str(text))
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def hidden_in_address(text: str) -> list[str]:
    """What of an address is secret: a password, with what stands around it, and keys in a query."""
    parts = urlsplit(text)
    user, at, _ = parts.netloc.rpartition("@")
    found = [f"://{user}@", unquote(user.partition(":")[2])] if at else []
    found += [value for name, value in parse_qsl(parts.query) if _SECRET_FIELD.search(name)]
    return [each for each in found if each]


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


IN_PROCESS_OPTIONS = frozenset({"attempt_timeout", "max_retries"})
"""What may be asked of a model that no server answers for."""
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
        speaks: what the variables begin with that name a server of chat completions and its key
            (``X_BASE_URL``, ``X_API_KEY``), if there are any.
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
    speaks: str | None = None
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
    """A file names an address to which nothing is sent until the user allows it.

    Attributes:
        origin: of the address.
    """

    def __init__(self, message: str, origin: str) -> None:
        super().__init__(message)
        self.origin = origin


def origin_of(address: str) -> str:
    """Scheme, host and port of an address, in one spelling; what is no plain address, as it is."""
    found = _ADDRESS.fullmatch(address.strip())
    if found is None:
        return address.strip()
    scheme, host, port = found[1].lower(), found[2].lower(), found[3]
    number = "" if port in (None, _USUAL_PORTS[scheme]) else f":{int(port)}"
    return f"{scheme}://{host}{number}"


def distrust(text: object, where: str) -> None:
    """Send nothing to an address in a model's text, which came from a file.

    Args:
        text: what may be a model's text; what is none names no address.
        where: the file and its field, for the user.
    """
    for option, address in _named(text).items():
        origin = origin_of(address)
        shown = public_address(address) if "://" in address else address
        _distrusted.setdefault(origin, f"{where} sends calls to {shown} ({option})"[:1000])


def trust(text: object) -> None:
    """Take the addresses in a model's text as the user's own, who typed it; they are remembered."""
    origins = [origin_of(address) for address in _named(text).values()]
    if origins:
        _allow(origins, "typed")


def allow(origins: Iterable[str]) -> None:
    """Let files send calls to these origins, now and later on this machine.

    Raises:
        UsageError: one is no origin, such as ``http://localhost:8000``.
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
    """The origins that models' texts name."""
    return sorted({origin_of(each) for text in texts for each in _named(text).values()})


def let_through(origins: Iterable[str]) -> None:
    """Let this process alone send calls to origins that the process which asks has checked."""
    _allowed.update(origins)


def check_addresses(spec: ModelSpec) -> None:
    """Refuse a model whose address a file named, and nobody allowed.

    Raises:
        AddressError: so it is.
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
    """Where this user's choices are kept."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navloom"
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    # A relative one does not count (XDG Base Directory Specification): it might be a stranger's.
    base = named if named.is_absolute() else Path.home() / ".local" / "state"
    return base / "navloom"


def _named(text: object) -> dict[str, str]:
    """The options of a model's text that hold an address."""
    if not isinstance(text, str) or "/" not in text or "=" not in text:
        return {}
    # `ROLE=PROVIDER/NAME` of --model-role.
    text = re.sub(r"^\s*\w+\s*=", "", text)
    try:
        return _addresses_of(read_spec(text))
    except ModelError:
        # What is no model's text is refused where it is used.
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
        # It counts for this process; the next one asks again, and says what to type.
        return


def _remembered() -> set[str]:
    return set(_read_allowed())


def _read_allowed() -> dict[str, str]:
    """The origins that this user typed or allowed; none where the file cannot be understood."""
    try:
        with _allowed_file().open("rb") as file:
            said = json.loads(file.read(_MOST_ADDRESS_BYTES))
        there = said["origins"] if said["format"] == _ADDRESS_FORMAT else {}
        return {str(origin): str(how) for origin, how in there.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _allowed_file() -> Path:
    return state_folder() / "addresses.json"
