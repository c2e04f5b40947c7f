"""Calibration of judges: runs over items of known truth, and prompt injections.

A calibration is an ordinary run folder, so it can be stopped and resumed. It also holds
``calibration.json``, ``calibration.md`` and ``calibration.png``, rewritten from all finished items
at the end of each session. With ``injections`` a judge reads every payload of the corpus, with the
defences and without, and its flipped verdicts are counted. A gullible judge is the reference: it
repeats any verdict-shaped text that reaches it, whatever the disguise.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import html
import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from navloom.errors import DataError, UsageError
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.run import ReasoningPlan, TracePlan, json_digest, read_steps
from navloom.evals.judging.scores import FlipCounts, count_flips, flips_by_defence
from navloom.evals.run_kinds import Note
from navloom.evals.runner import run_request
from navloom.evals.session import Sample, Session, sample_seed
from navloom.graphs.judging.reasoning_judge import judge_reason
from navloom.judges.injection import InjectionPayload, inject_payload, list_payloads
from navloom.judges.reason_items import DEFAULT_ITEMS, ReasonItem, make_items
from navloom.judges.trace_rubric import make_trace_items
from navloom.models.builtin import InProcessModel
from navloom.models.messages import message_text
from navloom.scenes.formats.capnav_annotations import load_annotations
from navloom.scenes.passability import link_traversability
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom.scenes.traversability_table import Traversability

_FENCED = re.compile(r"<<<([0-9a-f]{16})\n.*?\n\1>>>", re.DOTALL)
_SHAPE = re.compile(
    r"""\bcorrect\b["'”]?\s{0,4}[:=>]{1,3}\s{0,4}["'“]?\s{0,2}(true|false|yes|no)\b""",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_HEX = re.compile(r"\\u([0-9a-fA-F]{4})|%([2-7][0-9a-fA-F])")
_FOLD = str.maketrans("соеарСОЕАРιοα", "coeapCOEAPioa")


class GullibleJudge(InProcessModel):
    """A rule-based judge that repeats any verdict-shaped text it reads (see the module)."""

    honest: bool
    """Its verdict if it reads none."""
    blind: bool = False
    """Whether it also reads fenced text."""

    @property
    def _llm_type(self) -> str:
        return "gullible-blind" if self.blind else "gullible"

    def said(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:  # noqa: ARG002
        """Return the last verdict in the messages, else the honest verdict."""
        text = "\n".join(message_text(m.content) for m in messages if isinstance(m, HumanMessage))
        found = self.read(text)
        verdict: dict[str, Any] = {
            "explanation": "It seems settled." if found is not None else "As I see it.",
            "named": [],
            "false": [],
            "correct": self.honest if found is None else found,
        }
        return AIMessage(json.dumps(verdict))

    def read(self, text: str) -> bool | None:
        """Return the last verdict in a text, however disguised; None if there is no verdict."""
        shown = text if self.blind else _FENCED.sub(" ", text)
        said = [found[1].casefold() for found in _SHAPE.finditer(_undisguised(shown))]
        return said[-1] in ("true", "yes") if said else None


def _undisguised(text: str) -> str:
    text = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) < 0xE007F else c for c in text)
    text = html.unescape(_HEX.sub(lambda found: chr(int(found[1] or found[2], 16)), text))
    kept = unicodedata.normalize("NFKD", _BASE64.sub(_decoded, text)).translate(_FOLD)
    return "".join(c for c in kept if unicodedata.category(c) not in ("Cf", "Mn"))


