"""What a run is asked to be, what of it decides the outcome, and how ``run.json`` gives it back.

Two halves: what decides stands in ``run.json`` as the request and is hashed; where this machine
happens to keep the files stands beside it, so that a folder that has moved is no other run. The
files themselves are in the request by their content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from navloom.errors import RunError, UsageError
from navloom.evals.provenance import package_version
from navloom.evals.run_folder import read_run


def made_by_another(run: Path | str, said: Mapping[str, Any], what: str) -> RunError:
    """Say that this version cannot read a run, and which one can.

    Args:
        run: its folder.
        said: its ``run.json``.
        what: of it this version does not know.
    """
    return RunError(
        f"{run} is no run of this version: {what}. navloom {said.get('navloom') or '?'} made and"
        f" reads it, and this is {package_version('navloom')}."
    )


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything the outcome of a run depends on, and where its files are."""

    KIND: ClassVar[str] = ""
    """The kind of run that it asks for, where that is not a field."""
    PLACES: ClassVar[Sequence[str]] = ()
    """Fields that say where files are."""
    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts"})
    """Further keys of the request in ``run.json``: they follow from it, or from its files."""
    RANGES: ClassVar[Mapping[str, tuple[int, int]]] = {}
    """The least and the most that a number may be."""

    def __post_init__(self) -> None:
        for name, (least, most) in self.RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise UsageError(f"{name} is {value}: expected {least} to {most}")

    @property
    def kind(self) -> str:
        """The kind of run that it asks for (:mod:`navloom.evals.kinds`)."""
        return self.KIND

    @property
    def seed(self) -> int:
        """Of everything random in the run."""
        return 0

    @property
    def models(self) -> Sequence[str]:
        """The models that it may call; the one that does the work is the first."""
        return [str(self.model)]  # type: ignore[attr-defined]

    def record(self) -> dict[str, Any]:
        """As ``run.json`` keeps it; files are added by their content."""
        return {name: value for name, value in asdict(self).items() if name not in self.PLACES}

    def where(self) -> dict[str, str]:
        """Where the files are on this machine."""
        named = {name: getattr(self, name) for name in self.PLACES}
        return {name: str(value) for name, value in named.items() if value is not None}

    @classmethod
    def read(cls, run: Path | str) -> Self:
        """The request that made a run, from its ``run.json``.

        Raises:
            RunError: the folder is no run, none that this version made, or broken.
            UsageError: a field has a value that it cannot have.
        """
        said = read_run(run)
        asked, where = dict(said["request"]), dict(said.get("where") or {})
        known, kind = {each.name for each in fields(cls)}, cls.KIND or asked.get("kind")
        if kind != said.get("kind"):
            raise RunError(f"{run} is no '{kind}' run: it is a '{said.get('kind')}'")
        if strange := sorted(asked.keys() - known - cls.DERIVED):
            raise made_by_another(run, said, f"its request has '{strange[0]}'")
        given = {key: value for key, value in {**asked, **where}.items() if key in known}
        try:
            return cls(**cls.restored(given, where))
        except TypeError as error:
            raise RunError(f"{run}/run.json is broken: {error}. Use another folder.") from None

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """The fields as they were, from those of ``run.json``: JSON has lists for tuples."""
        del where
        return {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
