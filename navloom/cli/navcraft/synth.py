"""``navloom synth``: make a dataset of NavCraft tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from navloom.cli import options
from navloom.cli.capnav.synth import capnav
from navloom.cli.common import carry_out
from navloom.cli.options import argument, option, takes
from navloom.cli.session import asked, model_of_roles, with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.session import Session

app = typer.Typer(
    no_args_is_help=True, help="Make a dataset: NavCraft errands and relays, CapNav questions."
)
app.command()(capnav)

_ATTEMPTS, _TAU = 20, 2
ROLES = ("generator",)
"""What models are used for here."""

PROFILE = option(
    "profile",
    list[str] | None,
    None,
    "Whom the tasks are for: the name of a role, none, all or a YAML file; may be given several"
    " times, samples take them in turn.",
)
TAU = option(
    "tau",
    int,
    _TAU,
    "Links between rooms that each leg of a task crosses at least; below 2 it is 2, as the paper"
    " asks.",
    min=1,
)
SOURCE = option(
    "source",
    Path | None,
    None,
    "Lift the valid tasks of this run; no new ones are crafted. It settles homes, profiles and"
    " tau.",
    flag="--from",
    metavar="RUN",
    envvar=None,
)
STRICT_HELPER = option(
    "strict_helper",
    bool,
    False,
    "The helper starts next to neither the target nor the transfer region either.",
)
_WHOM = (options.MODEL, options.MODEL_ROLE, PROFILE)
_HOW = (
    options.CONSTRAIN,
    options.COMPACT,
    options.SEED,
    options.MAX_TURNS,
    options.MAX_REPAIRS,
    options.DRY_RUN,
    options.JSON,
)


@app.command()
@with_session()
@takes(options.SPEC, options.OUT, options.N, *_WHOM, TAU, *_HOW)
def single(session: Session, **given: Any) -> None:
    """Craft long errands for one robot (NavCraft-S).

    The same command on the same folder goes on with a run that was stopped.
    """
    _go(given, session, kind="single", profiles=_profiles(given["profile"]))


@app.command()
@with_session()
@takes(
    options.OUT,
    argument(
        "spec", str | None, "[SPEC]", "Which homes, as for single; with --from those of RUN."
    ).but(default=None),
    SOURCE,
    options.N.but(
        kind=int | None,
        default=None,
        show_default=f"{_ATTEMPTS}; with --from, every valid task of RUN",
    ),
    *_WHOM,
    TAU.but(kind=int | None, default=None, show_default=f"{_TAU}; with --from, that of RUN"),
    STRICT_HELPER,
    *_HOW,
)
def collab(session: Session, **given: Any) -> None:
    """Lift errands to relays of two robots (NavCraft-C).

    Each attempt crafts its own errand first, unless --from names a run of single tasks. The same
    command on the same folder goes on with a run that was stopped.
    """
    settled: dict[str, Any] = {"kind": "collab", "profiles": _profiles(given["profile"])}
    settled |= {"n": given["n"] or _ATTEMPTS, "tau": given["tau"] or _TAU}
    if given["source"] is not None:
        settled |= _settled_by(given["source"], given)
    elif given["spec"] is None:
        raise UsageError(
            "say which homes: `navloom synth collab demo: --out RUN`, or give --from RUN"
        )
    _go(given, session, **settled)


def _profiles(names: list[str] | None) -> tuple[str, ...]:
    from navloom.prompts.navcraft.profiles import NO_PROFILE, profile_names

    every = (*profile_names(), NO_PROFILE)
    return tuple(n for name in names or [NO_PROFILE] for n in (every if name == "all" else (name,)))


def _settled_by(source: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What a run of single tasks settles: homes, how many, tau, and whom each task is for."""
    from navloom.evals.run_folder import read_run, read_samples

    lifted, tau = read_run(source)["request"], given["tau"]
    there = lifted.get("tau", _TAU)
    if tau not in (None, there):
        raise UsageError(f"the tasks of {source} have --tau {there}: leave --tau {tau} out")
    if given["profile"]:
        raise UsageError(f"the tasks of {source} have their profiles already: leave --profile out")
    valid = sum(row["status"] == "ok" for row in read_samples(source))
    return {
        "source": str(source),
        "spec": given["spec"] or str(lifted.get("spec")),
        "n": given["n"] or max(1, valid),
        "tau": there,
    }


def _go(given: dict[str, Any], session: Session, **settled: Any) -> None:
    """Make the run, or say what it would be.

    Args:
        given: all of the command's options, by name.
        session: how to go through the run.
        settled: the parts of the request that are not as typed.
    """
    from navloom.evals.navcraft.run import SynthRequest

    roles = model_of_roles(given["model"], given["model_role"], ROLES)
    request = asked(SynthRequest, given, model=roles["generator"], **settled)
    dry, as_json = given["dry_run"], given["as_json"]
    carry_out(request, given["out"], session, dry_run=dry, as_json=as_json)
