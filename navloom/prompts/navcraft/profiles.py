"""Role profiles: the person a task is made for (CoNavBench 3.1.2, A.8).

A profile is a weak preference when a generator picks an object; it never overrides feasibility.
Five come with the package. Any other is a YAML or JSON file with the same five keys.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from navloom.errors import PromptError, did_you_mean
from navloom.files import open_file

NO_PROFILE = "none"
"""The name for no profile."""
_MOST_BYTES = 20_000


class Profile(BaseModel):
    """A person, as the five keys of A.8; dump it ``by_alias`` to get those keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    age: int = Field(alias="Age", ge=0, le=130)
    gender: str = Field(alias="Gender", max_length=100)
    marital_status: str = Field(alias="Marital Status", max_length=100)
    occupation: str = Field(alias="Occupation", max_length=200)
    lifestyle: str = Field(alias="Lifestyle Description", max_length=2000)

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Validate the data of a file or a caller as a profile.

        Raises:
            PromptError: a key is missing, unknown or out of bounds; the message names it.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            said = f"'{key}': {first['msg']}" if key else f"it is a {type(data).__name__}"
            wanted = ", ".join(str(field.alias) for field in cls.model_fields.values())
            raise PromptError(
                f"profile {where}: {said}; the keys of a profile are {wanted}"
            ) from None


def user_profile_names() -> tuple[str, ...]:
    """Return the names of the profiles in the package."""
    return tuple(_packaged())


def load_profile(name: str | None) -> Profile | None:
    """Load a profile by name or from a file.

    Args:
        name: one of :func:`user_profile_names`, ``"none"`` or None for no profile, or the path of a
            YAML or JSON file.

    Raises:
        PromptError: there is no such profile, or the file is not a valid one.
    """
    if name is None or name == NO_PROFILE:
        return None
    if name in _packaged():
        return _packaged()[name]
    path = Path(name)
    if path.suffix not in (".yaml", ".yml", ".json"):
        known = (*_packaged(), NO_PROFILE)
        raise PromptError(
            f"no profile is named '{name}': expected one of {', '.join(known)}, or a .yaml or "
            f".json file.{did_you_mean(name, known)}"
        )
    return Profile.read(_read_yaml(path), str(path))


def _read_yaml(path: Path) -> Any:
    try:
        with open_file(path) as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PromptError(f"profile {path}: cannot be read ({error.strerror})") from None
    if len(text) > _MOST_BYTES:
        raise PromptError(f"profile {path}: is over {_MOST_BYTES} bytes")
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise PromptError(f"profile {path}: is nested beyond reason") from None
    except (yaml.YAMLError, ValueError) as error:
        problem = str(error).splitlines()[0]
        raise PromptError(f"profile {path}: is not YAML or JSON ({problem})") from None


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Profile]:
    data = _read_yaml(Path(__file__).with_name("profiles.yaml"))
    return {name: Profile.read(value, name) for name, value in data.items()}
