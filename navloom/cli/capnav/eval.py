"""``navloom eval capnav`` and ``capnav-truth``: a model on CapNav, and what is true there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navloom.cli import options
from navloom.cli.common import carry_out, print_json, run_folder, say
from navloom.cli.options import option, takes
from navloom.cli.session import asked, model_of_roles, with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.session import Session
    from navloom.scenes.bodies import Passage

ROLES = ("navigator", "judge")
"""What models are used for here."""

DATA = options.DATA.but(
    "The benchmark's folder: graphs/, traverse/ and qa/, as docs/formats/capnav.md says.",
    envvar=None,
    show_default="$NAVLOOM_DATA/capnav",
)
SCENES = option(
    "scenes",
    list[str] | None,
    None,
    "Only this scene; may be given several times.",
    metavar="ID",
    show_default="all",
    envvar=None,
)
BODIES = option(
    "bodies",
    Path | None,
    None,
    "Profiles in place of the benchmark's own; each needs annotations of its name.",
    metavar="FILE",
    envvar=None,
)


def _switch(name: str, words: str) -> options.Option:
    return option(name, bool, False, words, envvar=None)


@with_session()
@takes(
    options.OUT_OR_DEFAULT,
    DATA,
    options.MODEL,
    options.MODEL_ROLE,
    SCENES,
    BODIES,
    option(
        "videos",
        Path | None,
        None,
        "ID.mp4 a scene; without it text alone.",
        metavar="DIR",
        envvar=None,
    ),
    options.FRAMES.but("Frames of each video.", default=64, envvar=None),
    _switch("thinking", "Ask for a thought before the answer."),
    options.CONSTRAIN,
    options.MAX_REASKS.but("How often a reply is sent back.", envvar=None),
    _switch("keep_hallucinated", "Ask questions that annotators struck out too."),
    _switch("partial", "RV by the share of barriers that a reason names."),
    _switch("official_compat", "Show what the public scorer's rules give; the run keeps both."),
    options.SEED,
    options.DRY_RUN,
    options.JSON,
)
def capnav(session: Session, **given: Any) -> None:
    """CapNav: can this body get there, by which way, and if not, why not?

    One sample a question and body. A reason is graded only with --model-role judge=PROVIDER/NAME;
    else reasoning validity is unscored. The same command on the same folder goes on with a run that
    was stopped.
    """
    from navloom.evals.capnav.run import CapnavRequest, ended

    roles, as_json = given["model_role"] or (), given["as_json"]
    models = model_of_roles(given["model"], roles, ROLES)
    judged = any(role.partition("=")[0].strip() == "judge" for role in roles)
    request = asked(
        CapnavRequest,
        given,
        data=str(data_folder(given["data"])),
        model=models["navigator"],
        judge_model=models["judge"] if judged else None,
    )
    carry_out(
        request,
        run_folder(given["out"], "capnav-eval", [request.record(), request.where()]),
        session,
        dry_run=given["dry_run"],
        as_json=as_json,
        ended=lambda run, found: ended(run, found, official=given["official_compat"]),
    )


@takes(
    DATA,
    SCENES,
    BODIES,
    _switch("compat_edges", "An unlabelled passage is blocked, as the public scorer has it."),
    _switch("why", "List the blocking passages of what is not feasible."),
    options.JSON,
)
def capnav_truth(
    data: Path | None,
    scenes: list[str] | None,
    bodies: Path | None,
    compat_edges: bool,
    why: bool,
    as_json: bool,
) -> None:
    """What is true in CapNav: how many questions each body can do, and what blocks the others."""
    from navloom.evals.capnav.data import load_benchmark
    from navloom.evals.capnav.tables import truth_record, truth_tables, why_not

    benchmark = load_benchmark(
        data_folder(data), compat_edges=compat_edges, scenes=scenes or None, bodies=bodies
    )
    reasons = list(why_not(benchmark)) if why else []
    if as_json:
        listed = [
            {"question_id": q.id, "body": body, "blocking": [p.record() for p in passages]}
            for q, body, passages in reasons
        ]
        print_json(truth_record(benchmark) | ({"why_not": listed} if why else {}))
        return
    for table in truth_tables(benchmark):
        print(table.markdown() + "\n")
    for question, body, passages in reasons:
        said = "; ".join(f"{p.a} -> {p.b} ({_note(p)})" for p in passages)
        print(f"{question.id} {body}: {said or 'no route leads there'}")
    for line in benchmark.notes(keep_hallucinated=True):
        say(line)


def _note(passage: Passage) -> str:
    nothing = "nobody labelled it" if passage.traversable is None else "no note"
    return " ".join(passage.note.split()) or nothing


def data_folder(given: Path | None) -> Path:
    """The benchmark's folder: the one given, else ``$NAVLOOM_DATA/capnav``.

    Raises:
        UsageError: neither is there.
    """
    if given is not None:
        return given
    root = os.environ.get("NAVLOOM_DATA")
    if not root:
        raise UsageError(
            "--data DIR: give CapNav's folder, or set NAVLOOM_DATA to the one above it"
        )
    return Path(root) / "capnav"
