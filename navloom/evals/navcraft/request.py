"""Request of a NavCraft synthesis run, and the survey of the scenes that it can use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from navloom.errors import RunError, UsageError
from navloom.evals import request
from navloom.evals.option import Opt
from navloom.plugins import load_plugin

ATTEMPTS, TAU = 20, 2
"""Default number of attempts, and of links between rooms."""
FIRST = "builtin/first"
"""Control policy that always takes the first entry of a list."""
DRIVING = "Driven in a simulator"
"""Name of an option group in the help."""
_NO_PROFILE = "none"
VERIFYING = ("verify_sim", "robot_1", "robot_2", "drop_undriven")
"""Fields that concern driving relays."""
COLLAB_ONLY = ("strict_helper", "types", "faster", "min_gain", *VERIFYING)
"""Fields that concern relays only."""
COMPACT_ONLY = {
    "hold_names": True,
    "whole_scene": False,
    "show_adjacency": True,
    "choices": "ranked",
    "recommend": False,
}
"""Fields that apply to ``compact`` only, with their default values."""


@dataclass(frozen=True, kw_only=True)
class SynthRequest(request.RunRequest):
    """All settings that the outcome of a synthesis depends on."""

    DERIVED: ClassVar[frozenset[str]] = frozenset({"prompts", "errands", "bodies"})

    kind: Literal["single", "collab"] = "single"
    spec: request.Spec = ""
    source: Annotated[
        str | None,
        Opt(
            "Lift the valid tasks of this run to relays. No new ones are crafted; it settles homes,"
            " profiles and tau.",
            metavar="RUN",
            flag="--from",
            kind=Path,
        ),
    ] = None
    """A run of single tasks: the option ``--from``, which is a Python keyword."""
    n: Annotated[
        int,
        Opt(
            "Attempts in all, spread evenly over homes.",
            min=1,
            max=request.MOST,
            shown=f"{ATTEMPTS}, or every task of --from",
        ),
    ] = request.UNSAID
    model: request.Generator = request.HEURISTIC
    profile: Annotated[
        tuple[str, ...],
        Opt(
            "Whom the tasks are for: the name of a role, none, all or a YAML file. May be given"
            " several times, samples take them in turn.",
            metavar="NAME",
            shown=_NO_PROFILE,
        ),
    ] = ()
    tau: Annotated[
        int,
        Opt(
            "Links between rooms that each leg of a task crosses at least. Below 2 it is 2, as the"
            " paper asks.",
            min=1,
            max=request.MOST,
            shown=f"{TAU}, or that of --from",
        ),
    ] = request.UNSAID
    strict_helper: Annotated[
        bool, Opt("The helper starts next to neither the target nor the transfer region either.")
    ] = False
    types: Annotated[
        Literal["balanced", "any", "a1", "a2"],
        Opt(
            "Types of relays that are asked for: both as often, whichever, or one. Where no relay"
            " of an errand is of the type whose turn it is, the other is asked for."
        ),
    ] = "balanced"
    faster: Annotated[
        bool, Opt("Only relays that are done before robot_1 alone would be: Type-A1 alone can be.")
    ] = False
    min_gain: Annotated[
        float, Opt("Only relays that spare robot_1 so much of its way, 1 - alpha.", min=0, max=1)
    ] = 0.0
    verify_sim: Annotated[
        bool,
        Opt(
            "Drive every accepted relay: two bodies in one home, in each other's way. The record"
            " keeps metres planned and driven, contacts, and which leg arrived.",
            panel=DRIVING,
        ),
    ] = False
    robot_1: Annotated[
        str, Opt("With --verify-sim, robot_1's body: a name, or FILE.json#NAME.", metavar="NAME")
    ] = "FETCH"
    robot_2: Annotated[str, Opt("And robot_2's.", metavar="NAME")] = "SPOT"
    drop_undriven: Annotated[
        bool, Opt("With --verify-sim, a relay that could not be driven counts as failed.")
    ] = False
    constrain: request.Constrain = True
    tools: Annotated[
        Literal["check", "none", "library"],
        Opt(
            "Tools to check whole answers with, or none. The same rules hold either way. With"
            " the library, for relays, the model may also ask what is best, who gets where and"
            " when, who waits, and who is in whose way."
        ),
    ] = "check"
    compact: request.Compact = False
    """Ask for small choices, not whole answers; see :mod:`navloom.graphs.navcraft.choices`."""
    choices: Annotated[
        Literal["ranked", "blind"],
        Opt(
            "With --compact: handoffs as the tool ranks them, or a blind list. Ranked, a model"
            " chooses by number from robot_1's metres alone, the shortest first; a blind list names"
            " some that will do in the order of the seed."
        ),
    ] = "ranked"
    hold_names: bool = True
    whole_scene: bool = False
    show_adjacency: bool = True
    precise_repairs: bool = True
    recommend: bool = False
    seed: request.Seed = 0
    max_turns: request.MaxTurns = 12
    max_reasks: request.MaxReasks = 3
    homes: int | None = None
    """Number of scenes to use, the first of the spec. None: all."""

    def __post_init__(self) -> None:
        from navloom.prompts.navcraft.profiles import load_profile, user_profile_names

        every = (*user_profile_names(), _NO_PROFILE)
        profiles = [n for name in self.profile for n in (every if name == "all" else (name,))]
        told = {"profile": tuple(profiles) or (_NO_PROFILE,), **self._settled()}
        for name, value in told.items():
            object.__setattr__(self, name, value)
        super().__post_init__()
        for name, usual in COMPACT_ONLY.items():
            if not self.compact and (said := getattr(self, name)) != usual:
                raise UsageError(
                    f"{name}={said!r} goes with compact=True (--compact): whole answers have none"
                )
        if self.compact and self.tools == "none":
            raise UsageError("--tools none goes without --compact, which offers no tools anyway")
        if self.tools == "library" and (self.compact or self.kind != "collab"):
            raise UsageError(
                "--tools library goes with collab and without --compact, which offers no tools"
            )
        if self.tools == "library":
            load_plugin("navloom.tools", "library", "--tools library", UsageError)
        if self.faster and self.types == "a2":
            raise UsageError(
                "--faster leaves no relay of --types a2: the object is carried no shorter way over"
                " a handoff, so none of Type-A2 is done before robot_1 alone would be"
            )
        if self.model == FIRST and not self.compact:
            raise UsageError(f"{FIRST} takes the first of a list: give --compact, which has lists")
        for profile in self.profile:
            load_profile(profile)
        self._check_bodies()

    def _check_bodies(self) -> None:
        if not self.verify_sim:
            if self.drop_undriven:
                raise UsageError("--drop-undriven goes with --verify-sim, which drives relays")
            return
        from navloom.scenes.bodies import resolve_body

        for name in (self.robot_1, self.robot_2):
            resolve_body(name)

    def _settled(self) -> dict[str, Any]:
        """Return the fields left unset: their defaults, or the values of the source run."""
        if self.source is None:
            if not self.spec:
                raise UsageError(
                    f"say which homes: `navloom synth {self.kind} demo: --out RUN`"
                    + (", or give --from RUN" if self.kind == "collab" else "")
                )
            tau = TAU if self.tau is None else self.tau
            return {"n": ATTEMPTS if self.n is None else self.n, "tau": tau}
        if self.kind != "collab":
            raise UsageError("--from goes with collab: single tasks are made from scenes")
        if self.profile not in ((), (_NO_PROFILE,)):
            raise UsageError(
                f"the tasks of {self.source} have their profiles already: leave --profile out"
            )
        from navloom.evals.run_folder import read_samples
        from navloom.evals.run_kinds import read_run_of_kind

        lifted = read_run_of_kind(self.source, "single")["request"]
        there = lifted.get("tau", TAU)
        if self.tau not in (None, there):
            raise UsageError(
                f"the tasks of {self.source} have --tau {there}: leave --tau {self.tau} out"
            )
        valid = sum(row["status"] == "ok" for row in read_samples(self.source))
        if not valid:
            raise UsageError(
                f"{self.source} has no valid task to lift; see why: navloom report {self.source}"
            )
        return {
            "spec": self.spec or str(lifted.get("spec")),
            "n": valid if self.n is None else self.n,
            "tau": there,
        }

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """Return the original fields. A profile recorded in full was given as a file."""
        named = given.get("profile") or [_NO_PROFILE]
        files = [p["file"] if isinstance(p, dict) else p for p in named]
        return super().restored({**given, "profile": files}, where)

    def record(self) -> dict[str, Any]:
        """Return the request for ``run.json``: its settings and the prompts of the run."""
        from navloom.prompts.navcraft.profiles import load_profile, user_profile_names
        from navloom.prompts.prompt_loader import load_prompt
        from navloom.scenes.bodies import resolve_body

        names = ["navcraft_single"] + (["navcraft_collab"] if self.kind == "collab" else [])
        ending = "_choices" if self.compact else "_untooled" if self.tools == "none" else ""
        names = [f"{name}{ending}" for name in names]
        names += ["navcraft_collab_library"] if self.tools == "library" else []
        # A profile file may change between two sessions. Packaged profiles do not.
        own = {name for name in self.profile if name not in (*user_profile_names(), _NO_PROFILE)}
        given = {name: load_profile(name) for name in sorted(own)}
        asked = asdict(self)
        if self.verify_sim:
            bodies = {name: resolve_body(getattr(self, name)) for name in ("robot_1", "robot_2")}
            asked["bodies"] = {k: v.model_dump(exclude={"description"}) for k, v in bodies.items()}
        else:
            # Keeps the record of runs equal that were made before relays could be driven.
            asked = {name: value for name, value in asked.items() if name not in VERIFYING}
        if self.tools == "check":
            del asked["tools"]  # keeps records equal from before tools could be left out
        return {
            **asked,
            "profile": [
                {"file": name, **profile.model_dump(by_alias=True)}
                if (profile := given.get(name))
                else name
                for name in self.profile
            ],
            "prompts": [load_prompt(name).record for name in names],
        }


SURVEY = "scenes.json"
BROKEN = "broken"
_MOST_NAMED = 3
_MOST_BROKEN = 10


@dataclass(frozen=True)
class SceneSurvey:
    """Usable and skipped scenes of a spec.

    Attributes:
        scenes: portable name of each usable scene -> URI to load it by.
        skipped: name of each other scene -> reason for leaving it out.
    """

    scenes: dict[str, str]
    skipped: dict[str, str] = field(default_factory=dict)

    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Return the number of skipped scenes by reason, most frequent first."""
        counted = Counter(_kind(why) for why in self.skipped.values())
        return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))

    def lines(self) -> list[str]:
        """Return the notes for a user: one line for each reason and each broken scene."""
        known = len(self.scenes) + len(self.skipped)
        said = []
        for kind, count in self.reasons():
            names = [name for name, why in self.skipped.items() if _kind(why) == kind]
            more = ", ..." if count > _MOST_NAMED else ""
            named = f"{', '.join(names[:_MOST_NAMED])}{more}"
            said.append(f"skipped {count} of {known} scenes: {kind} ({named})")
        broken = [why for why in self.skipped.values() if _kind(why) == BROKEN]
        said += [f"  {why}" for why in broken[:_MOST_BROKEN]]
        if len(broken) > _MOST_BROKEN:
            said.append(
                f"  and {len(broken) - _MOST_BROKEN} more, see {SURVEY} in the run's folder"
            )
        return said

    def data(self) -> bytes:
        """Return the content of the run folder's ``SURVEY`` file."""
        return (json.dumps(asdict(self), indent=1) + "\n").encode()


def _kind(why: str) -> str:
    """Return the reason to count a scene under. All broken files count as one reason."""
    return BROKEN if why.startswith(f"{BROKEN}: ") else why


def read_survey(folder: Path) -> SceneSurvey | None:
    """Read the survey in a run's folder. None if there is no survey.

    Raises:
        RunError: the survey file is broken.
    """
    file = folder / SURVEY
    try:
        known = json.loads(file.read_bytes())
        found = SceneSurvey(dict(known["scenes"]), dict(known["skipped"]))
        named = [*found.scenes.values(), *found.skipped.values()]
        if not (found.scenes and all(isinstance(text, str) for text in named)):
            raise TypeError
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RunError(f"{file} is broken: delete it, and it is made anew") from None
    return found
