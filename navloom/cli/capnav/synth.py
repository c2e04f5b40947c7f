"""``navloom synth capnav``: make CapNav questions, with what is true of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from navloom.cli.common import (
    ConstrainOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    OutOrDefaultOption,
    SeedOption,
    SpecArgument,
    end_session,
    print_json,
    print_table,
    run_folder,
    say,
    show_dry_run,
)
from navloom.cli.session import ModelRoleOption, model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.capnav.design_run import CapnavSynthSummary
    from navloom.evals.session import Session

__all__ = ["again_capnav", "capnav", "end_capnav", "report_capnav"]

ROLES = ("generator",)
"""What models are used for here."""
_QUESTIONS = 5

CountOption = Annotated[
    int,
    typer.Option(
        "--n",
        envvar="NAVLOOM_N",
        min=1,
        help="Accepted questions in all, shared out over the scenes evenly. What is missing after"
        " all rounds is said.",
    ),
]
VideoOption = Annotated[
    Path | None,
    typer.Option(
        "--video",
        envvar="NAVLOOM_VIDEO",
        metavar="DIR",
        help="A folder of ID.mp4: where a scene has a video and the model takes images, frames of"
        " it are shown.",
    ),
]
FramesOption = Annotated[
    int,
    typer.Option(
        "--frames",
        envvar="NAVLOOM_FRAMES",
        min=1,
        max=512,
        help="Frames of a video, evenly spaced.",
    ),
]
LeastOption = Annotated[
    int | None,
    typer.Option(
        "--min-questions",
        envvar="NAVLOOM_MIN_QUESTIONS",
        min=1,
        max=50,
        show_default=f"{_QUESTIONS}; 1 with --compact",
        help="Questions that one conversation is asked for; a model may give more.",
    ),
]
BalanceOption = Annotated[
    bool,
    typer.Option(
        "--balance",
        envvar="NAVLOOM_BALANCE",
        help="Ask for routes whose truth is rare so far: bodies that can and cannot, lengths, kinds"
        " of barrier.",
    ),
]
CompactOption = Annotated[
    bool,
    typer.Option(
        "--compact",
        envvar="NAVLOOM_COMPACT",
        help="For small models: a short prompt without tools, one route at a time; the sentence is"
        " filled in, and checked like any.",
    ),
]
TurnsOption = Annotated[
    int,
    typer.Option(
        "--max-turns", envvar="NAVLOOM_MAX_TURNS", min=1, help="Model calls a conversation at most."
    ),
]
RepairsOption = Annotated[
    int,
    typer.Option(
        "--max-repairs",
        envvar="NAVLOOM_MAX_REPAIRS",
        min=0,
        help="How often others are asked for in place of wrong questions.",
    ),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--max-rounds",
        envvar="NAVLOOM_MAX_ROUNDS",
        min=1,
        max=100,
        help="Rounds of asking: after the first, only for what is missing yet.",
    ),
]
QaOption = Annotated[
    Path | None,
    typer.Option(
        "--qa",
        envvar="NAVLOOM_QA",
        metavar="DIR",
        show_default="OUT/qa",
        help="Where the benchmark's files ID_QA.json go.",
    ),
]


@with_session()
def capnav(
    spec: SpecArgument,
    session: Session,
    out: OutOrDefaultOption = None,
    n: CountOption = 20,
    model: ModelOption = "builtin/heuristic",
    model_role: ModelRoleOption = None,
    video: VideoOption = None,
    frames: FramesOption = 16,
    min_questions: LeastOption = None,
    balance: BalanceOption = False,
    compact: CompactOption = False,
    constrain: ConstrainOption = True,
    seed: SeedOption = 0,
    max_turns: TurnsOption = 12,
    max_repairs: RepairsOption = 3,
    max_rounds: RoundsOption = 3,
    qa: QaOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write questions for CapNav: can a body get from here to there?

    A model designs them, each is checked against the scene, and what is true of each for every body
    is kept beside it. In the run's folder: qa/ID_QA.json in the benchmark's form, truth/ and
    balance.json. The same command on the same folder goes on with a run that was stopped.
    """
    from navloom.evals.capnav.design_request import CapnavSynthRequest

    request = CapnavSynthRequest(
        spec=spec,
        n=n,
        model=model_of_roles(model, model_role, ROLES)["generator"],
        min_questions=min_questions or (1 if compact else _QUESTIONS),
        balance=balance,
        video=None if video is None else str(video),
        frames=frames,
        compact=compact,
        constrain=constrain,
        seed=seed,
        max_turns=max_turns,
        max_repairs=max_repairs,
        max_rounds=max_rounds,
    )
    if dry_run:
        from navloom.evals.capnav.design_dry import dry_run as reckon

        dry = reckon(request, session)
        show_dry_run(dry, "conversations", "scenes", most=1, as_json=as_json)
        return
    from navloom.evals.capnav.design_run import synthesise

    folder = run_folder(out, "capnav", [request.record(), request.where()])
    summary = synthesise(request, folder, session, qa=qa)
    end_capnav(summary, folder, as_json=as_json)


