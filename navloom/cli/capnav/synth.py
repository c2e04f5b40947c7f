"""``navloom synth capnav``: make CapNav questions, with what is true of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.cli import options
from navloom.cli.common import end_session, print_json, print_table, run_folder, say, show_dry_run
from navloom.cli.options import asked, option, takes
from navloom.cli.session import model_of_roles, with_session

if TYPE_CHECKING:
    from navloom.evals.capnav.design_run import CapnavSynthSummary
    from navloom.evals.session import Session

ROLES = ("generator",)
"""What models are used for here."""
_QUESTIONS = 5

VIDEO = option(
    "video",
    Path | None,
    None,
    "A folder of ID.mp4: where a scene has a video and the model takes images, frames of it are"
    " shown.",
    metavar="DIR",
)
MIN_QUESTIONS = option(
    "min_questions",
    int | None,
    None,
    "Questions that one conversation is asked for; a model may give more.",
    min=1,
    max=50,
    show_default=f"{_QUESTIONS}; 1 with --compact",
)
BALANCE = option(
    "balance",
    bool,
    False,
    "Ask for routes whose truth is rare so far: bodies that can and cannot, lengths, kinds of"
    " barrier.",
)
MAX_ROUNDS = option(
    "max_rounds",
    int,
    3,
    "Rounds of asking: after the first, only for what is missing yet.",
    min=1,
    max=100,
)
QA = option(
    "qa",
    Path | None,
    None,
    "Where the benchmark's files ID_QA.json go.",
    metavar="DIR",
    show_default="OUT/qa",
)


@with_session()
@takes(
    options.SPEC,
    options.OUT_OR_DEFAULT,
    options.N.but(
        "Accepted questions in all, shared out over the scenes evenly. What is missing after all"
        " rounds is said."
    ),
    options.MODEL,
    options.MODEL_ROLE,
    VIDEO,
    options.FRAMES.but(max=512),
    MIN_QUESTIONS,
    BALANCE,
    options.COMPACT.but(
        "For small models: a short prompt without tools, one route at a time; the sentence is"
        " filled in, and checked like any."
    ),
    options.CONSTRAIN,
    options.SEED,
    options.MAX_TURNS.but("Model calls a conversation at most."),
    options.MAX_REPAIRS.but("How often others are asked for in place of wrong questions."),
    MAX_ROUNDS,
    QA,
    options.DRY_RUN,
    options.JSON,
)
def capnav(session: Session, **given: Any) -> None:
    """Write questions for CapNav: can a body get from here to there?

    A model designs them, each is checked against the scene, and what is true of each for every body
    is kept beside it. In the run's folder: qa/ID_QA.json in the benchmark's form, truth/ and
    balance.json. The same command on the same folder goes on with a run that was stopped.
    """
    from navloom.evals.capnav.design_request import CapnavSynthRequest

    request = asked(
        CapnavSynthRequest,
        given,
        model=model_of_roles(given["model"], given["model_role"], ROLES)["generator"],
        min_questions=given["min_questions"] or (1 if given["compact"] else _QUESTIONS),
    )
    if given["dry_run"]:
        from navloom.evals.capnav.design_dry import dry_run as reckon

        dry = reckon(request, session)
        show_dry_run(dry, "conversations", "scenes", most=1, as_json=given["as_json"])
        return
    from navloom.evals.capnav.design_run import synthesise

    folder = run_folder(given["out"], "capnav", [request.record(), request.where()])
    summary = synthesise(request, folder, session, qa=given["qa"])
    end_capnav(summary, folder, as_json=given["as_json"])


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
