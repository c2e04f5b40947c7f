"""Studies of the NavCraft generator, each run by one command on the user's scenes.

``relays``: how far are the relays of some models from the optimum? ``profiles``: do profiles make
tasks more varied, and different for each role (CoNavBench A.8, figures 14 and 15)? ``ablation``:
which help does a small model need? Each study makes ordinary runs in the given folder, continues
existing ones, and returns tables.

The full setting of the ablation shows the home in one line a room, lists adjacent regions and
admissible choices, ranks handoffs, restricts names to existing ones, and explains each violation.
Each arm removes one of these. "no schema" leaves the names and the form of a reply to the prompt.
"whole answer" asks for the paper's answer at once, by its prompts and tools. "literal" removes all
help. "recommended" adds a good choice, which then comes from a planner.

Validity does not separate a model from blind picks, since blind picks are valid too. So every arm
makes the same attempts with the same sample ids, and differences between homes cancel out. Control
arms use no knowledge: names drawn at random (with and without the paper's repairs), blind picks
from the same small lists, and always the first of a list. The contribution of a model is its
difference to the control that read the same list: blind picks for the blind list, always the first
for the ranked one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from navloom.evals.navcraft import results
from navloom.evals.navcraft.request import FIRST, SynthRequest
from navloom.evals.navcraft.scores import RunScore, score_run
from navloom.evals.report.formatting import NOTHING, Table, percent, rate_cell
from navloom.evals.report.intervals import ValueDistribution, bootstrap_intervals
from navloom.evals.report.report_files import save_study
from navloom.evals.request import HEURISTIC
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Session
from navloom.evals.study import StudyRuns, check_arms, check_study_folder
from navloom.files import write_run_file
from navloom.prompts.navcraft.profiles import NO_PROFILE, user_profile_names

ATTEMPTS_A_HOME = 20
"""Attempts per home in each half of the profile study. A.8 has 18 to 21 instructions a home."""
_MOST_NAMED = 4
FULL = "full"
ARMS: dict[str, dict[str, Any]] = {
    FULL: {},
    "no names held": {"hold_names": False},
    "whole scene": {"whole_scene": True},
    "no adjacency": {"show_adjacency": False},
    "blind list": {"choices": "blind"},
    "plain repairs": {"precise_repairs": False},
    "recommended": {"recommend": True},
    "no schema": {"constrain": False},
    "whole answer": {"compact": False},
    "literal": {"compact": False, "constrain": False, "precise_repairs": False},
}
"""Request settings of each arm that differ from the full setting."""
TURNS, REPAIRS = 16, 8


def study_relays(
    request: SynthRequest, models: Sequence[str], out: Path, session: Session | None = None
) -> list[Table]:
    """Generate relays with several models and compare them with the optimum of each task.

    Args:
        request: homes, attempts and seed; its model is replaced.
        models: ``provider/name`` of each model.
        out: folder of the runs, one a model, and of a report of all.
        session: execution settings of the runs.

    Returns:
        One table. ``out/report.json`` holds it with the whole report of the runs.

    Raises:
        RunError: ``out`` is a run's folder, or what :func:`navloom.evals.runner.run_request`
            raises.
        UnfinishedError: a run was stopped or has errors.
    """
    check_study_folder(out)
    study, folders = StudyRuns(models, session), []
    for model in models:
        folders.append(out / model.replace("/", "-"))
        study.run(replace(request, model=model), folders[-1])
    report = results.write_report(folders, out)
    tables = [_against_optimum(folders)]
    save_study(out, tables, more=report.blocks)
    return tables


def _against_optimum(folders: Sequence[Path]) -> Table:
    rows: list[tuple[str, ...]] = []
    for folder in folders:
        score = score_run(folder)
        made = [r for s in read_samples(folder) if (r := s["result"]) and r.get("phase_2")]
        best = {
            key: ValueDistribution(tuple(1 - r["navloom"][f"best_{key}"] for r in made))
            for key in ("alpha", "g_rate")
        }
        for words, spread in (
            ("gain, 1 − alpha", score.gain_alpha),
            ("gain, 1 − alpha, of the optimum", best["alpha"]),
            ("regret of alpha", score.regret_alpha),
            ("regret of alpha among those as asked", score.regret_asked),
            ("gain, 1 − g", score.gain_g),
            ("gain, 1 − g, of the optimum", best["g_rate"]),
            ("gain, 1 − g, of the better robot alone", score.gain_alone),
            ("regret of g", score.regret_g),
        ):
            numbers = (spread.median, spread.mean, spread.p90, spread.max)
            cells = map(percent, numbers)
            rows.append((f"{score.model}: {words}", str(len(spread.values)), *cells))
    note = (
        "Over relays. The optimum is exact, over all guarded helper starts, transfer assets and"
        " types of a task, each measure by itself; regret of g is the ratio to the best, minus 1."
        " builtin models are baselines: rules, not language models."
    )
    header = ("what", "relays", "median", "mean", "p90", "max")
    return Table("Relays against the optimum", note, header, tuple(rows))


@dataclass(frozen=True)
class RoleStats:
    """Objects that one profile role asks for.

    Attributes:
        name: age and occupation.
        tasks: number of valid tasks made for it.
        objects: number of different target objects.
        favourites: most frequent target objects with counts.
        apart: total variation distance of its objects from those of all other roles, 0 (equal)
            to 1 (disjoint).
    """

    name: str
    tasks: int
    objects: int
    favourites: tuple[tuple[str, int], ...]
    apart: float


def study_profiles(
    request: SynthRequest, homes: int, out: Path, session: Session | None = None
) -> list[Table]:
    """Compare tasks without a profile and with five profiles on the same homes and seed.

    Args:
        request: homes and model; profiles, attempts and number of homes are replaced.
        homes: number of homes, the first of the spec.
        out: folder of the two runs.
        session: execution settings of the runs.

    Returns:
        Tables of the diversity of both runs and of the objects each role asks for.
    """
    check_study_folder(out)
    folders = {"no profile": out / "none", "five profiles": out / "profiles"}
    given = {"no profile": (NO_PROFILE,), "five profiles": user_profile_names()}
    study = StudyRuns([request.model], session)
    for name, folder in folders.items():
        wanted = replace(
            request, profile=given[name], homes=homes, n=homes * ATTEMPTS_A_HOME, kind="single"
        )
        study.run(wanted, folder)
    rows = {name: read_samples(folder) for name, folder in folders.items()}
    counted = {name: _diversity(folder, rows[name]) for name, folder in folders.items()}
    header = ("", "tasks", "objects", "instructions", "instructions a home")
    note = (
        "Different names and instructions among as many attempts. A.8, with a language model:"
        " 98 objects, 316 instructions and 18.22 a home without a profile; 115, 367 and 21.11 with."
    )
    table = Table("Diversity", note, header, tuple((n, *cells) for n, cells in counted.items()))
    tables = [table, _roles_table(rows["five profiles"], rows["no profile"])]
    save_study(out, tables, runs=[folder.name for folder in folders.values()])
    return tables


def _diversity(folder: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    found = score_run(folder).diversity[0]
    homes: dict[str, set[str]] = {}
    for row in _valid(rows):
        homes.setdefault(row["scene"], set()).add(_errand(row)["Task instruction"])
    a_home = sum(map(len, homes.values())) / max(1, len(homes))
    return str(found.tasks), str(found.objects), str(found.instructions), f"{a_home:.2f}"


def _roles_table(
    with_profiles: Sequence[Mapping[str, Any]], without: Sequence[Mapping[str, Any]]
) -> Table:
    # The same split of the run without profiles gives the distance of five roles by chance.
    names = user_profile_names()
    dealt = [
        {**row, "profile": {"Age": 0, "Occupation": names[row["attempt"] % len(names)]}}
        for row in without
    ]
    by_chance = [role.apart for role in stats_by_role(dealt)]
    rows = tuple(
        (
            role.name,
            str(role.tasks),
            str(role.objects),
            f"{role.apart:.2f}",
            ", ".join(f"{name} {count}" for name, count in role.favourites),
        )
        for role in stats_by_role(with_profiles)
    )
    chance = f"{sum(by_chance) / max(1, len(by_chance)):.2f}"
    note = (
        "Apart: total variation distance of a role's objects from the other roles'. Tasks made"
        f" without a profile and dealt to five roles by turn are {chance} apart on average: what is"
        " above that is the profiles'."
    )
    return Table("Roles", note, ("role", "tasks", "objects", "apart", "asked for most"), rows)


def stats_by_role(rows: Sequence[Mapping[str, Any]]) -> list[RoleStats]:
    """Return the objects each role asks for among the valid tasks, in order of appearance."""
    asked: dict[str, Counter[str]] = {}
    for row in _valid(rows):
        if row["profile"]:
            name = f"{row['profile']['Age']}, {row['profile']['Occupation']}"
            asked.setdefault(name, Counter())[_errand(row)["Target object"]] += 1
    whole = sum(asked.values(), Counter())
    return [
        RoleStats(
            name=name,
            tasks=count.total(),
            objects=len(count),
            favourites=tuple(count.most_common(_MOST_NAMED)),
            apart=total_variation(count, whole - count),
        )
        for name, count in asked.items()
    ]


def total_variation(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Return half the L1 distance of two frequency tables as shares; 0 if one is empty."""
    all_a, all_b = sum(a.values()), sum(b.values())
    if not all_a or not all_b:
        return 0.0
    keys = set(a) | set(b)
    return sum(abs(a.get(k, 0) / all_a - b.get(k, 0) / all_b) for k in keys) / 2


