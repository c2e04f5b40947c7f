"""A model's name and what is asked of it, in one text: ``provider/name,option=value,option=value``.

One text goes wherever a model is named: flags, roles, run files, tables, Python. So two roles may
have one model with different settings, and a run's own record says how its model was set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from navloom.errors import ModelError

__all__ = ["ModelSpec", "Value", "hidden_in_address", "is_address", "public_address", "read_spec"]

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
        options[key] = _read(value)
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


def _read(value: str) -> Value:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, bool | int | float) else value
