"""Batch synthesis: N attempts at NavCraft tasks, spread evenly over scenes (CoNavBench 3.1).

``synthesise`` plans the samples of a run and takes them through the engine of
:mod:`navloom.evals.engine`. A scene in which no errand is possible is left out, said and counted
(:mod:`navloom.evals.navcraft.survey`); attempts go to the others in turn. The plan is derived from
the request alone, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from navloom.errors import RunError, UsageError
from navloom.evals.engine import run_batch
from navloom.evals.navcraft.survey import Survey, read_survey, survey, write_survey
from navloom.evals.request import made_again, read_fields
from navloom.evals.run_folder import RunFolder, read_run, read_samples
from navloom.evals.sample import Sample, make_id, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models.registry import model_of
from navloom.prompts.load import load_prompt
from navloom.prompts.navcraft.profiles import NO_PROFILE, Profile, load_profile, profile_names
from navloom.scenes.uri import scene_of

__all__ = ["Kind", "Plan", "SynthJob", "SynthRequest", "asynthesise", "plan", "synthesise"]

Kind = Literal["single", "collab"]
MOST_ATTEMPTS = 1_000_000
_COMPACT_ONLY = {
    "hold_names": True,
    "whole_scene": False,
    "show_adjacency": True,
    "recommend": False,
}
_HELP = ("constrain", "compact", "precise_repairs", *_COMPACT_ONLY)


@dataclass(frozen=True, kw_only=True)
class SynthRequest:
    """Everything the outcome of a synthesis depends on."""

    kind: Kind
    spec: str
    """Which scenes, as :func:`navloom.scenes.uri.list_scenes` takes them."""
    n: int
    """Attempts in all."""
    model: str = "builtin/heuristic"
    profiles: tuple[str, ...] = (NO_PROFILE,)
    """Names or files; attempts in a scene take them in turn."""
    tau: int = 2
    constrain: bool = True
    compact: bool = False
    """Ask for small choices, not whole answers; see :mod:`navloom.graphs.navcraft.choices`."""
    hold_names: bool = True
    whole_scene: bool = False
    show_adjacency: bool = True
    precise_repairs: bool = True
    recommend: bool = False
    strict_helper: bool = False
    seed: int = 0
    max_turns: int = 12
    max_repairs: int = 3
    homes: int | None = None
    """Only the first so many scenes of the spec."""
    source: str | None = None
    """A run of single tasks to make relays from, instead of crafting errands anew."""

    def __post_init__(self) -> None:
        for name, value, least in (
            ("n", self.n, 1),
            ("tau", self.tau, 1),
            ("max_turns", self.max_turns, 1),
            ("max_repairs", self.max_repairs, 0),
        ):
            if not least <= value <= MOST_ATTEMPTS:
                raise UsageError(f"{name} is {value}: expected {least} to {MOST_ATTEMPTS}")
        for name, usual in _COMPACT_ONLY.items():
            if not self.compact and getattr(self, name) != usual:
                raise UsageError(
                    f"{name}={not usual} goes with compact=True: whole answers have none"
                )
        if self.source is not None and self.kind != "collab":
            raise UsageError("--from goes with collab: single tasks are made from scenes")
        for profile in self.profiles:
            load_profile(profile)

    @classmethod
    def read(cls, run: Path | str) -> SynthRequest:
        """The request that made a run, from its ``run.json``.

        Raises:
            RunError: the folder is no run, or none that a synthesis of this version made.
        """
        beside = frozenset({"prompts", "errands"})
        given = read_fields(run, cls, kinds=("single", "collab"), command="synth", beside=beside)
        named = given.get("profiles") or [NO_PROFILE]
        given["profiles"] = tuple(p["file"] if isinstance(p, dict) else p for p in named)
        return made_again(run, cls, given)

    def record(self) -> dict[str, Any]:
        """The request as ``run.json`` keeps it: what it asks, and the prompts it will use."""
        names = ["navcraft_single"] + (["navcraft_collab"] if self.kind == "collab" else [])
        names = [f"{name}_choices" for name in names] if self.compact else names
        # A profile's file may change between two sessions; those of the package do not.
        own = {name for name in self.profiles if name not in (*profile_names(), NO_PROFILE)}
        given = {name: load_profile(name) for name in sorted(own)}
        return {
            **asdict(self),
            "profiles": [
                {"file": name, **profile.model_dump(by_alias=True)}
                if (profile := given.get(name))
                else name
                for name in self.profiles
            ],
            "prompts": [load_prompt(name).record for name in names],
        }


@dataclass(frozen=True)
class Plan:
    """What a run will do.

    Attributes:
        samples: every attempt, in order.
        scenes: the URI each scene is loaded by, by its portable name.
        errands: the errands that relays are made from, by sample id, where they were given.
    """

    samples: list[Sample]
    scenes: dict[str, str]
    errands: dict[str, dict[str, Any]] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """What ``run.json`` keeps of given errands: a source that grew is another request."""
        if not self.errands:
            return {}
        given = json.dumps(self.errands, sort_keys=True).encode()
        return {"errands": {"count": len(self.errands), "sha256": sha256(given).hexdigest()}}


@dataclass(frozen=True)
class SynthJob:
    """How :func:`run_batch` runs one attempt."""

    request: SynthRequest
    plan: Plan

    @property
    def model(self) -> str:
        """The model whose calls are counted."""
        return self.request.model

    def build(self, checkpointer: Any) -> Any:
        """The generator's graph."""
        module = navcraft_single if self.request.kind == "single" else navcraft_collab
        return module.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The seed and, of a relay, the errand where it was given."""
        if self.request.kind == "single":
            return {"seed": sample.seed}
        return {"seed": sample.seed, "phase_1": self.plan.errands.get(sample.id)}

    def context(self, sample: Sample, model: Any = None) -> navcraft_single.Context:
        """The generator's context; ``model`` stands in for the request's."""
        request = self.request
        common: dict[str, Any] = {
            "scene": scene_of(self.plan.scenes[sample.scene]),
            "model": model or model_of(request.model),
            "profile": sample.columns["profile"] and Profile.read(sample.columns["profile"], "run"),
            "tau": request.tau,
            **{name: getattr(request, name) for name in _HELP},
            "max_turns": request.max_turns,
            "max_repairs": request.max_repairs,
        }
        if request.kind == "single":
            return navcraft_single.Context(**common)
        return navcraft_collab.Context(**common, strict_helper=request.strict_helper)

    def record(self, _: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the attempt ended and what it made."""
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


