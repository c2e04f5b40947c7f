"""``navloom synth``: make a dataset of NavCraft tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from navloom.cli.common import (
    TAU_HELP,
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
)
from navloom.errors import UsageError

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Make a dataset of NavCraft tasks.")

_ATTEMPTS, _TAU = 20, 2

_N_HELP = "Attempts in all, spread evenly over homes."
AttemptsOption = Annotated[int, typer.Option("--n", envvar="NAVLOOM_N", min=1, help=_N_HELP)]
RelayAttemptsOption = Annotated[
    int | None,
    typer.Option(
        "--n",
        envvar="NAVLOOM_N",
        min=1,
        show_default=f"{_ATTEMPTS}; with --from, every valid task of RUN",
        help=_N_HELP,
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
RelayTauOption = Annotated[
    int | None,
    typer.Option(
        "--tau",
        envvar="NAVLOOM_TAU",
        min=1,
        show_default=f"{_TAU}; with --from, that of RUN",
        help=TAU_HELP,
    ),
]
RetryOption = Annotated[
    bool, typer.Option("--retry", help="Try the attempts that ended in error again.")
]
SourceOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="RUN",
        help="Lift the valid tasks of this run; no new ones are crafted. It settles homes, profiles"
        " and tau.",
    ),
]


@app.command()
def single(
    spec: SpecArgument,
    out: OutOption,
    n: AttemptsOption = _ATTEMPTS,
    model: ModelOption = "builtin/heuristic",
    profile: ProfileOption = None,
    tau: TauOption = _TAU,
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
        typer.Argument(
            metavar="[SPEC]", help="Which homes, as for single; with --from those of RUN."
        ),
    ] = None,
    source: SourceOption = None,
    n: RelayAttemptsOption = None,
    model: ModelOption = "builtin/heuristic",
    profile: ProfileOption = None,
    tau: RelayTauOption = None,
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
        "n": n or _ATTEMPTS,
        "model": model,
        "profiles": _profiles(profile),
        "tau": tau or _TAU,
        "strict_helper": strict_helper,
        "constrain": constrain,
        "seed": seed,
        "max_turns": max_turns,
        "max_repairs": max_repairs,
    }
    if source is not None:
        asked |= _settled_by(source, spec=spec, n=n, tau=tau, profile=profile)
    elif spec is None:
        raise UsageError(
            "say which homes: `navloom synth collab demo: --out RUN`, or give --from RUN"
        )
    _go(asked, out, max_connections, retry, display, limit, sample_id, as_json)


def _profiles(names: list[str] | None) -> tuple[str, ...]:
    from navloom.prompts.profiles import NO_PROFILE, profile_names

    every = (*profile_names(), NO_PROFILE)
    return tuple(n for name in names or [NO_PROFILE] for n in (every if name == "all" else (name,)))


def _settled_by(
    source: Path, *, spec: str | None, n: int | None, tau: int | None, profile: list[str] | None
) -> dict[str, Any]:
    """What a run of single tasks settles: homes, how many, tau, and whom each task is for."""
    from navloom.evals.run import read_run, read_samples

    asked = read_run(source)["request"]
    there = asked.get("tau", _TAU)
    if tau not in (None, there):
        raise UsageError(f"the tasks of {source} have --tau {there}: leave --tau {tau} out")
    if profile:
        raise UsageError(f"the tasks of {source} have their profiles already: leave --profile out")
    valid = sum(row["status"] == "ok" for row in read_samples(source))
    return {
        "source": str(source),
        "spec": spec or str(asked.get("spec")),
        "n": n or max(1, valid),
        "tau": there,
    }


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
    end_session(summary, out, as_json=as_json)
