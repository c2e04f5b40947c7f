"""Fault table: many samples of a real graph under each kind of fault, each checked.

``navcraft_single`` runs on the demo homes through `navloom.evals.runner.run_batch`, over the
loopback with a provider's own client. The same samples run without faults first. So the right
status of each sample is known beforehand:

- no fault, or a temporary fault of the server: the same status, task and number of calls as
  without faults;
- a permanent fault of the server: ``error``;
- a temporary fault of the model: ``ok``, perhaps with another task;
- a permanent fault of the model: ``failed``.
"""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from langchain_core.callbacks import BaseCallbackHandler

from navloom.evals.progress import Summary
from navloom.evals.run_folder import RunFolder, read_errors, read_samples
from navloom.evals.runner import run_batch
from navloom.evals.session import Sample, Session, attempt_id, sample_seed
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models import get_model, model_call
from navloom.models.call_failure import RetryPolicy
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.testing.catalogue import Kind
from tests.testing.fault_plan import ConversationPlan

HOMES = ("demo:flat", "demo:house", "demo:villa")
_KEY = "not-a-real-key-000"
_CALM_PATIENCE_S = 60.0
_COUNTED = ("calls", "input_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Settings of the table.

    Attributes:
        samples: samples under each kind.
        concurrency: samples in progress at once.
        seed: seed of the samples and of their faults.
        wire: "openai" or "anthropic".
        share: share of the conversations with a fault, 0 to 1.
        for_good: share of these with a permanent fault, 0 to 1.
        patience: seconds that a client waits for a silent server.
    """

    samples: int = 200
    concurrency: int = 16
    seed: int = 0
    wire: str = "openai"
    share: float = 0.4
    for_good: float = 0.1
    patience: float = 3.0


@dataclass(frozen=True)
class Row:
    """Results of the samples under one kind of fault.

    Attributes:
        name: the kind's number and name.
        ended: number of samples that ended ok, failed and in error.
        met: samples with the fault, and those with a permanent one.
        calls: requests that reached the server.
        retries: calls that were retried.
        seconds: wall time.
        wrong: one line for each sample with a wrong status.
    """

    name: str
    ended: Counter[str]
    met: tuple[int, int]
    calls: int
    retries: int
    seconds: float
    wrong: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Either ``as expected``, or the number of wrong samples and the first of them."""
        if not self.wrong:
            return "as expected"
        return f"{len(self.wrong)} WRONG: {self.wrong[0]}"


@dataclass(frozen=True)
class _Job:
    """One attempt: the real graph with a real client."""

    well: Any
    nowhere: Any
    """Model whose server refuses every connection."""
    lost: frozenset[str]
    """Samples that use ``nowhere``."""
    model: str = "builtin/loopback"
    """Name of a model without cost."""

    def build(self, checkpointer: Any) -> Any:
        return navcraft_single.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        return {"seed": sample.seed}

    def context(self, sample: Sample, model: Any = None) -> navcraft_single.Context:
        own = self.nowhere if sample.id in self.lost else self.well
        return navcraft_single.Context(scene=sample.scene, model=model or own)

    def record(self, _: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


class _Attempts(BaseCallbackHandler):
    """Counter of model calls, including those that never reach the server."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        with self._lock:
            self.count += 1


async def fault_table(
    kinds: Sequence[Kind], setting: Setting, *, each: Any = lambda _: None
) -> list[Row]:
    """Run the samples without faults, then under each kind.

    Args:
        kinds: the kinds of fault.
        setting: the settings.
        each: called with each finished row.

    Returns:
        A row without faults, then one for each kind.
    """
    samples = [_sample(number, setting.seed) for number in range(setting.samples)]
    rows = []
    calm, lines = await _run(None, samples, setting, {})
    rows.append(calm)
    each(calm)
    for kind in kinds:
        row, _ = await _run(kind, samples, setting, lines)
        rows.append(row)
        each(row)
    return rows


def _sample(number: int, seed: int) -> Sample:
    scene, attempt = HOMES[number % len(HOMES)], number // len(HOMES)
    name = attempt_id(scene, attempt)
    return Sample(name, sample_seed(seed, name), scene, attempt)


async def _run(
    kind: Kind | None, samples: list[Sample], setting: Setting, calm: Mapping[str, Any]
) -> tuple[Row, dict[str, Any]]:
    plan = _plan(kind, setting)
    lost = _lost(kind, samples, plan)
    attempts = _Attempts()
    began = time.monotonic()
    thinker = reply_with(get_model("builtin/heuristic"))
    with (
        ModelServer(thinker, faults=plan) as server,
        tempfile.TemporaryDirectory() as path,
        short_waits(),
    ):
        at = server.url if setting.wire == "anthropic" else server.openai_url
        models = [_client(url, kind, setting, attempts) for url in (at, _closed_url())]
        job = _Job(models[0], models[1], lost)
        with RunFolder(path, kind="single", request={}, seed=setting.seed) as folder:
            summary = await run_batch(
                folder, samples, job, Session(max_connections=setting.concurrency)
            )
        lines = _lines(Path(path))
        calls, broken = len(server.calls), tuple(server.errors)
    wrong = [*broken, *_totals(lines, samples, summary)]
    fates = {sample.id: plan.fate(str(sample.seed)) for sample in samples}
    for sample in samples:
        wrong += _misplaced(kind, fates[sample.id], lines.get(sample.id), calm, setting)
    ended = Counter(line["status"] for line in lines.values())
    replies = sum(line["usage"]["calls"] for line in lines.values())
    row = Row(
        name="no fault" if kind is None else f"{kind.number} {kind.name}",
        ended=ended,
        met=(
            sum(fate is not None for fate in fates.values()),
            sum(fate is not None and fate.for_good for fate in fates.values()),
        ),
        calls=calls,
        retries=attempts.count - replies - ended["error"],
        seconds=time.monotonic() - began,
        wrong=tuple(wrong),
    )
    return row, lines


def _plan(kind: Kind | None, setting: Setting) -> ConversationPlan:
    if kind is None:
        return ConversationPlan(_no_fault, share=0, for_good=0)
    return ConversationPlan(
        kind.make,
        share=setting.share,
        for_good=setting.for_good,
        times=kind.times,
        # Otherwise the same samples would meet every kind.
        seed=setting.seed * 100 + kind.number,
    )


def _no_fault(*_: Any) -> Any:
    raise AssertionError("a plan without faults drew one")


def _lost(kind: Kind | None, samples: list[Sample], plan: ConversationPlan) -> frozenset[str]:
    """Return the samples whose server is missing; a listener cannot refuse one client only."""
    if kind is None or kind.name != "refused":
        return frozenset()
    fates = {sample.id: plan.fate(str(sample.seed)) for sample in samples}
    return frozenset(name for name, fate in fates.items() if fate is not None and fate.for_good)


def _closed_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def _client(url: str, kind: Kind | None, setting: Setting, attempts: _Attempts) -> Any:
    model = get_model(
        f"{setting.wire}/{'gpt-4o' if setting.wire == 'openai' else 'claude-haiku-4-5'}",
        base_url=url,
        api_key=_KEY,
        attempt_timeout=setting.patience if kind is not None and kind.silent else _CALM_PATIENCE_S,
        extra={"streaming": True} if kind is not None and kind.streamed else None,
    )
    model.callbacks = [attempts]
    return model


@contextmanager
def short_waits() -> Iterator[None]:
    """Wait tenths of a second between attempts instead of seconds."""
    usual = model_call.retry_policy_of

    def hasty(*given: Any, **named: Any) -> RetryPolicy:
        return replace(usual(*given, **named), first_wait=0.2, longest_wait=1.0)

    with mock.patch.object(model_call, "retry_policy_of", hasty):
        yield


def _lines(path: Path) -> dict[str, dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = {}
    for line in [*read_samples(path), *read_errors(path)]:
        if line["id"] in lines:
            line = {**line, "status": "twice"}
        lines[line["id"]] = line
    return lines


def _totals(lines: Mapping[str, Any], samples: Sequence[Sample], summary: Summary) -> Iterator[str]:
    told = Counter(ok=summary.ok, failed=summary.failed, error=summary.error)
    counted = Counter(line["status"] for line in lines.values())
    if +told != counted:
        yield f"the summary counts {dict(+told)}, the files {dict(counted)}"
    if len(lines) != len(samples) or summary.left:
        yield f"{len(samples) - len(lines)} of {len(samples)} samples did not end"


def _misplaced(
    kind: Kind | None, fate: Any, line: Any, calm: Mapping[str, Any], setting: Setting
) -> Iterator[str]:
    """Yield the errors in a sample's status and result."""
    if line is None:
        return
    right = (
        "ok" if kind is None or fate is None or not fate.for_good else kind.for_good(setting.wire)
    )
    if line["status"] != right:
        yield f"{line['id']} is {line['status']}, not {right} ({line['message']})"
    elif kind is not None and right == "ok":
        same = fate is None or kind.blames(setting.wire) == "server"
        if same and _told(line) != _told(calm[line["id"]]):
            yield f"{line['id']} is not what it is without faults"


def _told(line: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the part of a sample that no fault of a server may change."""
    return line["result"], *(line["usage"][key] for key in _COUNTED)


def write_table(rows: Sequence[Row]) -> str:
    """Format the rows as text."""
    head = ("fault", "samples", "ok", "failed", "error", "met", "for good", "calls", "retries", "s")
    cells = [(*head, "verdict"), *map(_cells, rows)]
    wide = [max(len(row[i]) for row in cells) for i in range(len(head) + 1)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in (0, len(head)) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in wide))
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    ended = [row.ended[status] for status in ("ok", "failed", "error")]
    numbers = [row.ended.total(), *ended, *row.met, row.calls, row.retries]
    return (row.name, *map(str, numbers), f"{row.seconds:.1f}", row.verdict)
