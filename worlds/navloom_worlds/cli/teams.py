"""Commands ``navloom synth team`` and ``navloom study teams``."""

from __future__ import annotations

from typing import Annotated

from navloom.cli.common import print_json, run_request, write_page
from navloom.cli.options import Json, Out, RunMode, Study, with_options
from navloom.evals.option import Opt
from navloom.evals.request import MOST, Seed, Spec
from navloom.evals.session import Session
from navloom.models.redaction import print_err, print_out
from navloom_worlds.teams.team_request import TeamRequest


@with_options()
def team(request: TeamRequest, out: Out, session: Session, how: RunMode) -> None:
    """Generate plans for a team: who carries what, over which handoffs, for several tasks.

    Starts and errands are drawn by the seed; that no plan does them is found before anyone is
    asked. The same command on the same folder goes on with a run that was stopped.
    """
    run_request(request, out, session, how)


@with_options()
def teams(
    spec: Spec,
    out: Study,
    n_each: Annotated[int, Opt("Attempts a home.", min=1, max=100)] = 5,
    homes: Annotated[
        int | None, Opt("How many homes, the first of SPEC.", min=1, max=MOST, shown="all")
    ] = None,
    robots: Annotated[int, Opt("Robots of the largest team.", min=1, max=6)] = 4,
    errands: Annotated[int, Opt("Errands where there are several.", min=2, max=4)] = 2,
    bodies: Annotated[
        str, Opt("The robots' bodies in turn, where bodies count.", metavar="NAME,...")
    ] = "FETCH,SPOT",
    cap: Annotated[
        float,
        Opt(
            "Where metres are capped, the most of one, as a share of robot_1's alone.",
            min=0.01,
            max=10,
        ),
    ] = 0.75,
    seconds: Annotated[
        float, Opt("How long three errands or more are searched, each time.", min=0.1, max=3600)
    ] = 10.0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure the gain of more robots: best plans of one to four, equal, by body or capped.

    Starts and errands are drawn in each home; every plan is the best there is, or the table says
    how many are proven. No model is asked. The same command on the same folder goes on.
    """
    from navloom.evals.progress import make_display
    from navloom_worlds.teams.team_study import TeamStudy, study_teams

    asked = TeamStudy(
        spec=spec,
        n=n_each,
        homes=homes,
        robots=robots,
        errands=errands,
        bodies=tuple(name.strip() for name in bodies.split(",")),
        cap=cap,
        seconds=seconds,
        seed=seed,
    )
    tables = study_teams(asked, out, make_display())
    if as_json:
        print_json(tables[0].record)
    else:
        for table in tables:
            print_out(f"{table.markdown()}\n")
    print_err(f"wrote {write_page([out], out)}")
