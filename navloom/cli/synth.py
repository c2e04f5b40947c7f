"""``navloom synth``: make a dataset of NavCraft tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from navloom.cli.common import (
    ConstrainOption,
    DisplayOption,
    JsonOption,
    LimitOption,
    MaxConnectionsOption,
    ModelOption,
    OutOption,
    ProfileOption,
    SampleIdOption,
    SeedOption,
    SpecArgument,
    StrictHelperOption,
    TauOption,
    end_session,
    say,
)
from navloom.errors import UsageError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Make a dataset of NavCraft tasks.")

AttemptsOption = Annotated[
    int,
    typer.Option(
        "--n", envvar="NAVLOOM_N", min=1, help="Attempts in all, spread evenly over homes."
    ),
]
TurnsOption = Annotated[
    int,
    typer.Option(
        "--max-turns", envvar="NAVLOOM_MAX_TURNS", min=1, help="Model calls a task at most."
    ),
]
RepairsOption = Annotated[
    int,
    typer.Option(
        "--max-repairs",
        envvar="NAVLOOM_MAX_REPAIRS",
        min=0,
        help="How often a wrong answer is sent back with what is wrong.",
    ),
]
RetryOption = Annotated[
    bool, typer.Option("--retry", help="Try the attempts that ended in error again.")
]
SourceOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="RUN", help="Lift the valid tasks of this run; no new ones are crafted."
    ),
]


@app.command()
def single(
    spec: SpecArgument,
    out: OutOption,
    n: AttemptsOption = 20,
    model: ModelOption = "builtin/heuristic",
    profile: ProfileOption = None,
    tau: TauOption = 2,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    sample_id: SampleIdOption = None,
    max_turns: TurnsOption = 12,
    max_repairs: RepairsOption = 3,
    max_connections: MaxConnectionsOption = 8,
    retry: RetryOption = False,
    display: DisplayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Craft long errands for one robot (NavCraft-S).

    The same command on the same folder goes on with a run that was stopped.
    """
    asked = {
        "kind": "single",
        "spec": spec,
        "n": n,
        "model": model,
        "profiles": _profiles(profile),
        "tau": tau,
        "constrain": constrain,
        "seed": seed,
        "max_turns": max_turns,
        "max_repairs": max_repairs,
    }
    _go(asked, out, max_connections, retry, display, limit, sample_id, as_json)


@app.command()
def collab(
    out: OutOption,
    spec: Annotated[
        str | None,
        typer.Argument(metavar="[SPEC]", help="Which homes, as for single; known with --from."),
    ] = None,
    source: SourceOption = None,
    n: AttemptsOption = 20,
    model: ModelOption = "builtin/heuristic",
    profile: ProfileOption = None,
    tau: TauOption = 2,
    strict_helper: StrictHelperOption = False,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    sample_id: SampleIdOption = None,
    max_turns: TurnsOption = 12,
    max_repairs: RepairsOption = 3,
    max_connections: MaxConnectionsOption = 8,
    retry: RetryOption = False,
    display: DisplayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lift errands to relays of two robots (NavCraft-C).

    Each attempt crafts its own errand first, unless --from names a run of single tasks. The same
    command on the same folder goes on with a run that was stopped.
    """
    asked = {
        "kind": "collab",
        "spec": spec,
        "n": n,
        "model": model,
        "profiles": _profiles(profile),
        "tau": tau,
        "strict_helper": strict_helper,
        "constrain": constrain,
        "seed": seed,
        "max_turns": max_turns,
        "max_repairs": max_repairs,
    }
    if source is not None:
        asked |= _settled_by(source)
    elif spec is None:
        raise UsageError(
            "say which homes: `navloom synth collab demo: --out RUN`, or give --from RUN"
        )
    _go(asked, out, max_connections, retry, display, limit, sample_id, as_json)


def _profiles(names: list[str] | None) -> tuple[str, ...]:
    from navloom.prompts.profiles import NO_PROFILE, profile_names

    every = (*profile_names(), NO_PROFILE)
    return tuple(n for name in names or [NO_PROFILE] for n in (every if name == "all" else (name,)))


def _settled_by(source: Path) -> dict[str, Any]:
    """What a run of single tasks settles: its homes and tau."""
    from navloom.evals.run import read_run

    asked = read_run(source)["request"]
    return {"source": str(source), "spec": asked.get("spec"), "tau": asked.get("tau", 2)}


def _go(
    asked: dict[str, Any],
    out: Path,
    max_connections: int,
    retry: bool,
    display: str | None,
    limit: int | None,
    sample_ids: list[str] | None,
    as_json: bool,
) -> None:
    from navloom.evals.progress import make_display
    from navloom.evals.synth import SynthRequest, synthesise

    summary = synthesise(
        SynthRequest(**asked),
        out,
        max_connections=max_connections,
        display=make_display(display),
        retry=retry,
        limit=limit,
        sample_ids=sample_ids,
    )
    if not summary.left:
        say(f"  next: navloom report {out}   navloom export {out} --out tasks.jsonl")
    end_session(summary, out, as_json=as_json)
