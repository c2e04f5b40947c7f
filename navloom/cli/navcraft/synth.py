"""``navloom synth``: make a dataset of NavCraft tasks."""

# ruff: noqa: ARG001  typer reads the options from the signature, `_go` from the context
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.capnav.synth import capnav
from navloom.cli.common import (
    TAU_HELP,
    CompactOption,
    ConstrainOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    OutOption,
    ProfileOption,
    SeedOption,
    SpecArgument,
    StrictHelperOption,
    TauOption,
    end_session,
    show_dry_run,
)
from navloom.cli.session import ModelRoleOption, model_of_roles, with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.session import Session

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Make a dataset: NavCraft errands and relays, CapNav questions."
)
app.command()(capnav)

_ATTEMPTS, _TAU = 20, 2
ROLES = ("generator",)
"""What models are used for here."""

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
@with_session()
def single(
    context: typer.Context,
    session: Session,
    spec: SpecArgument,
    out: OutOption,
    n: AttemptsOption = _ATTEMPTS,
    model: ModelOption = "builtin/heuristic",
    model_role: ModelRoleOption = None,
    profile: ProfileOption = None,
    tau: TauOption = _TAU,
    constrain: ConstrainOption = True,
    compact: CompactOption = False,
    seed: SeedOption = 0,
    max_turns: TurnsOption = 12,
    max_repairs: RepairsOption = 3,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Craft long errands for one robot (NavCraft-S).

    The same command on the same folder goes on with a run that was stopped.
    """
    _go({"kind": "single", "profiles": _profiles(profile)}, context.params, session)


@app.command()
@with_session()
def collab(
    context: typer.Context,
    session: Session,
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
    model_role: ModelRoleOption = None,
    profile: ProfileOption = None,
    tau: RelayTauOption = None,
    strict_helper: StrictHelperOption = False,
    constrain: ConstrainOption = True,
    compact: CompactOption = False,
    seed: SeedOption = 0,
    max_turns: TurnsOption = 12,
    max_repairs: RepairsOption = 3,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Lift errands to relays of two robots (NavCraft-C).

    Each attempt crafts its own errand first, unless --from names a run of single tasks. The same
    command on the same folder goes on with a run that was stopped.
    """
    asked: dict[str, Any] = {"kind": "collab", "profiles": _profiles(profile)}
    asked |= {"n": n or _ATTEMPTS, "tau": tau or _TAU}
    if source is not None:
        asked |= _settled_by(source, spec=spec, n=n, tau=tau, profile=profile)
    elif spec is None:
        raise UsageError(
            "say which homes: `navloom synth collab demo: --out RUN`, or give --from RUN"
        )
    _go(asked, context.params, session)


def _profiles(names: list[str] | None) -> tuple[str, ...]:
    from navloom.prompts.navcraft.profiles import NO_PROFILE, profile_names

    every = (*profile_names(), NO_PROFILE)
    return tuple(n for name in names or [NO_PROFILE] for n in (every if name == "all" else (name,)))


def _settled_by(
    source: Path, *, spec: str | None, n: int | None, tau: int | None, profile: list[str] | None
) -> dict[str, Any]:
    """What a run of single tasks settles: homes, how many, tau, and whom each task is for."""
    from navloom.evals.run_folder import read_run, read_samples

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


_REQUEST = (
    "spec",
    "n",
    "tau",
    "constrain",
    "compact",
    "strict_helper",
    "seed",
    "max_turns",
    "max_repairs",
)


def _go(asked: Mapping[str, Any], given: Mapping[str, Any], session: Session) -> None:
    """Make the run, or say what it would be.

    Args:
        asked: the parts of the request that are settled already.
        given: all of the command's parameters, by name.
        session: how to go through the run.
    """
    from navloom.evals.navcraft.run import SynthRequest, synthesise

    roles = model_of_roles(given["model"], given["model_role"], ROLES)
    typed = {name: given[name] for name in _REQUEST if name in given}
    request = SynthRequest(**{**typed, "model": roles["generator"], **asked})
    if given["dry_run"]:
        from navloom.evals.navcraft.dry import dry_run

        show_dry_run(dry_run(request, session), "attempts", "homes", as_json=given["as_json"])
        return
    summary = synthesise(request, given["out"], session)
    end_session(summary, given["out"], as_json=given["as_json"])