def _valid(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["status"] == "ok"]


def _errand(row: Mapping[str, Any]) -> dict[str, Any]:
    errand: dict[str, Any] = row["result"]["phase_1"]
    return errand


def study_ablation(
    request: SynthRequest,
    out: Path,
    *,
    n: int = 15,
    n_full: int = 40,
    arms: Sequence[str] = tuple(ARMS),
    session: Session | None = None,
) -> Table:
    """Run the arms of the ablation and return the table of their scores.

    Args:
        request: homes, model and seed; its help settings are replaced by each arm's.
        out: folder of the runs, one an arm.
        n: number of attempts of an arm.
        n_full: number of attempts of the full setting.
        arms: names from ``ARMS``.
        session: execution settings. By default one attempt at a time, so that durations compare.

    Raises:
        UnfinishedError: the study was stopped; the same call continues it.
        UsageError: an arm is unknown.
    """
    check_arms(arms, ARMS)
    check_study_folder(out)
    study, rows = StudyRuns([request.model], session or Session(max_connections=1)), []
    folders = [out / arm.replace(" ", "-") for arm in arms]
    for arm, folder in zip(arms, folders, strict=True):
        asked = replace(
            request,
            kind="collab",
            n=n_full if arm == FULL else n,
            max_turns=TURNS,
            max_reasks=REPAIRS,
            **{"compact": True, **ARMS[arm]},
        )
        study.run(asked, folder)
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
    table = Table(f"Ablation, {request.model}", note, header, tuple(rows))
    save_study(out, [table], runs=[folder.name for folder in folders])
    return table