async def asynthesise(
    request: SynthRequest,
    out: Path | str,
    session: Session | None = None,
) -> Summary:
    """Make a run, or go on with one that was stopped.

    Args:
        request: what to make.
        out: the run's folder.
        session: how to go through it; one of its own unless given.

    Raises:
        RunError: the folder cannot be used.
        SceneError: there are no scenes, or no errand is possible in any of them.
        UsageError: a sample is not in the run, or a run to lift has homes that the spec has not.
        ModelError: the model cannot be named or used.
    """
    session = session or Session()
    # Whatever is wrong with the request is said before a folder is made or claimed for it.
    session.check_models(request.model)
    path = Path(out)
    known = read_survey(path)
    found = known or survey(
        request.spec, tau=request.tau, homes=request.homes, note=session.display.note
    )
    made = plan(request, found)
    session.picked(made.samples)
    asked = {**request.record(), **made.record()}
    with RunFolder(out, kind=request.kind, request=asked, seed=request.seed) as folder:
        if known is None:
            write_survey(path, found)
        for line in found.lines():
            session.display.note(line)
        job = SynthJob(request, made)
        return await run_batch(folder, made.samples, job, session)


def synthesise(request: SynthRequest, out: Path | str, session: Session | None = None) -> Summary:
    """:func:`asynthesise` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(asynthesise(request, out, session))


def plan(request: SynthRequest, found: Survey) -> Plan:
    """Every attempt that a request means, over the homes that a survey found fit.

    Raises:
        RunError: the run to lift is none of single tasks, or has no valid one.
        UsageError: it has homes that the spec has not.
    """
    scenes = found.scenes
    if request.source is not None:
        return _from_run(request, scenes)
    names, samples = sorted(scenes), []
    for k in range(request.n):
        scene, attempt = names[k % len(names)], k // len(names)
        profile = load_profile(request.profiles[attempt % len(request.profiles)])
        samples.append(_sample(request, scene, attempt, profile))
    return Plan(samples, scenes)


def _sample(request: SynthRequest, scene: str, attempt: int, profile: Profile | None) -> Sample:
    name = make_id(scene, attempt)
    column = None if profile is None else profile.model_dump(by_alias=True)
    return Sample(name, sample_seed(request.seed, name), scene, attempt, {"profile": column})


def _from_run(request: SynthRequest, scenes: dict[str, str]) -> Plan:
    source = Path(str(request.source))
    if read_run(source).get("kind") != "single":
        raise RunError(f"{source} is not a run of single tasks: give --from what synth single made")
    rows = [row for row in read_samples(source) if row["status"] == "ok"]
    if not rows:
        raise RunError(f"{source} has no valid task to lift; see why: navloom report {source}")
    rows = sorted(rows, key=lambda row: (row["attempt"], row["scene"]))[: request.n]
    missing = sorted({row["scene"] for row in rows} - set(scenes))
    if missing:
        raise UsageError(f"{source} has tasks of {missing[0]}, which {request.spec} does not hold")
    samples = [
        Sample(
            row["id"],
            sample_seed(request.seed, row["id"]),
            row["scene"],
            row["attempt"],
            {"profile": row["profile"]},
        )
        for row in rows
    ]
    return Plan(samples, scenes, {row["id"]: row["result"]["phase_1"] for row in rows})
