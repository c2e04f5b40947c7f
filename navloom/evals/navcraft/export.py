"""Export of a run's valid tasks as a dataset of NavCraft tasks (docs/dataset.md).

A line is ``{"scene", "profile", "phase_1", "phase_2", "navloom"}``. The phases have exactly the
output keys of CoNavBench A.10.1 and A.11.1; ``navloom`` holds the rest. Lines are sorted by sample
id, keys have a fixed order, floats have six decimals and no line holds a time. So a run exports the
same bytes however often it was interrupted.

A condition is ``NAME>=NUMBER`` (also ``<=``, ``>``, ``<``, ``=``), such as ``plausible>=0.6``. A
measure that a task lacks, such as doors in a home without door data, satisfies no condition.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from pathlib import Path
from typing import Any, Self

from navloom.errors import RunError, UsageError, did_you_mean
from navloom.evals.run_folder import read_samples, recorded_homes
from navloom.evals.run_kinds import read_run_of_kind
from navloom.files import make_folder, write_run_file
from navloom.tools.navcraft.relay import RelayAnswer
from navloom.tools.navcraft.task_paths import SoloTaskAnswer

_WORTH = ("plausible", "carry", "room", "on", "unambiguous", "namesakes", "doors", "storeys")
_RECORDED = ("alpha", "g_rate", "best_alone", "regret_alpha", "regret_g")
MEASURES = (*_WORTH, "hops", "metres", *_RECORDED)
"""Measures that a condition may name (see docs/dataset.md). ``unambiguous`` is 1 or 0."""
_SIGNS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt, "=": eq}
_CONDITION = re.compile(r"\s*([a-z_0-9]+)\s*(>=|<=|>|<|=)\s*(-?\d*\.?\d+)\s*")


@dataclass(frozen=True)
class ExportFilter:
    """A condition on one measure of a task; parse it with :meth:`read`."""

    measure: str
    sign: str
    number: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a condition such as ``plausible>=0.6``.

        Raises:
            UsageError: the text has another form or names an unknown measure.
        """
        match = _CONDITION.fullmatch(text[:100])
        if match is None:
            raise UsageError(f"--keep {text[:60]!r} is no condition: write plausible>=0.6")
        name, sign, number = match.groups()
        if name not in MEASURES:
            near = did_you_mean(name, MEASURES)
            known = ", ".join(MEASURES)
            raise UsageError(f"--keep {text!r}: nothing measures '{name}': choose {known}.{near}")
        return cls(name, sign, float(number))

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Check whether a task satisfies the condition.

        Args:
            record: the ``navloom`` part of a line or of a sample's result.
        """
        value = _measured(self.measure, record)
        if value is None:
            return False
        close = self.sign == "=" and math.isclose(value, self.number, abs_tol=1e-6)
        return close or _SIGNS[self.sign](value, self.number)


def _measured(name: str, record: Mapping[str, Any]) -> float | None:
    value = {
        "hops": sum(record.get("legs") or ()) or None,
        "metres": record.get("solo_metres"),
        **{each: record.get(each) for each in _RECORDED},
        **{each: (record.get("worth") or {}).get(each) for each in _WORTH},
    }[name]
    return None if value is None else float(value)


FORMATS = ("navcraft",)

_NAVLOOM = (
    "id",
    "seed",
    "model",
    "homes",
    "tau",
    "strict_helper",
    "object_id",
    "end_asset",
    "end_asset_id",
    "transfer_asset",
    "transfer_asset_id",
    "solo_metres",
    "legs",
    "worth",
    "alpha",
    "alpha_other",
    "r1_rate",
    "g_rate",
    "gain_alpha",
    "gain_g",
    "best_alone",
    "best_alpha",
    "best_g_rate",
    "regret_alpha",
    "regret_g",
    "asked",
    "regret_asked",
)
"""Order of the known keys. Other keys follow, sorted by name."""
_DECIMALS = 6


def export_run(
    run_dir: Path | str,
    out: Path | str,
    format: str = "navcraft",  # noqa: A002
    keep: Sequence[str] = (),
) -> int:
    """Write a run's valid tasks to a dataset file, in one atomic step.

    Args:
        run_dir: the run's folder.
        out: the file to write. It is replaced if it exists, and its folder is created.
        format: ``navcraft``, so far the only format.
        keep: conditions that each exported task must satisfy, such as ``plausible>=0.6``.

    Returns:
        Number of tasks written; 0 leaves an empty file.

    Raises:
        RunError: the folder is not a run or is broken, or the file cannot be written.
        UsageError: the format is unknown, a condition is invalid, or ``out`` is a folder.
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(
            f"unknown export format '{format}': known are {known}.{did_you_mean(format, FORMATS)}"
        )
    target = Path(out)
    if target.is_dir():
        raise UsageError(f"--out {target} is a folder: give a file, such as {target}/tasks.jsonl")
    conditions = [ExportFilter.read(each) for each in keep]
    lines = [
        line for line in export_lines(run_dir) if all(c.holds(line["navloom"]) for c in conditions)
    ]
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    make_folder(target.parent)
    write_run_file(target, text.encode())
    return len(lines)


