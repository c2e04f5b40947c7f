"""``navloom study``: questions about generators and navigators that one command answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from navloom.cli import options
from navloom.cli.common import say
from navloom.cli.navigation.eval import AGENT, LIMITS, SOURCE, TASK, print_study, request_of
from navloom.cli.options import JSON, OUT, option, takes
from navloom.cli.session import with_session

if TYPE_CHECKING:
    from navloom.evals.session import Session

app = typer.Typer(no_args_is_help=True, help="Answer a question about generators or navigators.")

STUDY = OUT.but("The study's folder, which holds its runs. The same command on it goes on.")


@app.command()
@with_session(picks=())
@takes(
    options.SPEC,
    STUDY,
    option("n", int, 200, "Attempts a model.", min=1, envvar=None),
    option(
        "model",
        list[str] | None,
        None,
        "A model; may be given several times. Without it: heuristic and random.",
        metavar="PROVIDER/NAME",
        envvar=None,
    ),
    options.SEED,
)
def relays(
    spec: str, out: Path, n: int, model: list[str] | None, seed: int, session: Session
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
@takes(
    options.SPEC,
    STUDY,
    option("homes", int, 20, "How many homes, the first of SPEC.", min=1, envvar=None),
    options.MODEL,
    options.SEED,
)
def profiles(spec: str, out: Path, homes: int, model: str, seed: int, session: Session) -> None:
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
@takes(
    options.SPEC,
    STUDY,
    options.MODEL.but(default=...),
    option("n", int, 15, "Attempts of an arm.", min=1, envvar=None),
    option("n_full", int, 40, "Of the full setting.", min=1, envvar=None),
    option(
        "arm",
        list[str] | None,
        None,
        "Only this arm; may be given several times. Without it: all.",
        envvar=None,
    ),
    options.SEED,
)
def ablation(session: Session, arm: list[str] | None, **given: Any) -> None:
    """Which help does a small model need? One run an arm: names held, scene, adjacency, repairs.

    Made for a night: stop it at any moment, and the same command goes on.
    """
    from navloom.errors import UsageError, did_you_mean
    from navloom.evals.navcraft.run import SynthRequest
    from navloom.evals.navcraft.studies import ARMS, study_ablation

    for name in arm or ():
        if name not in ARMS:
            raise UsageError(
                f"no arm '{name}': choose {', '.join(ARMS)}.{did_you_mean(name, ARMS)}"
            )
    told = {name: given[name] for name in ("spec", "model", "seed")}
    table = study_ablation(
        SynthRequest(kind="collab", n=1, **told),
        given["out"],
        n=given["n"],
        n_full=given["n_full"],
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
