"""Base class and shared option types of the requests of runs.

Each subject has its request in its own ``request.py``. These modules are light, since help pages
import them: they import no model and no scene code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from navloom.errors import RunError
from navloom.evals.option import Opt, check_options

HEURISTIC = "builtin/heuristic"
MOST = 1_000_000
"""Upper bound of counts."""
UNSAID: Any = None
"""Default of a field that ``__post_init__`` sets."""

Spec = Annotated[
    str,
    Opt(
        "Which homes: home:SEED, home:0-49, demo:, demo:NAME, hm3d:DIR, mp3d:DIR, capnav:DIR, a"
        " scene.json or a folder of them. One of a DIR is hm3d:DIR/ID; without DIR, hm3d:ID and"
        " mp3d:SCAN look in $NAVLOOM_DATA; a home as one wishes is 'home:7?rooms=12&floors=2'.",
        metavar="SPEC",
        argument=True,
    ),
]
_MODEL = (
    "The model that thinks: builtin/heuristic needs no key; see `navloom models`. Options may"
    " follow: openai/gpt-4o-mini,temperature=0,max_tokens=500."
)
Model = Annotated[str, Opt(_MODEL, metavar="PROVIDER/NAME")]
Generator = Annotated[str, Opt(_MODEL, metavar="PROVIDER/NAME", role="generator")]
Navigator = Annotated[str, Opt(_MODEL, metavar="PROVIDER/NAME", role="navigator")]
Describer = Annotated[str, Opt(_MODEL, metavar="PROVIDER/NAME", role="describer")]
Judge = Annotated[str, Opt(_MODEL, metavar="PROVIDER/NAME", role="judge")]
Seed = Annotated[
    int, Opt("Seed of everything random. Each sample's own seed is a hash of this and its id.")
]
Constrain = Annotated[bool, Opt("List the home's names in the schema that the model is held to.")]
Compact = Annotated[
    bool,
    Opt(
        "For small models: one choice at a time, each from a list of what will do. Paths and"
        " sentences are filled in, and checked like any."
    ),
]
MaxTurns = Annotated[int, Opt("Model calls a task at most.", min=1, max=MOST)]
MaxReasks = Annotated[
    int,
    Opt("How often a reply that cannot be used is sent back with what is wrong.", min=0, max=100),
]


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """All inputs that the outcome of a run depends on, and the locations of its files.

    A field with an :class:`navloom.evals.option.Opt` is an option of the commands that take it.
    """

    KIND: ClassVar[str] = ""
    """The kind of run, where that is not a field."""
    PLACES: ClassVar[Sequence[str]] = ()
    """Fields that are locations of files."""
    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts"})
    """Further keys of the request in ``run.json``, derived from it or from its files."""

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def kind(self) -> str:
        """The kind of run that the request asks for (:mod:`navloom.evals.run_kinds`)."""
        return self.KIND

    @property
    def seed(self) -> int:
        """The seed of everything random in the run."""
        return 0

    @property
    def models(self) -> Sequence[str]:
        """The models that the run may call, the main model first."""
        return [str(self.model)]  # type: ignore[attr-defined]

    def record(self) -> dict[str, Any]:
        """Return the entry of ``run.json``, without locations; plans add hashes of the files."""
        return {name: value for name, value in asdict(self).items() if name not in self.PLACES}

    def where(self) -> dict[str, str]:
        """Return the locations of the files on this machine, by field."""
        named = {name: getattr(self, name) for name in self.PLACES}
        return {name: str(value) for name, value in named.items() if value is not None}

    @classmethod
    def read(cls, run: Path | str) -> Self:
        """Read the request of a run from its ``run.json``.

        A server address in the file is untrusted: nothing is sent there unless it is allowed
        (:mod:`navloom.models.model_spec`).

        Raises:
            RunError: the folder is no run, is from another version, or is broken.
            UsageError: a field has an invalid value.
        """
        from navloom.evals.run_folder import read_run, version_error
        from navloom.models.model_spec import distrust_address

        said = read_run(run)
        asked, where = dict(said["request"]), dict(said.get("where") or {})
        known = {each.name for each in fields(cls)}
        kind = cls.KIND or {**where, **asked}.get("kind")
        if kind is None:
            raise version_error(run, said, "its run.json does not say what was asked")
        if kind != said.get("kind"):
            raise RunError(f"{run} is no '{kind}' run: it is a '{said.get('kind')}'")
        if strange := sorted(asked.keys() - known - cls.DERIVED):
            raise version_error(run, said, f"its request has '{strange[0]}'")
        given = {key: value for key, value in {**asked, **where}.items() if key in known}
        for key, value in given.items():
            for each in value if isinstance(value, list) else [value]:
                distrust_address(each, f"{Path(run) / 'run.json'}: '{key}'")
        try:
            return cls(**cls.restored(given, where))
        except TypeError as error:
            raise RunError(f"{run}/run.json is broken: {error}. Use another folder.") from None

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """Return field values from those of ``run.json``: JSON lists become tuples."""
        del where
        return {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
