"""Scores of a NavCraft run: rows of CoNavBench's Table 4, regret, diversity and failures.

Definitions. *Attempts* are samples that ended ``ok`` or ``failed``; errors of the program are
counted apart. *Single* is the share of attempts with a valid single-robot task. *Collab* is relays
per valid single task, as the paper's figures imply (36 of 77 is its 46.75 %), and per attempt.
An errand that no relay improves is a finding, not a success. *Gain* is 1 - alpha, reported with
1 - g_rate. The *better robot alone*, 1 - best_alone, is the upper bound of 1 - g_rate: a relay
saves metres of robot_1, never time against the better placed robot. *Regret* compares a relay with
the best possible relay of its task.

All instructions have one form, and room numbers add no variety. So sentences are compared by their
words, with room types without numbers ("take the cup from kitchen to the desk in office").
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from navloom.evals.navcraft.driven_relays import DrivenRelays, summarise_driving
from navloom.evals.navcraft.request import SceneSurvey, read_survey
from navloom.evals.report.intervals import Rate, ValueDistribution
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.run_kinds import read_run_of_kind
from navloom.files import check_format
from navloom.models.usage import ModelUsage, merge_usage
from navloom.tools.navcraft.relay_task import SENSIBLE

_PATH = "Single robot travel path"
_NUMBER = re.compile(r"_\d+\b")
_WORD = re.compile(r"[a-z]+")
MOST_COMPARED = 200
"""Maximum number of sentences that self-BLEU compares pairwise."""
_BLEU = 4
"""Longest n-gram of self-BLEU; distinct-n counts bigrams."""


@dataclass(frozen=True)
class TaskQuality:
    """Quality and variety of the valid tasks of one run or several.

    Attributes:
        tasks: number of tasks.
        plausible: plausibility of each task, 0 to 1 (docs/dataset.md), where it is recorded.
        sensible: share of tasks whose plausibility is at least ``SENSIBLE``.
        unambiguous: share of tasks whose sentence fits exactly one object and one asset.
        hops: links on the path of each task.
        metres: path length of each task for one robot alone.
        doors: doors on the path of each task, where the home names doors.
        storeys: storeys that the path of each task touches.
        namesakes: items with the same names elsewhere in the home.
        sentences: instructions in normalised words, for comparison.
        distinct_2: different bigrams over all bigrams (Li et al. 2016), 0 to 1.
        rooms: entropy of the end rooms' types, in bits.
        objects: entropy of the objects' names, in bits.
        types: entropy of the relays' types, in bits; None if there is no relay.
    """

    tasks: int
    plausible: ValueDistribution
    sensible: Rate
    unambiguous: Rate
    hops: ValueDistribution
    metres: ValueDistribution
    doors: ValueDistribution
    storeys: ValueDistribution
    namesakes: ValueDistribution
    sentences: tuple[str, ...]
    distinct_2: float | None
    rooms: float
    objects: float
    types: float | None

    @cached_property
    def self_bleu(self) -> float | None:
        """Mean BLEU-4 of each sentence against the others (Zhu et al. 2018), 0 to 1.

        Lower is more varied. None for fewer than two sentences. Of more than ``MOST_COMPARED``
        sentences an even sample is compared.
        """
        return self_bleu(self.sentences[:: -(-len(self.sentences) // MOST_COMPARED) or 1])

    def record(self) -> dict[str, Any]:
        """Return means, shares and entropies as JSON."""
        means = {
            name: {"mean": spread.mean, "mean_95": spread.interval, "n": len(spread.values)}
            for name in ("plausible", "hops", "metres", "doors", "storeys", "namesakes")
            for spread in [getattr(self, name)]
        }
        rates = {
            name: {**asdict(rate), "share": rate.share, "share_95": rate.interval}
            for name in ("sensible", "unambiguous")
            for rate in [getattr(self, name)]
        }
        plain = ("tasks", "distinct_2", "self_bleu", "rooms", "objects", "types")
        return {**means, **rates, **{name: getattr(self, name) for name in plain}}


def measure_quality(results: Sequence[Mapping[str, Any]]) -> TaskQuality:
    """Measure the quality and variety of valid tasks.

    Args:
        results: results ``{"phase_1", "phase_2", "navloom"}`` of samples that ended ok. ``phase_2``
            is absent or None without a relay. Runs of earlier versions have no ``worth``.
    """
    tasks = [result["phase_1"] for result in results]
    known = [worth for result in results if (worth := result["navloom"].get("worth"))]
    said = [_words(task["Task instruction"]) for task in tasks]
    pairs = [pair for words in said for pair in pairwise(words)]
    kinds = [plan["Collaborative type"] for r in results if (plan := r.get("phase_2") or {})]
    ends = [_NUMBER.sub("", task["Single robot end region"]["robot_1"]) for task in tasks]
    return TaskQuality(
        tasks=len(tasks),
        plausible=ValueDistribution.of(each.get("plausible") for each in known),
        sensible=Rate.among(each["plausible"] >= SENSIBLE for each in known),
        unambiguous=Rate.among(each["unambiguous"] for each in known),
        hops=ValueDistribution.of(len(task[_PATH]["robot_1"]) for task in tasks),
        metres=ValueDistribution.of(result["navloom"].get("solo_metres") for result in results),
        doors=ValueDistribution.of(each.get("doors") for each in known),
        storeys=ValueDistribution.of(each.get("storeys") for each in known),
        namesakes=ValueDistribution.of(each.get("namesakes") for each in known),
        sentences=tuple(" ".join(words) for words in said),
        distinct_2=len(set(pairs)) / len(pairs) if pairs else None,
        rooms=entropy(ends),
        objects=entropy(task["Target object"] for task in tasks),
        types=entropy(kinds) if kinds else None,
    )


def self_bleu(sentences: Sequence[str]) -> float | None:
    """Return the mean BLEU-4 of each sentence against all others, 0 to 1; None for below two."""
    from sacrebleu.metrics.bleu import BLEU

    if len(sentences) < 2:
        return None
    metric = BLEU(tokenize="none", effective_order=True, max_ngram_order=_BLEU)
    scores = [
        metric.sentence_score(each, [*sentences[:i], *sentences[i + 1 :]]).score
        for i, each in enumerate(sentences)
    ]
    return sum(scores) / len(scores) / 100


def entropy(values: Iterable[str]) -> float:
    """Return the Shannon entropy of the value frequencies in bits; 0 for no values."""
    counts = Counter(values)
    shares = [count / counts.total() for count in counts.values()]
    return -sum(share * math.log2(share) for share in shares) + 0.0


def _words(sentence: str) -> list[str]:
    return _WORD.findall(_NUMBER.sub("", sentence).casefold().replace("_", " "))


NO_MERITS = measure_quality([])
"""Quality of an empty set of tasks."""


@dataclass(frozen=True)
class PublishedScore:
    """One row of CoNavBench's Table 4, as printed."""

    model: str
    single: float
    collab: float
    gain_max: float
    gain_mean: float
    cost_usd: float
    seconds: float


