"""Generators compared by what their tasks are worth, on the same homes with the same seeds.

Validity tells blind picks and a model apart no more than a coin: blind picks are valid, too. So
every arm makes the same attempts, each sample has one id in all of them, and what differs between
homes cancels out. Beside the models stand arms that know nothing: names drawn at random (with and
without the paper's repairs), blind picks from the same small lists, and always the first of a list.
What a model adds is its difference to the arm that read the same lists: of the blind list to blind
picks, of the ranked one to always the first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from navloom.errors import UsageError, did_you_mean
from navloom.evals.navcraft.report import write_report
from navloom.evals.navcraft.report_blocks import report_blocks
from navloom.evals.navcraft.request import FIRST, SynthRequest
from navloom.evals.navcraft.scores import RunScore, score_run
from navloom.evals.navcraft.studies import REPAIRS, TURNS, whole_run
from navloom.evals.navcraft.tables import score_json, table_4, variety_table, worth_table
from navloom.evals.report.document import NOTHING, Table, percent, rate_cell
from navloom.evals.report.intervals import intervals
from navloom.evals.report.kept_report import keep_study
from navloom.evals.request import HEURISTIC
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Session
from navloom.evals.study import Study, check_free
from navloom.files import write_whole

RANDOM = "builtin/random"
_SMALL = {"compact": True, "max_turns": TURNS, "max_reasks": REPAIRS}
CONTROLS: dict[str, dict[str, Any]] = {
    "heuristic": {"model": HEURISTIC},
    "random": {"model": RANDOM},
    # One call of the tool and one answer: whoever drew badly has no second try.
    "no repair": {"model": RANDOM, "max_turns": 2, "max_reasks": 0},
    "blind picks": {"model": HEURISTIC, "choices": "blind", **_SMALL},
    "always first": {"model": FIRST, **_SMALL},
}
"""The arms that know nothing, and the rules that do; what each changes of the request."""
_LISTS = {"blind": "blind picks", "ranked": "always first"}
"""How handoffs are listed to a model, and the arm that reads the same and knows nothing."""


def arms_of(models: Sequence[str], *, whole: bool = False) -> dict[str, dict[str, Any]]:
    """Every arm by name: the controls, then two a model.

    Args:
        models: ``provider/name`` of each.
        whole: ask models for whole answers too, as the paper does: another arm each.
    """
    arms = dict(CONTROLS)
    for model in models:
        for choices in _LISTS:
            arms[f"{model}, {choices}"] = {"model": model, "choices": choices, **_SMALL}
        if whole:
            arms[f"{model}, whole"] = {"model": model}
    return arms


def study_worth(
    request: SynthRequest,
    models: Sequence[str],
    out: Path,
    session: Session | None = None,
    *,
    whole: bool = False,
    only: Sequence[str] = (),
) -> list[Table]:
    """Make the same attempts with every arm, and table what the tasks are worth.

    Args:
        request: which homes, how many attempts, which seed; its model and help are replaced.
        models: ``provider/name`` of each; none: the controls alone.
        out: the folder for the runs, one an arm, for a report of all and ``worth.json``.
        session: how to go through the runs.
        whole: ask models for whole answers too.
        only: these arms alone.

    Returns:
        Table 4, worth, variety, and differences to the arm that knows nothing.

    Raises:
        RunError: ``out`` is a run's folder, or what :func:`navloom.evals.runner.run_kind` raises.
        UnfinishedError: a run was stopped or has errors; the same call goes on.
        UsageError: an unknown arm, or a model is given twice.
    """
    check_free(out)
    arms = arms_of(models, whole=whole)
    for name in only:
        if name not in arms:
            raise UsageError(
                f"no arm '{name}': choose {', '.join(arms)}.{did_you_mean(name, arms)}"
            )
    study, folders = Study(models, session), dict[str, Path]()
    for name in only or arms:
        folders[name] = out / "".join(c if c.isalnum() or c in "-." else "-" for c in name)
        whole_run(replace(request, kind="collab", **arms[name]), folders[name], study)
    report, _ = write_report([*folders.values()], out)
    scores = {name: replace(score_run(folder), name=name) for name, folder in folders.items()}
    differences = against_blind(folders)
    record = {"scores": {name: score_json(each) for name, each in scores.items()}}
    write_whole(out / "worth.json", json.dumps({**record, "differences": differences}).encode())
    named = [(name, score.merits) for name, score in scores.items()]
    effort = _effort_table(scores)
    against = [_difference_table(differences)] if differences else []
    more = report_blocks([*folders.values()], report)
    runs = [folder.name for folder in folders.values()]
    keep_study(out, [effort, *against], runs=runs, more=more)
    return [table_4([*scores.values()]), worth_table(named), variety_table(named), effort, *against]


def against_blind(folders: Mapping[str, Path]) -> list[dict[str, Any]]:
    """What each model's arm has more than the arm that read the same lists and knows nothing.

    Args:
        folders: the run of each arm, by name.

    Returns:
        One record an arm and a measure: ``arm, against, measure, pairs, difference, low, high``.
        Validity is over all samples; the others over those that are valid in both.
    """
    rows = {name: {row["id"]: row for row in read_samples(path)} for name, path in folders.items()}
    found = []
    for name in rows:
        control = _LISTS.get(name.rpartition(", ")[2]) if name not in CONTROLS else None
        if control not in rows:
            continue
        ids = sorted(rows[name].keys() & rows[control].keys())
        for measure, value in _MEASURES.items():
            pairs = [
                (rows[name][i]["scene"], b - a)
                for i in ids
                if (a := value(rows[control][i])) is not None
                and (b := value(rows[name][i])) is not None
            ]
            found.append({"arm": name, "against": control, "measure": measure, **_paired(pairs)})
    return found


def _paired(pairs: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """The mean difference and its 95 % interval, homes drawn whole."""
    if not pairs:
        return {"pairs": 0, "difference": None, "low": None, "high": None}
    values = np.array([[difference] for _, difference in pairs])
    mean, low, high = (float(end[0]) for end in intervals(values, [home for home, _ in pairs]))
    none = np.isnan(low)
    ends = {"low": None if none else low, "high": None if none else high}
    return {"pairs": len(pairs), "difference": mean, **ends}


def _errand_valid(row: Mapping[str, Any]) -> float:
    return float(bool((row.get("result") or {}).get("phase_1")))


def _relay_valid(row: Mapping[str, Any]) -> float:
    return float(row["status"] == "ok" and bool((row.get("result") or {}).get("phase_2")))


def _plausible(row: Mapping[str, Any]) -> float | None:
    worth = ((row.get("result") or {}).get("navloom") or {}).get("worth") or {}
    return worth.get("plausible")


def _recorded(key: str, row: Mapping[str, Any]) -> float | None:
    if not _relay_valid(row):
        return None
    regret: float | None = row["result"]["navloom"].get(key)
    return regret


_MEASURES: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
    "errand is valid": _errand_valid,
    "relay is valid": _relay_valid,
    "plausible": _plausible,
    "regret of alpha": partial(_recorded, "regret_alpha"),
    "regret among the asked": partial(_recorded, "regret_asked"),
}


def _effort_table(scores: Mapping[str, RunScore]) -> Table:
    def row(name: str, score: RunScore) -> tuple[str, ...]:
        regret = score.regret_alpha
        return (
            name,
            str(score.attempts),
            rate_cell(score.single),
            rate_cell(score.relays_per_attempt),
            percent(regret.mean, regret.interval),
            percent(score.regret_asked.mean, score.regret_asked.interval),
            NOTHING if score.seconds.median is None else f"{score.seconds.median:.1f}",
        )

    rows = tuple(row(name, score) for name, score in scores.items())
    header = ("arm", "attempts", "errand valid", "relay valid", "regret of alpha", "asked", "s")
    note = (
        "Shares of attempts with 95 % Wilson intervals; a home where no relay is worth it has none."
        " Regret: alpha less the best alpha of the task, a mean; asked: less the best of those of"
        " the type and start that were asked for; s: median seconds of an attempt."
    )
    return Table("Validity and regret", note, header, rows)


def _difference_table(records: Sequence[Mapping[str, Any]]) -> Table:
    def row(each: Mapping[str, Any]) -> tuple[str, ...]:
        ends = NOTHING if each["low"] is None else f"[{each['low']:+.3f}, {each['high']:+.3f}]"
        value = NOTHING if each["difference"] is None else f"{each['difference']:+.3f}"
        return f"{each['arm']}: {each['measure']}", each["against"], str(each["pairs"]), value, ends

    header = ("arm and measure", "against", "pairs", "difference", "95 %")
    note = (
        "Paired by sample: the same home, attempt and seed. Intervals are bootstrapped over homes,"
        " drawn whole; one that leaves 0 out is a difference."
    )
    return Table("Against the arm that knows nothing", note, header, tuple(map(row, records)))
