"""``navloom eval capnav`` and ``capnav-truth``: a model on CapNav, and the ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from navloom.cli.common import pick_run_folder, print_json, run_request
from navloom.cli.options import Json, OutOrMade, RunMode, with_options
from navloom.evals.capnav.request import Bodies, CapnavRequest, Data, Scene, data_folder
from navloom.evals.option import Opt
from navloom.evals.session import Session
from navloom.models.redaction import print_err, print_out

if TYPE_CHECKING:
    from navloom.scenes.traversability_table import Passage


@with_options()
def capnav(
    *,
    out: OutOrMade = None,
    request: CapnavRequest,
    session: Session,
    official_compat: Annotated[
        bool, Opt("Show what the public scorer's rules give; the run keeps both.")
    ] = False,
    how: RunMode,
) -> None:
    """Run CapNav: say whether a body gets there, by which path, or what blocks it.

    One sample a question and body. A reason is graded only with --model-role judge=PROVIDER/NAME;
    else reasoning validity is unscored. The same command on the same folder goes on with a run that
    was stopped.
    """
    from navloom.evals.capnav.results import ended

    run_request(
        request,
        pick_run_folder(out, "capnav-eval", request),
        session,
        how,
        ended=lambda run, found: ended(run, found, official=official_compat),
    )


@with_options()
def capnav_truth(
    data: Data = "",
    scene: Scene = None,
    bodies: Bodies = None,
    compat_edges: Annotated[
        bool, Opt("An unlabelled passage is blocked, as the public scorer has it.")
    ] = False,
    why: Annotated[bool, Opt("List the blocking passages of what is not feasible.")] = False,
    as_json: Json = False,
) -> None:
    """Show the ground truth of CapNav: feasible questions for each body, and what blocks others."""
    from navloom.evals.capnav import benchmark_data

    benchmark = benchmark_data.load_benchmark(
        data_folder(data), compat_edges=compat_edges, scenes=scene, bodies=bodies
    )
    reasons = list(benchmark_data.infeasible_pairs(benchmark)) if why else []
    if as_json:
        listed = [
            {"question_id": q.id, "body": body, "blocking": [p.record() for p in passages]}
            for q, body, passages in reasons
        ]
        print_json(benchmark_data.count_truths(benchmark) | ({"why_not": listed} if why else {}))
        return
    for table in benchmark_data.truth_tables(benchmark):
        print_out(table.markdown() + "\n")
    for question, body, passages in reasons:
        said = "; ".join(f"{p.a} -> {p.b} ({_note(p)})" for p in passages)
        print_out(f"{question.id} {body}: {said or 'no route leads there'}")
    for line in benchmark.notes(keep_hallucinated=True):
        print_err(line)


def _note(passage: Passage) -> str:
    nothing = "nobody labelled it" if passage.traversable is None else "no note"
    return " ".join(passage.note.split()) or nothing