PUBLISHED = (
    PublishedScore("Gemini 2.0-flash", 0.47, 0.0851, 0.2972, 0.2232, 0.265, 16.82),
    PublishedScore("Gemini 2.5-flash-nothink", 0.41, 0.0976, 0.1318, 0.0924, 0.902, 18.71),
    PublishedScore("Claude 3-5-haiku", 0.51, 0.0390, 0.5007, 0.3706, 1.142, 14.94),
    PublishedScore("GPT 4o", 0.77, 0.4675, 0.7523, 0.2107, 5.242, 30.85),
    PublishedScore("GPT 4o-mini", 0.64, 0.2656, 0.4732, 0.2512, 0.360, 21.41),
    PublishedScore("GPT 4.1-mini", 0.68, 0.2353, 0.4280, 0.1910, 0.494, 17.92),
)
"""CoNavBench, Table 4."""


@dataclass(frozen=True)
class Diversity:
    """Diversity of the valid tasks of one profile, or of all profiles.

    Attributes:
        profile: name of the profile; ``all`` for all together.
        tasks: number of valid tasks.
        objects: number of different object names.
        instructions: number of different instructions.
        pairs: number of different (scene, target region, end region).
        relays: number of tasks with a relay.
        type_a1: number of relays of Type-A1.
    """

    profile: str
    tasks: int
    objects: int
    instructions: int
    pairs: int
    relays: int
    type_a1: int


