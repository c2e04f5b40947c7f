"""The questions of a run: taken from its samples, each once, as many as were asked for.

Samples of one scene run at the same time and do not know of each other, so that what repeats an
earlier sample's question is dropped here, in the order of the samples' ids. Written are

    qa/ID_QA.json        the benchmark's own form, one file a scene
    truth/ID_truth.json  of each question what could be found out, and what is true for each body
    balance.json         what they add up to, and what is missing
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom.errors import RunError
from navloom.evals.capnav.balance import Balance, Facts, facts_of, truth_record
from navloom.files import make_folder, write_whole
from navloom.tools.capnav.grounding import duplicate_of
from navloom.tools.capnav.named_places import Places

BALANCE = "balance.json"
_ENDS = ("start_detail", "end_detail")


@dataclass(frozen=True)
class Kept:
    """One question of the dataset.

    Attributes:
        question: in the benchmark's form.
        grounding: what could be found out about its details.
        sample: the sample that made it.
        truth: what is true of it; see :func:`navloom.evals.capnav.balance.truth_record`.
    """

    question: dict[str, Any]
    grounding: dict[str, Any]
    sample: str
    truth: dict[str, Any]

    @property
    def facts(self) -> Facts:
        """What it counts as."""
        ends = self.question["nodes_involved"]
        return facts_of(self.truth, ends["start"], ends["end"])


@dataclass
class Collected:
    """What the samples of a run hold.

    Attributes:
        by_scene: the questions kept, by the scene's portable name, at most its quota and what
            fills another scene's gap.
        spare: accepted questions beyond that.
        duplicates: accepted questions that repeat an earlier sample's.
        rejected: how often each rule was broken.
    """

    by_scene: dict[str, list[Kept]] = field(default_factory=dict)
    spare: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """Questions kept."""
        return sum(len(kept) for kept in self.by_scene.values())

    def missing(self, quotas: Mapping[str, int], n: int) -> dict[str, int]:
        """How many each scene is to be asked for yet, so that there are ``n``."""
        left, wanted = n - self.count, {}
        for name, quota in quotas.items():
            lacking = min(left, quota - len(self.by_scene.get(name, ())))
            if lacking > 0:
                wanted[name] = lacking
                left -= lacking
        return wanted

    def facts(self) -> list[Facts]:
        """What all of them count as."""
        return [kept.facts for name in sorted(self.by_scene) for kept in self.by_scene[name]]

    def details(self) -> dict[str, int]:
        """How many details are verified and how many unverifiable."""
        counted = Counter(
            kept.grounding[key]["status"]
            for many in self.by_scene.values()
            for kept in many
            for key in _ENDS
        )
        return {status: counted[status] for status in ("verified", "unverifiable")}

    def record(self, quotas: Mapping[str, int], n: int) -> dict[str, Any]:
        """As JSON: what ``balance.json`` holds."""
        short = {
            name: quota - len(self.by_scene.get(name, ()))
            for name, quota in quotas.items()
            if quota > len(self.by_scene.get(name, ()))
        }
        return {
            "asked": n,
            "accepted": self.count,
            "short": n - self.count,
            "short_by_scene": short if self.count < n else {},
            "spare": self.spare,
            "duplicates_dropped": self.duplicates,
            "rules_broken": dict(sorted(self.rejected.items())),
            "details": self.details(),
            "balance": Balance.of(self.facts()).record(),
        }


def collect(
    rows: Iterable[Mapping[str, Any]],
    quotas: Mapping[str, int],
    n: int,
    places_of: Callable[[str], Places],
) -> Collected:
    """The questions of finished samples.

    Args:
        rows: lines of ``samples.jsonl``; their order does not matter.
        quotas: how many of each scene.
        n: how many in all.
        places_of: the places of a scene, by its name.
    """
    found = Collected()
    extra: dict[str, list[Kept]] = {}
    for row in sorted(rows, key=lambda each: (each["scene"], each["attempt"])):
        name, result = row["scene"], row.get("result") or {}
        found.rejected.update(
            fault["code"] for each in result.get("rejected", []) for fault in each["violations"]
        )
        kept = found.by_scene.setdefault(name, [])
        over = extra.setdefault(name, [])
        for question, grounding in zip(
            result.get("questions", []), result.get("grounding", []), strict=True
        ):
            there = [each.question for each in (*kept, *over)]
            if duplicate_of(question, there) is not None:
                found.duplicates += 1
                continue
            room = kept if len(kept) < quotas.get(name, 0) else over
            room.append(_kept(question, grounding, row["id"], places_of(name)))
    _fill(found, extra, n)
    return found


def _kept(question: dict[str, Any], grounding: dict[str, Any], sample: str, places: Places) -> Kept:
    ends = question["nodes_involved"]
    truth = truth_record(places.truth, ends["start"], ends["end"])
    return Kept(question, grounding, sample, truth)


def _fill(found: Collected, extra: dict[str, list[Kept]], n: int) -> None:
    """Let one scene's spare questions stand in for what another lacks, one scene after another."""
    while found.count < n and any(extra.values()):
        for name in sorted(extra):
            if extra[name] and found.count < n:
                found.by_scene[name].append(extra[name].pop(0))
    found.spare = sum(len(many) for many in extra.values())


def write_questions(
    run: Path, collected: Collected, ids: Mapping[str, str], *, qa: Path | None = None
) -> Path:
    """Write the dataset's files, each whole or not at all.

    Args:
        run: the run's folder.
        collected: what to write.
        ids: the id of each scene, by its portable name.
        qa: where the benchmark's files go; ``qa`` in the run's folder unless given.

    Returns:
        The folder of the benchmark's files.

    Raises:
        RunError: a file cannot be written.
    """
    folder, beside = qa or run / "qa", run / "truth"
    make_folder(folder)
    make_folder(beside)
    for name, many in collected.by_scene.items():
        if many:
            _write(folder / f"{ids[name]}_QA.json", [kept.question for kept in many])
            _write(beside / f"{ids[name]}_truth.json", _truths(ids[name], many))
    return folder


def read_balance(run: Path) -> dict[str, Any]:
    """What a run's ``balance.json`` says.

    Raises:
        RunError: it is not there, or broken.
    """
    file = run / BALANCE
    try:
        record = json.loads(file.read_bytes())
        if not {"asked", "accepted", "balance"} <= set(record):
            raise ValueError
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}; a session writes it") from error
    except (ValueError, TypeError, RecursionError):
        raise RunError(f"{file} is broken: the run's own command writes it anew") from None
    return dict(record)


def _truths(scene: str, many: Sequence[Kept]) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"{scene}_q{number:02d}",
            "question": kept.question["question"],
            "start": kept.question["nodes_involved"]["start"],
            "end": kept.question["nodes_involved"]["end"],
            "sample": kept.sample,
            "grounding": kept.grounding,
            **kept.truth,
        }
        for number, kept in enumerate(many, 1)
    ]


def _write(path: Path, value: Any) -> None:
    write_whole(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())