def end_capnav(summary: CapnavSynthSummary, out: Path, *, as_json: bool = False) -> None:
    """Print the questions' table, say what is missing, and leave with the run's exit code."""
    said = summary.questions
    if not as_json:
        _tables(said)
    kept, asked = said["accepted"], said["asked"]
    say(f"{summary.qa}: {kept} of {asked} questions, rounds of asking: {summary.rounds}")
    details = said["details"]
    say(
        f"  details: {details['verified']} verified, {details['unverifiable']} unverifiable;"
        f" {said['duplicates_dropped']} repeated questions dropped, {said['spare']} to spare"
    )
    if broken := said["rules_broken"]:
        listed = ", ".join(f"{code} {count}" for code, count in broken.items())
        say(f"  sent back for: {listed}")
    if said["short"]:
        short = said["short_by_scene"]
        named = ", ".join(f"{name} {count}" for name, count in list(short.items())[:5])
        more = f" and {len(short) - 5} more scenes" if len(short) > 5 else ""
        say(f"  {said['short']} are missing: {named}{more}")
    end_session(summary, out, as_json=as_json, exports=False)


def again_capnav(run: Path, session: Session, *, as_json: bool = False) -> None:
    """Go on with a run, trying again what ended in an error; leaves with its exit code."""
    from navloom.evals.capnav.design_request import CapnavSynthRequest
    from navloom.evals.capnav.design_run import synthesise

    summary = synthesise(CapnavSynthRequest.read(run), run, session)
    end_capnav(summary, run, as_json=as_json)


def report_capnav(runs: list[Path], *, as_json: bool = False) -> None:
    """Print what the questions of runs add up to, a set of tables a run."""
    from navloom.evals.capnav.collect import read_balance

    said = {str(run): read_balance(run) for run in runs}
    if as_json:
        print_json({"runs": said})
        return
    for run, record in said.items():
        print(f"{run}: {record['accepted']} of {record['asked']} questions")
        _tables(record)


def _tables(said: dict[str, Any]) -> None:
    from rich.table import Table

    balance = said["balance"]
    bodies = Table("body", "feasible", "infeasible", "unknown", "feasible of the known")
    for body, counted in balance["bodies"].items():
        yes, no = counted["feasible"], counted["infeasible"]
        share = f"{yes / (yes + no):.0%}" if yes + no else "-"
        bodies.add_row(body, str(yes), str(no), str(counted["unknown"]), share)
    print_table(bodies)
    lengths = Table("passages of the shortest route", *balance["lengths"])
    lengths.add_row("questions", *map(str, balance["lengths"].values()))
    print_table(lengths)
    if balance["kinds"]:
        kinds = Table("kind of barrier", "questions and bodies")
        for kind, count in balance["kinds"].items():
            kinds.add_row(kind, str(count))
        print_table(kinds)
    if balance["imbalance"] is not None:
        say(f"imbalance {balance['imbalance']:.2f} (0: each body can do half of what is known)")
