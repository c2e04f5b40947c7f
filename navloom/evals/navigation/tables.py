"""Evaluations as tables: what was asked, what one run or several score, what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from navloom.evals.navigation.published import published_table
from navloom.evals.navigation.scores import spoken
from navloom.evals.progress import Tally
from navloom.evals.report.document import NOTHING, Table, number, percent
from navloom.evals.report.paired_scores import Paired
from navloom.models.spec import read_spec

ORDER = (
    *("SR", "SR_visible", "RGS", "RGSPL", "SPL", "SoftSPL", "OSR", "SR_stopped", "SR_end"),
    *("early_stop", "late_stop", "NE", "DTS", "GP", "TL", "nDTW", "SDTW", "CLS", "SPL_gt"),
    *("SR_strict", "SR_telhop", "collided", "contacts", "collision_rate"),
)
"""The metrics as tables give them."""
_SHOWN = ("SR", "SR_visible", "RGS", "SPL", "OSR", "NE", "GP", "nDTW")
"""Those of a table of several runs."""
_PAIRED = ("SR", "SPL")
_COUNTS = {
    "steps": "steps",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "seconds": "seconds",
    "reprompts": "re-prompts",
    "unparsed": "replies that are no action",
    "invalid_option": "replies that name no option",
    "refusal": "refusals",
    "revisions": "revisions",
    "questions": "questions asked",
    "oracle_calls": "times the oracle spoke",
    "leaks": "answers that gave a place away",
}
_RULES = {
    "builtin/heuristic": "R2R-tuned rules: their weights were fitted on R2R's train split, and they"
    " know how many hops its paths have; a model is told neither",
    "builtin/heuristic-no-length": "R2R-tuned rules: their weights were fitted on R2R's train"
    " split, without the length of its paths; a model is told nothing of it",
    "builtin/random": "a draw among the options",
}
"""What is said of the baselines."""
_ALWAYS = ("steps", "input_tokens", "output_tokens", "seconds")


def score_table(scores: Mapping[str, Any]) -> Table:
    """What one run scores and what an episode takes, a row a number.

    Args:
        scores: the ``scores`` of a run's ``summary.json``.
    """
    rules = _RULES.get(read_spec(scores["model"]).bare)
    baseline = f", a baseline and no language model ({rules})" if rules else ""
    named = scores.get("rooms_named")
    truth = (
        f" Rooms that prompts name are the scene's own labels, the truth, in {named} scenes."
        if named
        else ""
    )
    note = (
        f"{scores['agent']} with {scores['model']}{baseline}.{truth} 95 %: bootstrap intervals,"
        " over paths. Success: it ended strictly within 3 m of a goal; NE, DTS, GP and TL are"
        " metres. docs/metrics.md defines each."
    )
    title = f"{scores['task']}: {scores['episodes']} episodes"
    return Table(title, note, ("measure", "mean", "95 %"), tuple(_rows(scores)))


def _rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    metrics, took = scores["metrics"], scores["an_episode"]
    for name in ORDER:
        if name in metrics:
            yield name, *_cells(name, metrics[name])[:2]
    for key, words in _COUNTS.items():
        if key in _ALWAYS or took.get(key):
            yield f"{words}, an episode", number(took.get(key, 0)), ""
    cost = scores["cost_usd"]
    yield "cost in $, in all", "unknown" if cost is None else number(cost), ""
    episodes = max(1, scores["episodes"])
    for kind, count in _most(scores["ends"]):
        yield f"ended by: {kind.replace('_', ' ')}", str(count), percent(count / episodes)
    for kind, count in _most(scores["behaviours"]):
        if kind != "none":
            yield f"showed: {kind.replace('_', ' ')}", str(count), percent(count / episodes)
    if scores["invalid"]:
        yield "trajectories nobody can have walked", str(scores["invalid"]), ""
    yield from _given_away(scores.get("oracle") or {})


def _given_away(oracle: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What an oracle's answers gave away, a row a kind that any did."""
    for kind, share in oracle.get("told", {}).items():
        if share:
            yield f"oracle's answers that give away: {kind}", percent(share), ""


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def runs_table(
    title: str,
    note: str,
    runs: Mapping[str, Mapping[str, Any]],
    differences: Mapping[str, Sequence[Paired]] | None = None,
) -> Table:
    """Several runs, a row each.

    Args:
        title: of the table.
        note: how to read it.
        runs: by name, the ``scores`` of each one's ``summary.json``.
        differences: by name, how a run differs from the one it is held against.
    """
    paired = differences or {}
    shown = [name for name in _SHOWN if any(name in run["metrics"] for run in runs.values())]
    rows = tuple(
        (
            name,
            str(run["episodes"]),
            *(_cell(metric, run["metrics"].get(metric)) for metric in shown),
            *(_difference(metric, paired.get(name, ())) for metric in _PAIRED if paired),
            *_helped(run, paired.get(name, ())),
        )
        for name, run in runs.items()
    )
    more = [f"{metric}, paired" for metric in _PAIRED if paired]
    helped = ("knows", "asked", "told", "SR an answer", "gives away", "withheld", "steps")
    record = {
        name: {
            **run,
            "paired": {each.metric: each.record() for each in paired.get(name, ())},
            "SR_an_answer": _an_answer(run, paired.get(name, ())),
        }
        for name, run in runs.items()
    }
    return Table(title, note, ("run", "n", *shown, *more, *helped), rows, record=record)


