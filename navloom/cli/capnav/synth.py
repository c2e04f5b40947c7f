"""``navloom synth capnav``: make CapNav questions, with what is true of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.cli import options
from navloom.cli.common import carry_out, run_folder
from navloom.cli.options import option, takes
from navloom.cli.session import asked, model_of_roles, with_session

if TYPE_CHECKING:
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
    from navloom.evals.capnav.design_plan import CapnavSynthRequest

    request = asked(
        CapnavSynthRequest,
        given,
        model=model_of_roles(given["model"], given["model_role"], ROLES)["generator"],
        min_questions=given["min_questions"] or (1 if given["compact"] else _QUESTIONS),
    )
    folder = run_folder(given["out"], "capnav", [request.record(), request.where()])
    carry_out(request, folder, session, dry_run=given["dry_run"], as_json=given["as_json"])