def _row(arm: str, folder: Path) -> tuple[str, ...]:
    score, samples = score_run(folder), read_samples(folder)

    def median(key: str) -> str:
        middle = ValueDistribution.of(row["usage"][key] for row in samples).median
        return "–" if middle is None else f"{middle:,.0f}"

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
        percent(regret),
        str(score.diversity[0].objects if score.diversity else 0),
    )


RANDOM = "builtin/random"
_SMALL = {"compact": True, "max_turns": TURNS, "max_reasks": REPAIRS}
CONTROLS: dict[str, dict[str, Any]] = {
    "heuristic": {"model": HEURISTIC},
    "random": {"model": RANDOM},
    # One tool call and one answer, so a bad draw has no second try.
    "no repair": {"model": RANDOM, "max_turns": 2, "max_reasks": 0},
    "blind picks": {"model": HEURISTIC, "choices": "blind", **_SMALL},
    "always first": {"model": FIRST, **_SMALL},
}
"""Request changes of the control arms, and of the heuristic rules."""
_LISTS = {"blind": "blind picks", "ranked": "always first"}
"""List form of handoffs -> control arm that reads the same list."""


def study_arms(models: Sequence[str], *, whole: bool = False) -> dict[str, dict[str, Any]]:
    """Return every arm by name: the controls, then two for each model.

    Args:
        models: ``provider/name`` of each model.
        whole: add an arm for each model that asks for whole answers, as the paper does.
    """
    arms = dict(CONTROLS)
    for model in models:
        for choices in _LISTS:
            arms[f"{model}, {choices}"] = {"model": model, "choices": choices, **_SMALL}
        if whole:
            arms[f"{model}, whole"] = {"model": model}
    return arms