@dataclass(frozen=True)
class RunScore:
    """All scores of a run that a report shows.

    Attributes:
        name: the run's folder.
        kind: ``single`` or ``collab``.
        model: ``provider/name``.
        scenes: names of the homes with at least one attempt.
        single: valid single tasks per attempt; None if they come from a source run.
        relays: relays per valid single task.
        relays_per_attempt: relays per attempt.
        not_worth_it: errands that no relay improves: a finding.
        declined: errands that a relay improves, where the model said that none does.
        errors: samples that ended in a program error.
        gain_alpha: 1 - alpha of each relay.
        gain_g: 1 - g_rate of each relay.
        gain_alone: 1 - best_alone of each relay: time saved by the better placed robot alone.
        regret_g: g_rate over the best, minus 1, of each relay.
        regret_alpha: alpha minus the best, of each relay.
        regret_asked: alpha minus the best alpha among relays as requested, of each relay.
        cost_usd: cost of all attempts and errors; None if a price is unknown.
        seconds: duration of each attempt.
        tokens: input and output tokens.
        models: calls, tokens, seconds and cost by model and role.
        reasons: failure reasons with counts, most frequent first.
        error_messages: error messages with counts, most frequent first.
        diversity: diversity of all tasks, then by profile if there are several.
        scenes_used: number of homes with planned attempts; None if not recorded.
        scenes_skipped: number of skipped homes by reason, most frequent first.
        merits: quality and variety of the valid tasks.
        left: planned attempts that have not ended; None if not recorded.
        driven: summary of the driven relays, if any were driven.
    """

    name: str
    kind: str
    model: str
    scenes: frozenset[str]
    single: Rate | None
    relays: Rate
    relays_per_attempt: Rate
    not_worth_it: int
    declined: int
    errors: int
    gain_alpha: ValueDistribution
    gain_g: ValueDistribution
    gain_alone: ValueDistribution
    regret_g: ValueDistribution
    regret_alpha: ValueDistribution
    regret_asked: ValueDistribution
    cost_usd: float | None
    seconds: ValueDistribution
    tokens: tuple[int, int]
    reasons: tuple[tuple[str, int], ...]
    error_messages: tuple[tuple[str, int], ...]
    diversity: tuple[Diversity, ...] = field(default=())
    scenes_used: int | None = None
    scenes_skipped: tuple[tuple[str, int], ...] = ()
    left: int | None = None
    models: tuple[ModelUsage, ...] = ()
    merits: TaskQuality = NO_MERITS
    driven: DrivenRelays | None = None

    @property
    def is_baseline(self) -> bool:
        """True if a rule-based builtin model made the tasks, not a language model."""
        return self.model.startswith("builtin/")

    @property
    def attempts(self) -> int:
        """Number of samples that ended ok or failed."""
        return self.relays_per_attempt.of


def score_run(path: Path | str) -> RunScore:
    """Score the run in a folder.

    Raises:
        RunError: the folder is not a run, or is broken.
    """
    run = read_run_of_kind(path, "single", "collab")
    samples, errors = read_samples(path), read_errors(path)
    known = read_survey(Path(path))
    # Resolved, since "." and ".." would name no run.
    name = Path(path).resolve().name
    with check_format(f"{path}: a sample", "a NavCraft task"):
        return score_samples(run, samples, errors, name=name, known=known)


