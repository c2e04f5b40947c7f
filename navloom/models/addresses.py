"""Whom a file may send a model's calls to: nobody, until the user of this machine says so.

A model's text may hold an address (``vllm/x,base_url=http://gpu1:8000/v1``), and calls there carry
a key of the environment and everything that is asked. Typed, or in an environment variable, it is
the user's own word. From a run's folder or a file of ``--run-config`` it is somebody's. So whoever
reads a model's text from a file tells `distrust`, and `navloom.models.get_model` refuses an origin
that is distrusted, before any call, unless

- an environment variable that ends in ``_BASE_URL`` names the same origin;
- it was typed or allowed before: in this process, or on this machine by this user, whose own state
  folder remembers it (``~/.local/state/navloom/addresses.json``, or ``$XDG_STATE_HOME``).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from navloom.errors import ModelError, UsageError
from navloom.files import replace_file
from navloom.models.spec import ModelSpec, public_address, read_spec

_FORMAT = "navloom.addresses/1"
_ADDRESS = re.compile(
    r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?:[/?#].*)?", re.IGNORECASE
)
_NAMES = re.compile(r"(?i)url|proxy|endpoint|host|address|base")
_USUAL_PORTS = {"http": "80", "https": "443"}
_MOST_FILE = 256 * 1024
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
    for address in _of(spec).values():
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
        return _of(read_spec(text))
    except ModelError:
        # What is no model's text is refused where it is used.
        return {}


def _of(spec: ModelSpec) -> dict[str, str]:
    return {
        option: value
        for option, value in spec.options.items()
        if isinstance(value, str) and ("://" in value or _NAMES.search(option))
    }


def _from_environment() -> set[str]:
    return {
        origin_of(value)
        for name, value in os.environ.items()
        if name.endswith("_BASE_URL") and value.strip()
    }


def _allow(origins: list[str], how: str) -> None:
    _allowed.update(origins)
    there = _read()
    new = [each for each in origins if each not in there]
    if not new or len(there) >= _MOST_REMEMBERED:
        return
    since = datetime.now(UTC).isoformat(timespec="seconds")
    there |= dict.fromkeys(new, f"{how} {since}")
    said = json.dumps({"format": _FORMAT, "origins": there}, indent=2) + "\n"
    try:
        state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(_file(), said.encode())
    except OSError:
        # It counts for this process; the next one asks again, and says what to type.
        return


def _remembered() -> set[str]:
    return set(_read())


def _read() -> dict[str, str]:
    """The origins that this user typed or allowed; none where the file cannot be understood."""
    try:
        with _file().open("rb") as file:
            said = json.loads(file.read(_MOST_FILE))
        there = said["origins"] if said["format"] == _FORMAT else {}
        return {str(origin): str(how) for origin, how in there.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _file() -> Path:
    return state_folder() / "addresses.json"
