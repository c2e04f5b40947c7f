"""``navloom synth``: generate a dataset of NavCraft tasks."""

from __future__ import annotations

from dataclasses import MISSING

from navloom.cli.capnav.synth import capnav
from navloom.cli.common import run_request
from navloom.cli.options import CommandApp, Out, RunMode, add_plugins, with_options
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.request import ATTEMPTS, COLLAB_ONLY, TAU, SynthRequest
from navloom.evals.session import Session

app = CommandApp("Make a dataset: NavCraft errands and relays, CapNav questions.")
app.command()(capnav)


@app.command()
@with_options(
    "source",
    *COLLAB_ONLY,
    "choices",
    usual={"spec": MISSING, "n": ATTEMPTS, "tau": TAU},
    kind="single",
)
def single(request: SynthRequest, out: Out, session: Session, how: RunMode) -> None:
    """Generate long-horizon tasks for one robot (NavCraft-S).

    The same command on the same folder goes on with a run that was stopped.
    """
    run_request(request, out, session, how)


@app.command()
@with_options(usual={"spec": None}, kind="collab")
def collab(request: SynthRequest, out: Out, session: Session, how: RunMode) -> None:
    """Generate relays of two robots from single-robot tasks (NavCraft-C).

    Each attempt crafts its own errand first, unless --from names a run of single tasks. The same
    command on the same folder goes on with a run that was stopped.
    """
    run_request(request, out, session, how)


@app.command()
@with_options()
def direct(request: DirectRequest, out: Out, session: Session, how: RunMode) -> None:
    """Generate task and relay in one answer, the baseline of the paper (CoNavBench A.13).

    By the keys and rules of its version 1 or 2. The same command on the same folder goes on with a
    run that was stopped; `navloom study direct` holds both against the two stages.
    """
    run_request(request, out, session, how)


add_plugins(app, "synth", "team")
