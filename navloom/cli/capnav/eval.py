"""``navloom eval capnav`` and ``capnav-truth``: a model on CapNav, and what is true there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from navloom.cli.common import (
    ConstrainOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    OutOrDefaultOption,
    SeedOption,
    end_session,
    print_json,
    run_folder,
    say,
    show_dry_run,
)
from navloom.cli.session import ModelRoleOption, model_of_roles, with_session
from navloom.errors import UsageError

if TYPE_CHECKING:
    from navloom.evals.capnav.run import CapnavSummary
    from navloom.evals.session import Session
    from navloom.scenes.traverse import Passage

__all__ = ["capnav", "capnav_truth", "end_capnav"]

ROLES = ("navigator", "judge")
"""What models are used for here."""

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        show_default="$NAVLOOM_DATA/capnav",
        help="The benchmark's folder: graphs/, traverse/ and qa/, as docs/formats/capnav.md says.",
    ),
]
ScenesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scenes", metavar="ID", help="Only this scene; may be given several times.",
        show_default="all",
    ),
]  # fmt: skip
BodiesOption = Annotated[
    Path | None,
    typer.Option(
        "--bodies",
        metavar="FILE",
        help="Profiles in place of the benchmark's own; each needs annotations of its name.",
    ),
]
CompatOption = Annotated[
    bool,
    typer.Option(
        "--compat-edges", help="An unlabelled passage is blocked, as the public scorer has it."
    ),
]
OfficialOption = Annotated[
    bool,
    typer.Option(
        "--official-compat",
        help="Show what the public scorer's rules give; the run keeps both.",
    ),
]


@with_session()
def capnav(
    session: Session,
    out: OutOrDefaultOption = None,
    data: DataOption = None,
    model: ModelOption = "builtin/heuristic",
    model_role: ModelRoleOption = None,
    scenes: ScenesOption = None,
    bodies: BodiesOption = None,
    videos: Annotated[
        Path | None,
        typer.Option("--videos", metavar="DIR", help="ID.mp4 a scene; without it text alone."),
    ] = None,
    frames: Annotated[int, typer.Option("--frames", min=1, help="Frames of each video.")] = 64,
    thinking: Annotated[
        bool, typer.Option("--thinking", help="Ask for a thought before the answer.")
    ] = False,
    constrain: ConstrainOption = True,
    max_reasks: Annotated[
        int, typer.Option("--max-reasks", min=0, max=100, help="How often a reply is sent back.")
    ] = 1,
    keep_hallucinated: Annotated[
        bool,
        typer.Option("--keep-hallucinated", help="Ask questions that annotators struck out too."),
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="RV by the share of barriers that a reason names.")
    ] = False,
    official_compat: OfficialOption = False,
    seed: SeedOption = 0,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """CapNav: can this body get there, by which way, and if not, why not?

    One sample a question and body. A reason is graded only with --model-role judge=PROVIDER/NAME;
    else reasoning validity is unscored. The same command on the same folder goes on with a run that
    was stopped.
    """
    from navloom.evals.capnav.request import CapnavRequest
    from navloom.evals.capnav.run import evaluate_capnav

    models = model_of_roles(model, model_role, ROLES)
    asked = any(role.partition("=")[0].strip() == "judge" for role in model_role or ())
    request = CapnavRequest(
        data=str(data_folder(data)),
        model=models["navigator"],
        judge_model=models["judge"] if asked else None,
        scenes=None if not scenes else tuple(scenes),
        bodies=None if bodies is None else str(bodies),
        videos=None if videos is None else str(videos),
        frames=frames,
        thinking=thinking,
        constrain=constrain,
        max_reasks=max_reasks,
        partial=partial,
        keep_hallucinated=keep_hallucinated,
        seed=seed,
    )
    if dry_run:
        from navloom.evals.capnav.dry import dry_run as work_out

        dry = work_out(request, session)
        show_dry_run(dry, "pairs", "scenes", most=1, as_json=as_json)
        return
    folder = run_folder(out, "capnav-eval", [request.record(), request.where()])
    summary = evaluate_capnav(request, folder, session)
    end_capnav(summary, folder, official=official_compat, as_json=as_json)


def end_capnav(
    summary: CapnavSummary, out: Path, *, official: bool = False, as_json: bool = False
) -> None:
    """Print what a run scores, and leave with its exit code."""
    from navloom.evals.capnav.scores import read_capnav
    from navloom.evals.capnav.tables import run_table

    if not as_json and summary.scores["answers"]:
        found = read_capnav(out)
        print(run_table({found.model: found}, official=official).markdown() + "\n")
    end_session(summary, out, as_json=as_json, exports=False)


def capnav_truth(
    data: DataOption = None,
    scenes: ScenesOption = None,
    bodies: BodiesOption = None,
    compat_edges: CompatOption = False,
    why: Annotated[
        bool, typer.Option("--why", help="List the blocking passages of what is not feasible.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """What is true in CapNav: how many questions each body can do, and what blocks the others."""
    from navloom.evals.capnav.data import load_benchmark
    from navloom.evals.capnav.truth import truth_record, truth_tables, why_not

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
