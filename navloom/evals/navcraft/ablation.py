"""Which help does a small model need? One run an arm, on the same homes, with the same seed.

The full setting shows the home in one line a room, says what is next to what and what is
admissible, holds names to those that exist, and says precisely what is wrong. Each arm takes one of
these away. "no schema" leaves the names and the form of a reply to the prompt, "whole answer" asks
for the paper's answer at once, by its prompts and tools, and "literal" takes all help away;
"recommended" adds a good choice, which is then a planner's. Every run goes on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.evals.navcraft.run import SynthRequest
from navloom.evals.navcraft.scores import score_run
from navloom.evals.navcraft.studies import whole_run
from navloom.evals.report.intervals import Spread
from navloom.evals.report.table import Table, rate_cell
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Session
from navloom.evals.study import Study, check_free

FULL = "full"
ARMS: dict[str, dict[str, Any]] = {
    FULL: {},
    "no names held": {"hold_names": False},
    "whole scene": {"whole_scene": True},
    "no adjacency": {"show_adjacency": False},
    "plain repairs": {"precise_repairs": False},
    "recommended": {"recommend": True},
    "no schema": {"constrain": False},
    "whole answer": {"compact": False},
    "literal": {"compact": False, "constrain": False, "precise_repairs": False},
}
"""What each arm changes of the full setting."""
TURNS, REPAIRS = 10, 8


def study_ablation(
    request: SynthRequest,
    out: Path,
    *,
    n: int = 15,
    n_full: int = 40,
    arms: Sequence[str] = tuple(ARMS),
    session: Session | None = None,
) -> Table:
    """Run the arms and table them.

    Args:
        request: which homes, model and seed; how much help is replaced by each arm's.
        out: the folder for the runs, one an arm.
        n: attempts of an arm.
        n_full: attempts of the full setting.
        arms: which of ``ARMS``.
        session: how to go through the runs; one attempt at a time, so that seconds mean something.

    Raises:
        UnfinishedError: stopped; the same call goes on.
    """
    check_free(out)
    study, rows = Study([request.model], session or Session(max_connections=1)), []
    for arm in arms:
        folder = out / arm.replace(" ", "-")
        asked = replace(
            request,
            kind="collab",
            n=n_full if arm == FULL else n,
            max_turns=TURNS,
            max_repairs=REPAIRS,
            **{"compact": True, **ARMS[arm]},
        )
        whole_run(asked, folder, study)
        rows.append(_row(arm, folder))
    header = (
        "arm",
        "n",
        "single",
        "relay, a valid single",
        "s",
        "model calls",
        "tokens in",
        "tokens out",
        "regret of alpha",
        "objects",
    )
    note = (
        "One attempt crafts an errand and lifts it to a relay; s, calls and tokens are of both,"
        " medians. Published for GPT-4o: 77 % single, 46.75 % relays, 30.85 s. Brackets are 95 %"
        " Wilson intervals. objects: different target objects among valid errands."
    )
    return Table(f"Ablation, {request.model}", note, header, tuple(rows))


def _row(arm: str, folder: Path) -> tuple[str, ...]:
    score, samples = score_run(folder), read_samples(folder)

    def median(key: str) -> str:
        middle = Spread(tuple(float(row["usage"][key]) for row in samples)).median
        return "–" if middle is None else f"{middle:.0f}"

    regret = score.regret_alpha.median
    return (
        arm,
        str(score.attempts),
        rate_cell(score.single),
        rate_cell(score.relays),
        "–" if score.seconds.median is None else f"{score.seconds.median:.1f}",
        median("calls"),
        median("input_tokens"),
        median("output_tokens"),
        "–" if regret is None else f"{regret:.3f}",
        str(score.diversity[0].objects if score.diversity else 0),
    )