def _helped(run: Mapping[str, Any], paired: Sequence[Paired]) -> Iterator[str]:
    """Who helped, how often, what that gained and what it gave away."""
    took, oracle = run["an_episode"], run.get("oracle") or {}
    gained = _an_answer(run, paired)
    told = [f"{kind} {percent(share)}" for kind, share in oracle.get("told", {}).items() if share]
    yield str(oracle.get("knows", NOTHING))
    yield f"{took.get('questions', 0):.2f}"
    yield f"{took.get('oracle_calls', 0):.2f}"
    yield NOTHING if gained is None else spoken("SR", gained, "+")
    yield ", ".join(told) or NOTHING
    yield f"{took.get('leaks', 0):.3f}"
    yield f"{took.get('steps', 0):.1f}"


def _an_answer(run: Mapping[str, Any], paired: Sequence[Paired]) -> float | None:
    """Success gained for each answer or word of an oracle; None where there were none."""
    said = sum(run["an_episode"].get(key, 0) for key in ("questions", "oracle_calls"))
    found = next((each for each in paired if each.metric == "SR"), None)
    mean = found and found.difference.mean
    return mean / said if said and mean is not None else None


def _cell(name: str, measured: Mapping[str, Any] | None) -> str:
    return NOTHING if measured is None else _said(name, measured["mean"], measured["interval"])


def _difference(metric: str, paired: Sequence[Paired]) -> str:
    found = next((each for each in paired if each.metric == metric), None)
    if found is None:
        return NOTHING
    words = _said(metric, found.difference.mean, found.difference.interval, "+")
    return words if found.shown else f"{words}: no difference shown"


def _said(name: str, mean: float | None, interval: Sequence[float] | None, sign: str = "") -> str:
    """A mean with its interval."""
    ends = f" [{_ends(name, interval, ', ', sign)}]" if interval and mean is not None else ""
    return f"{spoken(name, mean, sign)}{ends}"


def _ends(name: str, interval: Sequence[float], between: str, sign: str = "") -> str:
    return between.join(spoken(name, end, sign).removesuffix("%") for end in interval)


_MOST_CELL = 300
_EFFORTS = (
    ("steps", "steps"),
    ("reprompts", "re-prompts"),
    ("unparsed", "unparsed replies"),
    ("invalid_option", "invalid options"),
    ("refusal", "refusals"),
    ("revisions", "revisions"),
    ("questions", "questions"),
    ("oracle_calls", "oracle calls"),
    ("leaks", "leaked answers"),
    ("contacts", "contacts"),
)


def title(run: Mapping[str, Any], episodes: int) -> str:
    """What a run is: task and split, agent, model, and how many episodes have ended."""
    request = run["request"]
    task = str(request.get("task") or "navigation")
    part = str(request.get("split") or "")
    if task == "scene":
        task, part = "Generated instructions", str((request.get("options") or {}).get("kind") or "")
    named = {"r2r": "R2R", "r4r": "R4R", "reverie": "REVERIE", "objectnav": "ObjectNav"}
    said = [f"{named.get(task, task)} {part}".rstrip()]
    said += [str(request[key]) for key in ("agent", "model") if request.get(key)]
    return " · ".join([*said, f"n = {episodes}"])