def study_quality(
    request: SynthRequest,
    models: Sequence[str],
    out: Path,
    session: Session | None = None,
    *,
    whole: bool = False,
    only: Sequence[str] = (),
) -> list[Table]:
    """Make the same attempts with every arm and compare the quality of the tasks.

    Args:
        request: homes, attempts and seed; its model and help settings are replaced.
        models: ``provider/name`` of each model; empty for the controls alone.
        out: folder of the runs, one an arm, of a report of all and of ``worth.json``.
        session: execution settings of the runs.
        whole: also ask models for whole answers.
        only: names of the arms to run; empty for all.

    Returns:
        Tables: Table 4, quality, variety, validity with regret, and differences to the controls.

    Raises:
        RunError: ``out`` is a run's folder, or what :func:`navloom.evals.runner.run_request`
            raises.
        UnfinishedError: a run was stopped or has errors; the same call continues it.
        UsageError: an arm is unknown, or a model is given twice.
    """
    check_study_folder(out)
    arms = study_arms(models, whole=whole)
    check_arms(only, arms)
    study, folders = StudyRuns(models, session), dict[str, Path]()
    for name in only or arms:
        folders[name] = out / "".join(c if c.isalnum() or c in "-." else "-" for c in name)
        study.run(replace(request, kind="collab", **arms[name]), folders[name])
    report = results.write_report([*folders.values()], out)
    scores = {name: replace(score_run(folder), name=name) for name, folder in folders.items()}
    differences = compare_to_blind(folders)
    record = {"scores": {name: results.score_record(each) for name, each in scores.items()}}
    write_run_file(out / "worth.json", json.dumps({**record, "differences": differences}).encode())
    named = [(name, score.merits) for name, score in scores.items()]
    effort = _effort_table(scores)
    against = [_difference_table(differences)] if differences else []
    more = report.blocks
    runs = [folder.name for folder in folders.values()]
    save_study(out, [effort, *against], runs=runs, more=more)
    return [
        results.table_4([*scores.values()]),
        results.quality_table(named),
        results.variety_table(named),
        effort,
        *against,
    ]


def compare_to_blind(folders: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Return the paired difference of each model's arm to its control arm.

    Args:
        folders: folder of each arm's run, by name.

    Returns:
        One record an arm and measure: ``arm, against, measure, pairs, difference, low, high``.
        Validity is over all samples; other measures are over samples that have them in both.
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
    """Return the mean difference with its 95 % interval, bootstrapped over homes."""
    if not pairs:
        return {"pairs": 0, "difference": None, "low": None, "high": None}
    values = np.array([[difference] for _, difference in pairs])
    mean, low, high = (float(end[0]) for end in bootstrap_intervals(values, [h for h, _ in pairs]))
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