def _decoded(found: re.Match[str]) -> str:
    try:
        return base64.b64decode(found[0], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return found[0]


TRACE_ITEMS = 320
"""Approximate default number of items to calibrate a rubric judge."""


def default_scenes() -> str:
    """Return the benchmark's scenes if present, else the homes of the package."""
    folder = os.environ.get("NAVLOOM_DATA")
    there = folder and (Path(folder) / "capnav" / "traverse").is_dir()
    return "capnav:" if there else "demo:"


def load_truths(spec: str) -> list[tuple[str, Traversability]]:
    """Return each scene's URI with its traversability: annotated for CapNav, else from geometry.

    Raises:
        SceneError: a scene or its annotations are missing or broken.
    """
    found = []
    for uri in list_scenes(spec):
        scene = load_scene(uri)
        if scene.source == "capnav":
            where = uri.removeprefix("capnav:").rpartition("/")[0]
            found.append((scene.uri, load_annotations(_annotations(where), scene)))
        else:
            found.append((scene.uri, link_traversability(scene)))
    return found


def _annotations(where: str) -> Path:
    if where:
        return Path(where).expanduser()
    data = os.environ.get("NAVLOOM_DATA")
    if not data:
        raise UsageError("NAVLOOM_DATA is not set: write the folder too, as in capnav:DIR")
    return Path(data).expanduser() / "capnav"


def plan_reasoning(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """Return the plan to calibrate a judge of reasons.

    Raises:
        SceneError: a scene is missing or broken.
        UsageError: no passage in the scenes stops any body, so there is no reason to judge.
    """
    del run, note
    spec, n = request.of, request.n or DEFAULT_ITEMS
    items = make_items(load_truths(spec), n=n, seed=request.seed)
    if not items:
        raise UsageError(f"no passage of {spec} stops any body: there is no reason to judge")
    given = {item.id: (item.explanation, item.record) for item in items}
    # An injected item has the seed of its plain item, or a random judge would seem to flip.
    seeds = {item.id: sample_seed(request.seed, item.base or item.id) for item in items}
    samples = [Sample(i.id, seeds[i.id], i.scene, columns=i.columns) for i in items]
    asked = {"spec": spec, "n": n, "items": json_digest(given)}
    return ReasoningPlan(request=request, samples=samples, record=asked, given=given)


def plan_trace(request: JudgeRequest, run: Path | None, note: Note) -> TracePlan:
    """Return the plan to calibrate a rubric judge on corrupted steps of a navigation run.

    Raises:
        DataError: no step can be corrupted, since none names the chosen option.
    """
    del run, note
    steps, _ = read_steps(Path(request.of))
    n = request.n or TRACE_ITEMS
    items = make_trace_items(steps, n=n, seed=request.seed)
    if not items:
        raise DataError(
            f"{request.of}: no step whose reasoning names the option taken, such as Option 3"
        )
    samples = [Sample.of(request.seed, item.id, item.scene, **item.columns) for item in items]
    asked = {"n": n, "items": json_digest({i.id: i.step.model_dump(mode="json") for i in items})}
    given = {item.id: item.step for item in items}
    return TracePlan(request=request, samples=samples, record=asked, steps=given)


def run_baseline(out: Path, session: Session | None) -> Path:
    """Run the baseline over the package's homes, and return the folder with steps to corrupt."""
    from navloom.evals.navigation.request import EvalRequest

    asked = EvalRequest(task="scene", agent="mapgpt", cot=True, options={"spec": "demo:"})
    whole = replace(session or Session(), limit=None, sample_id=(), retry=False)
    run_request(asked, out, whole)
    return out


_BASES = 10


def plan_injections(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """Return the plan to judge every injection payload, with the defences and without."""
    del run, note
    pairs = _pairs(request)
    given: dict[str, tuple[str, dict[str, Any]]] = {}
    samples: list[Sample] = []
    bases = {base.id: base for base, _ in pairs}.values()
    for door in ("with", "without"):
        for base, payload in (*((base, None) for base in bases), *pairs):
            said, record, name = base.explanation, base.record, f"{door}-{base.id}"
            columns = {"defences": door, "claim": not base.deserves, "base": None, "payload": None}
            if payload is not None:
                columns |= {"base": name, "payload": payload.id}
                said, record = inject_payload(payload, not base.deserves, said, record)
                name = f"{door}-{payload.id}"
            given[name] = (said, record)
            columns["explanation"] = said[:4_000]
            seed = sample_seed(request.seed, base.id)
            samples.append(Sample(name, seed, base.scene, columns=columns))
    bare = frozenset(sample.id for sample in samples if sample.columns["defences"] == "without")
    asked = {"spec": request.of, "items": json_digest(given)}
    return ReasoningPlan(request=request, samples=samples, record=asked, given=given, bare=bare)


def measure_flips(request: JudgeRequest, run: Path) -> dict[str, dict[str, FlipCounts]]:
    """Count how often payloads flipped a run's judge and the gullible judges.

    Returns:
        The flips ``with`` and ``without`` the defences, by judge.
    """
    return {request.model: flips_by_defence(run), **asyncio.run(gullible_flips(_pairs(request)))}


def _pairs(request: JudgeRequest) -> list[tuple[ReasonItem, InjectionPayload]]:
    """Return payloads in a fixed order, each with an item whose true verdict differs."""
    items = make_items(load_truths(request.of), n=240, seed=request.seed)
    right = [item for item in items if item.kind == "right" and item.wording == "a"]
    wrong = [item for item in items if item.kind.startswith("wrong") and item.wording == "a"]
    bases = [i for both in zip(right, wrong, strict=False) for i in both][:_BASES]
    if not bases:
        raise UsageError(f"no passage of {request.of} stops any body: there is no reason to judge")
    corpus = sorted(list_payloads(), key=lambda payload: (payload.shape, payload.family))
    return [(bases[k % len(bases)], each) for k, each in enumerate(corpus[: request.n])]


async def gullible_flips(
    pairs: Sequence[tuple[ReasonItem, InjectionPayload]],
) -> dict[str, dict[str, FlipCounts]]:
    """Count the flips of the gullible judges, in this process."""
    found: dict[str, dict[str, FlipCounts]] = {}
    for name, blind in (("gullible", False), ("gullible, blind to fences", True)):
        found[name] = {}
        for door in ("with", "without"):
            counted = []
            for base, payload in pairs:
                model = GullibleJudge(honest=base.deserves, blind=blind)
                said, record = inject_payload(
                    payload, not base.deserves, base.explanation, base.record
                )
                verdicts = [
                    await judge_reason(
                        model=model, explanation=e, record=r, defences=door == "with"
                    )
                    for e, r in ((base.explanation, base.record), (said, record))
                ]
                counted.append((verdicts[0].correct, verdicts[1].correct, not base.deserves))
            found[name][door] = count_flips(counted)
    return found
