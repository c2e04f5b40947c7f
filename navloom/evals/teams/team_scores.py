"""What plans for teams are worth.

Definitions. *Attempts* are samples that ended ``ok`` or ``failed``; errors of the machinery are
counted apart. *Possible*: some plan does all errands. *Valid*: of these, an accepted plan.
*Regret*: what a plan comes to over the best there is, less 1 (of alpha the difference); where the
best is not proven, over the best that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.evals.kinds import read_run_of
from navloom.evals.report.document import NOTHING, Table, number, percent, rate_cell
from navloom.evals.report.intervals import Rate, Spread
from navloom.evals.run_folder import read_samples
from navloom.files import formed
from navloom.tools.teams.team_task import NO_PLAN


@dataclass(frozen=True)
class TeamScore:
    """What a run came to.

    Attributes:
        name: the run's folder.
        model: ``provider/name``.
        by: what plans are measured by.
        attempts: how many there are.
        possible: for how many some plan does all errands.
        valid: accepted plans, of those.
        best: plans that are as good as the best, of the accepted.
        regret: of each accepted plan.
        proven: whether the best of each is proven, of the accepted.
        handoffs: of each accepted plan.
        makespan_s: seconds until all is done.
        calls: of models, of each attempt that a model was asked.
        tokens: in and out, likewise.
    """

    name: str
    model: str
    by: str
    attempts: int
    possible: int
    valid: Rate
    best: Rate
    regret: Spread
    proven: Rate
    handoffs: Spread
    makespan_s: Spread
    calls: Spread
    tokens: tuple[Spread, Spread]

    def record(self) -> dict[str, Any]:
        """As JSON, shares as fractions."""
        ends = self.valid.interval
        return {
            "name": self.name,
            "model": self.model,
            "by": self.by,
            "attempts": self.attempts,
            "possible": self.possible,
            "valid": {
                "hits": self.valid.hits,
                "of": self.valid.of,
                "share": self.valid.share,
                "interval": None if ends is None else list(ends),
            },
            "best": self.best.share,
            "proven": self.proven.share,
            **{
                key: {"mean": spread.mean, "median": spread.median, "interval": spread.interval}
                for key, spread in (("regret", self.regret), ("makespan_s", self.makespan_s))
            },
        }


def score_teams(run: Path | str) -> TeamScore:
    """What a run of ``synth team`` comes to.

    Raises:
        RunError: the folder is no such run, or is broken.
    """
    folder = Path(run)
    said = read_run_of(folder, "team")
    with formed(f"{run}: a sample", "a team's plan"):
        rows = read_samples(folder)
        possible = [row for row in rows if (row["result"] or {}).get("verdict") != NO_PLAN]
        plans = [row["result"] for row in possible if row["status"] == "ok"]
        worth = [plan["navloom"] for plan in plans]
        asked = [row["usage"] for row in possible]
        return TeamScore(
            name=folder.name,
            model=str(said["request"]["model"]),
            by=str(said["request"]["by"]),
            attempts=len(rows),
            possible=len(possible),
            valid=Rate(len(plans), len(possible)),
            best=Rate(sum(each["regret"] < 1e-6 for each in worth), len(worth)),
            regret=_spread(each["regret"] for each in worth),
            proven=Rate(sum(bool(each["exact"]) for each in worth), len(worth)),
            handoffs=_spread(
                len(plan["team"]["legs"]) - len({leg["object"] for leg in plan["team"]["legs"]})
                for plan in plans
            ),
            makespan_s=_spread(each["makespan_s"] for each in worth),
            calls=_spread(usage["calls"] for usage in asked),
            tokens=(
                _spread(usage["input_tokens"] for usage in asked),
                _spread(usage["output_tokens"] for usage in asked),
            ),
        )


def _spread(values: Any) -> Spread:
    return Spread(tuple(float(each) for each in values))


def team_tables(scores: Mapping[str, TeamScore]) -> list[Table]:
    """Validity and regret, a row a run."""

    def mean(spread: Spread) -> str:
        return NOTHING if spread.mean is None else number(spread.mean)

    def row(name: str, score: TeamScore) -> tuple[str, ...]:
        return (
            name,
            f"{score.possible} of {score.attempts}",
            rate_cell(score.valid),
            percent(score.regret.mean, score.regret.interval),
            rate_cell(score.best),
            rate_cell(score.proven),
            mean(score.makespan_s),
            mean(score.handoffs),
            mean(score.calls),
            mean(score.tokens[0]),
            mean(score.tokens[1]),
        )

    header = (
        *("run", "possible", "valid", "regret", "as good as the best", "best proven"),
        *("seconds", "handoffs", "calls", "tokens in", "out"),
    )
    note = (
        "Possible: some plan does all errands; in the others that none does was found before anyone"
        " was asked. Valid: accepted plans of the possible. Regret: over the best plan, less 1"
        " (of alpha the difference). Brackets are 95 %: Wilson of shares, bootstrapped of means."
    )
    rows = tuple(row(*each) for each in scores.items())
    record = {name: score.record() for name, score in scores.items()}
    return [Table("Plans for teams", note, header, rows, record=record)]
