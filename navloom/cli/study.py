"""``navloom study``: questions about generators and navigators that one command answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import (
    ModelOption,
    SeedOption,
    SpecArgument,
    say,
)
from navloom.cli.navigation.eval import AGENT, LIMITS, SOURCE, TASK, print_study, request_of
from navloom.cli.options import JSON, OUT, takes
from navloom.cli.session import with_session

if TYPE_CHECKING:
    from navloom.evals.session import Session

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Answer a question about generators or navigators.")

StudyOption = Annotated[
    Path,
    typer.Option(
        "--out",
        envvar="NAVLOOM_OUT",
        help="The study's folder, which holds its runs. The same command on it goes on.",
    ),
]


@app.command()
@with_session(picks=())
def relays(
    spec: SpecArgument,
    out: StudyOption,
    n: Annotated[int, typer.Option("--n", min=1, help="Attempts a model.")] = 200,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="PROVIDER/NAME",
            help="A model; may be given several times. Without it: heuristic and random.",
        ),
    ] = None,
    seed: SeedOption = 0,
    *,
    session: Session,
) -> None:
    """How far are relays from the best there is? Gain and regret of several models."""
    from navloom.evals.navcraft.run import SynthRequest
    from navloom.evals.navcraft.studies import study_relays

    request = SynthRequest(kind="collab", spec=spec, n=n, seed=seed)
    models = model or ["builtin/heuristic", "builtin/random"]
    for table in study_relays(request, models, out, session):
        print(table.markdown())
    say(f"wrote {out / 'report.html'}")


@app.command()
@with_session(picks=())
def profiles(
    spec: SpecArgument,
    out: StudyOption,
    homes: Annotated[
        int, typer.Option("--homes", min=1, help="How many homes, the first of SPEC.")
    ] = 20,
    model: ModelOption = "builtin/heuristic",
    seed: SeedOption = 0,
    *,
    session: Session,
) -> None:
    """Do profiles make tasks more varied? The same attempts with none and with the five roles."""
    from navloom.evals.navcraft.run import SynthRequest
    from navloom.evals.navcraft.studies import study_profiles
    from navloom.scenes.uri import list_scenes

    request = SynthRequest(kind="single", spec=spec, n=1, model=model, seed=seed)
    homes = min(homes, len(list_scenes(spec)))
    for table in study_profiles(request, homes, out, session):
        print(f"{table.markdown()}\n")


@app.command()
@with_session(1, picks=())
def ablation(
    spec: SpecArgument,
    out: StudyOption,
    model: ModelOption,
    n: Annotated[int, typer.Option("--n", min=1, help="Attempts of an arm.")] = 15,
    n_full: Annotated[int, typer.Option("--n-full", min=1, help="Of the full setting.")] = 40,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="Only this arm; may be given several times. Without it: all."),
    ] = None,
    seed: SeedOption = 0,
    *,
    session: Session,
) -> None:
    """Which help does a small model need? One run an arm: names held, scene, adjacency, repairs.

    Made for a night: stop it at any moment, and the same command goes on.
    """
    from navloom.errors import UsageError, did_you_mean
    from navloom.evals.navcraft.ablation import ARMS, study_ablation
    from navloom.evals.navcraft.run import SynthRequest

    for name in arm or ():
        if name not in ARMS:
            raise UsageError(
                f"no arm '{name}': choose {', '.join(ARMS)}.{did_you_mean(name, ARMS)}"
            )
    request = SynthRequest(kind="collab", spec=spec, n=1, model=model, seed=seed)
    table = study_ablation(
        request,
        out,
        n=n,
        n_full=n_full,
        arms=arm or tuple(ARMS),
        session=session,
    )
    print(table.markdown())


@app.command(
    help="What is help worth to a navigator? Its failures once more: with an oracle assistant, with"
    " one to three failures as examples and with questions, beside oracles that know the path"
    " (VLN-MME 4.4).\n\nOne run an arm and one table. The same command on the same folder goes on."
)
@with_session(picks=("limit",))
@takes(TASK, OUT, *SOURCE, *AGENT, *LIMITS, JSON)
def oracle(context: typer.Context, session: Session, **given: Any) -> None:
    """``navloom study oracle``."""
    from navloom.evals.navigation.studies import study_oracle

    table = study_oracle(request_of(given["task"], context), given["out"], session)
    print_study(table, as_json=given["as_json"])