def export_lines(run_dir: Path | str) -> list[dict[str, Any]]:
    """Return a run's valid tasks as dataset lines, sorted by sample id.

    A task is valid if its sample ended ``ok``. In a ``collab`` run only relays are tasks: an errand
    that no relay improves is a finding.

    Raises:
        RunError: the folder is not a run or is broken.
    """
    run = read_run_of_kind(run_dir, "single", "collab", "team")
    collab = run.get("kind") == "collab"
    lines = []
    for sample in read_samples(run_dir):
        result = sample.get("result")
        if sample.get("status") != "ok" or not isinstance(result, dict):
            continue
        if collab and result.get("phase_2") is None:
            continue
        if run.get("kind") == "team" and result.get("team") is None:
            continue
        lines.append(task_line(run, sample))
    return lines


def task_line(run: Mapping[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dataset line of one sample that has a task.

    Args:
        run: content of ``run.json``.
        sample: a line of ``samples.jsonl``, with a result.

    Raises:
        RunError: the result does not have the form of a task.
    """
    result = sample["result"]
    where = f"sample {sample['id']}"
    phase_2 = result.get("phase_2")
    try:
        return {
            "scene": sample["scene"],
            "profile": sample.get("profile"),
            "phase_1": {key: _plain(result["phase_1"][key]) for key in SoloTaskAnswer.key_names()},
            "phase_2": phase_2 and {key: _plain(phase_2[key]) for key in RelayAnswer.key_names()},
            **({"team": _plain(result["team"])} if "team" in result else {}),
            "navloom": _rest(run, sample, result),
        }
    except (KeyError, TypeError) as error:
        raise RunError(
            f"{where}: its result has not the form of a task ({error}): the run was made by another"
            " version or changed by other hands"
        ) from error


def _rest(
    run: Mapping[str, Any], sample: Mapping[str, Any], result: dict[str, Any]
) -> dict[str, Any]:
    request = run["request"]
    rest: dict[str, Any] = {"id": sample["id"], "seed": sample.get("seed")}
    rest |= {key: request[key] for key in ("model", "tau", "strict_helper") if key in request}
    if str(sample.get("scene")).startswith("home:"):
        rest["homes"] = recorded_homes(run)
    if isinstance(result.get("prompts"), dict):
        rest["prompts"] = result["prompts"]
    rest |= result["navloom"]
    order = [key for key in _NAVLOOM if key in rest]
    order += sorted(rest.keys() - set(order))
    return {key: _plain(rest[key]) for key in order}


def _plain(value: Any) -> Any:
    """Return the value with all floats rounded, at any depth. Minus zero becomes zero."""
    if isinstance(value, float):
        return round(value, _DECIMALS) + 0.0
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