def headline(run: Mapping[str, Any], ended: int, well: int, errors: int) -> str:
    """What happened, in a sentence or two.

    Args:
        run: what ``run.json`` says.
        ended: how many episodes have ended.
        well: how many of them succeeded.
        errors: how many broke, and count for nothing.
    """
    request = run["request"]
    what = " ".join(str(request[key]) for key in ("task", "split") if request.get(key))
    if not ended:
        return f"{what}: no episode has ended."
    said = f"{what}: {well} of {ended} episodes succeeded ({well / ended:.1%})."
    if errors:
        said += f" {errors} ended in an error of the machinery and count for nothing."
    if rules := _RULES.get(str(request.get("model", ""))):
        said += f" The navigator is a baseline and no language model: {rules}."
    return said


def request_table(run: Mapping[str, Any]) -> Table:
    """What was asked for, key by key; what was left at nothing is left out."""
    rows = [
        (str(key)[:_MOST_CELL], _short(value))
        for key, value in sorted(run["request"].items())
        if value not in (None, "", [], {}, False)
    ]
    rows.append(("seed", str(run.get("seed"))))
    return Table(
        "Request",
        "As run.json has it.",
        ("key", "value"),
        tuple(dict.fromkeys(rows)),
        folded="What was asked for",
    )


def _short(value: Any) -> str:
    text = _flat(value)
    return text if len(text) <= _MOST_CELL else text[: _MOST_CELL - 1] + "…"


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(part)}" for key, part in value.items())
    return "; ".join(map(_flat, value)) if isinstance(value, list) else str(value)


def run_tables(
    request: Mapping[str, Any], scores: Mapping[str, Any], took: Took
) -> Iterator[Table]:
    """Scores and what they took; nothing where no episode has ended.

    Args:
        request: what was asked, as ``run.json`` has it.
        scores: as ``RunScores.record`` has them.
        took: what all finished episodes took.
    """
    if took.episodes:
        yield _scores(scores)
        yield from published_table(request, scores)
        yield took.table()
        if rows := tuple(_given_away(scores["oracle"] or {})):
            note = (
                f"Shares of {scores['oracle']['answers']} answers, withheld or not;"
                " docs/oracles.md defines the kinds. The oracle knows:"
                f" {scores['oracle']['knows']}."
            )
            yield Table(
                "What the oracle gave away", note, ("", "answers"), tuple(r[:2] for r in rows)
            )


def _scores(said: Mapping[str, Any]) -> Table:
    rows = [(name, *_cells(name, measured)) for name, measured in said["metrics"].items()]
    note = (
        "Means over episodes with 95 % bootstrap intervals, the instructions of one path drawn"
        " together. Success: it ended strictly within 3 m of a goal. TL, NE, DTS and GP are metres"
        " and the collision rate is contacts an action."
    )
    if said["invalid"]:
        note += f" {said['invalid']} trajectories that nobody can have walked count as failed."
    return Table("Scores", note, ("metric", "mean", "95 % interval", "episodes"), tuple(rows))


def _cells(name: str, measured: Mapping[str, Any]) -> tuple[str, str, str]:
    interval = measured.get("interval")
    ends = _ends(name, interval, " to ") if interval else NOTHING
    return spoken(name, measured["mean"]), ends, str(measured["n"])


@dataclass
class Took:
    """What the finished episodes of a run took, line by line."""

    episodes: int = 0
    tally: Tally = field(default_factory=Tally)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line of ``samples.jsonl``."""
        self.episodes += 1
        self.tally.add(dict(line))
        result = line.get("result")
        counts = result.get("counts") if isinstance(result, Mapping) else None
        if isinstance(counts, Mapping):
            known = {key: counts.get(key) for key, _ in _EFFORTS}
            self.counts.update({k: each for k, each in known.items() if isinstance(each, int)})

    def table(self) -> Table:
        """In all, and an episode."""
        many, tally = self.episodes, self.tally
        rows = [
            (words, f"{total:,}", f"{total / many:.2f}")
            for key, words in _EFFORTS
            if (total := self.counts[key])
        ]
        for key, words in (
            ("calls", "model calls"),
            ("input_tokens", "input tokens"),
            ("output_tokens", "output tokens"),
        ):
            rows.append((words, f"{tally.usage[key]:,}", f"{tally.usage[key] / many:.1f}"))
        rows.append(("seconds", f"{tally.seconds:.1f}", f"{tally.seconds / many:.2f}"))
        if tally.cost_usd is None:
            rows.append(("cost in $", "unknown", "–"))
        else:
            rows.append(("cost in $", f"{tally.cost_usd:.3f}", f"{tally.cost_usd / many:.4f}"))
        note = "Episodes run side by side: their seconds add up to more than the clock's."
        return Table("What it took", note, ("", "in all", "an episode"), tuple(rows))