def score_samples(
    run: Mapping[str, Any],
    samples: Sequence[Mapping[str, Any]],
    errors: Sequence[Mapping[str, Any]] = (),
    *,
    name: str = "run",
    known: SceneSurvey | None = None,
) -> RunScore:
    """Score a run from its records.

    Args:
        run: content of ``run.json``.
        samples: lines of ``samples.jsonl``.
        errors: lines of ``errors.jsonl``. Samples that later ended are not counted.
        name: name of the run.
        known: content of ``scenes.json``.
    """
    request = run.get("request", {})
    singles = [s for s in samples if (s.get("result") or {}).get("phase_1")]
    relays = [s for s in singles if s["status"] == "ok" and s["result"].get("phase_2")]
    ended = {sample["id"] for sample in samples}
    broken = [error for error in errors if error["id"] not in ended]
    collab = run.get("kind") == "collab"
    valid = relays if collab else [s for s in singles if s["status"] == "ok"]
    by = Counter(
        s["result"]["navloom"].get("decided_by")
        for s in singles
        if collab and s["status"] == "ok" and not s["result"].get("phase_2")
    )

    def spread(key: str) -> ValueDistribution:
        return ValueDistribution.of(sample["result"]["navloom"].get(key) for sample in relays)

    return RunScore(
        name=name,
        kind=str(run.get("kind")),
        model=str(request.get("model", "unknown")),
        scenes=frozenset(sample["scene"] for sample in samples),
        single=None if request.get("source") else Rate(len(singles), len(samples)),
        relays=Rate(len(relays), len(singles) if collab else 0),
        relays_per_attempt=Rate(len(relays), len(samples)),
        not_worth_it=by.total() - by["model"],
        declined=by["model"],
        errors=len(broken),
        gain_alpha=spread("gain_alpha"),
        gain_g=spread("gain_g"),
        gain_alone=ValueDistribution(tuple(1 - rate for rate in spread("best_alone").values)),
        regret_g=spread("regret_g"),
        regret_alpha=spread("regret_alpha"),
        regret_asked=spread("regret_asked"),
        cost_usd=_cost([*samples, *broken]),
        seconds=ValueDistribution.of(s.get("seconds") or 0.0 for s in samples),
        tokens=_tokens([*samples, *broken]),
        models=_models([*samples, *broken]),
        reasons=_ranked(str(s.get("reason")) for s in samples if s["status"] == "failed"),
        error_messages=_ranked(str(e.get("message"))[:200] for e in broken),
        diversity=_diversity(valid),
        merits=measure_quality([sample["result"] for sample in valid]),
        scenes_used=None if known is None else len(known.scenes),
        scenes_skipped=() if known is None else known.reasons(),
        left=_left(request, len(samples) + len(broken)),
        driven=summarise_driving(samples),
    )


def _left(request: Mapping[str, Any], ended: int) -> int | None:
    """Return the number of open attempts; None if the run has a source or no count."""
    planned = request.get("n")
    if not isinstance(planned, int) or request.get("source"):
        return None
    return max(0, planned - ended)


def _cost(records: Iterable[Mapping[str, Any]]) -> float | None:
    total = 0.0
    for record in records:
        if record.get("cost_usd") is None:
            return None
        total += record["cost_usd"]
    return total


def _tokens(records: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    usages = [record.get("usage") or {} for record in records]
    return (
        sum(int(usage.get("input_tokens", 0)) for usage in usages),
        sum(int(usage.get("output_tokens", 0)) for usage in usages),
    )


def _models(records: Iterable[Mapping[str, Any]]) -> tuple[ModelUsage, ...]:
    parts = (ModelUsage.read(p) for record in records for p in record.get("models") or ())
    return tuple(merge_usage(parts))


def _ranked(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))


def profile_name(profile: Mapping[str, Any] | None) -> str:
    """Return a profile in a few words: ``33, Female, Married, Lawyer``; ``none`` for no profile."""
    if not profile:
        return "none"
    keys = ("Age", "Gender", "Marital Status", "Occupation")
    return ", ".join(str(profile[key]) for key in keys if key in profile)


def _diversity(valid: Sequence[Mapping[str, Any]]) -> tuple[Diversity, ...]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for sample in valid:
        groups.setdefault(profile_name(sample.get("profile")), []).append(sample)
    by_profile = [_diverse(name, groups[name]) for name in sorted(groups)]
    return (_diverse("all", valid), *(by_profile if len(by_profile) > 1 else ()))


def _diverse(name: str, samples: Sequence[Mapping[str, Any]]) -> Diversity:
    tasks = [sample["result"]["phase_1"] for sample in samples]
    types = [(row["result"].get("phase_2") or {}).get("Collaborative type") for row in samples]
    pairs = {
        (
            sample["scene"],
            task["Single robot target object region"]["robot_1"],
            task["Single robot end region"]["robot_1"],
        )
        for sample, task in zip(samples, tasks, strict=True)
    }
    return Diversity(
        profile=name,
        tasks=len(tasks),
        objects=len({task["Target object"] for task in tasks}),
        instructions=len({task["Task instruction"] for task in tasks}),
        pairs=len(pairs),
        relays=sum(kind is not None for kind in types),
        type_a1=sum(kind == "Type-A1" for kind in types),
    )
