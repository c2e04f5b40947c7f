"""A synthesis that calls nobody: the prompts as they would be sent, the calls, what they may cost.

The real graphs run up to their first call, which a gate stops. Of relays the second prompt needs an
errand: where none is given, the heuristic crafts one to fill it with.

The bounds: at least, every attempt ends at its first call and replies with nothing; at most, every
attempt takes all its turns, each reply is as long as `REPLY_TOKENS`, and each turn sends all before
it again. Retries are not in it, and a provider's prompt caching would make it cheaper.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage

from navloom.errors import ModelError
from navloom.evals.progress import Display, NoDisplay
from navloom.evals.sample import Sample, select
from navloom.evals.survey import survey
from navloom.evals.synth import SynthJob, SynthRequest, plan
from navloom.graphs import navcraft_single
from navloom.graphs.invoke import model_of
from navloom.models.answer import message_text
from navloom.models.call import call_settings
from navloom.models.usage import price_of

__all__ = [
    "REPLY_TOKENS",
    "DryRun",
    "Prompt",
    "dry_run",
    "first_prompt",
    "first_prompts",
    "unkeyed",
]

REPLY_TOKENS = 4096
"""Tokens of the longest reply that is reckoned with; open models are held to it."""
RESULT_TOKENS = 500
"""Tokens of a tool's answer, or of a message that sends an answer back, at most."""
LEAST_CHARACTERS, MOST_CHARACTERS = 5.0, 2.5
"""Characters a token, for the lower and the upper bound: prose has about four, JSON three."""
MOST_SCENES = 20


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt as it would be sent.

    Attributes:
        sample: the attempt it is of.
        messages: each message's role and text.
        characters: of all of them, tools and schema included.
    """

    sample: str
    messages: tuple[tuple[str, str], ...]
    characters: int


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a synthesis would do.

    Attributes:
        model: ``provider/name``.
        samples: attempts.
        scenes: homes they are in.
        calls: model calls, at least and at most, retries not counted.
        input_tokens: at least and at most.
        output_tokens: at least and at most.
        cost_usd: at least and at most; None where no price is known.
        prompts: those of one attempt a home, of twenty homes at most.
    """

    model: str
    samples: int
    scenes: int
    calls: tuple[int, int]
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    prompts: tuple[Prompt, ...]


class _AskedError(Exception):
    """The call that would have been made."""

    def __init__(self, messages: Sequence[BaseMessage], bound: Mapping[str, Any]) -> None:
        super().__init__("asked")
        self.messages = list(messages)
        self.bound = dict(bound)


class _Stopped:
    """A gate that lets nothing through."""

    def reserve(
        self,
        model: str,  # noqa: ARG002
        messages: Sequence[BaseMessage],
        bound: Mapping[str, Any],
    ) -> int:
        raise _AskedError(messages, bound)

    def settle(self, *_: Any) -> None:
        """Nothing passes, so there is nothing to settle."""


def dry_run(
    request: SynthRequest,
    *,
    limit: int | None = None,
    sample_ids: Sequence[str] | None = None,
    display: Display | None = None,
) -> DryRun:
    """Say what a synthesis would do; neither a model nor a folder is touched.

    Args:
        request: what to make. Its model needs no key for this.
        limit: of so many attempts.
        sample_ids: of these attempts.
        display: told of homes that are left out.

    Raises:
        SceneError: there are no scenes, or no errand is possible in any of them.
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run.
    """
    display = display or NoDisplay()
    model = unkeyed(request.model)
    found = survey(request.spec, tau=request.tau, homes=request.homes, note=display.note)
    made = plan(request, found)
    only = select(made.samples, limit=limit, ids=sample_ids)
    samples = [sample for sample in made.samples if sample.id in only]
    prompts = asyncio.run(_prompts(SynthJob(request, made), one_a_scene(samples), model))
    return _reckoned(request, samples, prompts)


def one_a_scene(samples: Sequence[Sample]) -> list[Sample]:
    """The first sample of each of the first ``MOST_SCENES`` scenes, by the scenes' names."""
    firsts = {sample.scene: sample for sample in reversed(samples)}
    return [firsts[scene] for scene in sorted(firsts)[:MOST_SCENES]]


def unkeyed(name: str) -> Any:
    """The model of a name, also where its key or address is not at hand: nobody will be called."""
    try:
        return model_of(name)
    except ModelError as error:
        from navloom.models.registry import get_model

        try:
            return get_model(name, api_key="dry-run", base_url="http://127.0.0.1:9/v1")
        except ModelError:
            raise error from None


async def _prompts(job: SynthJob, samples: Sequence[Sample], model: Any) -> list[list[Prompt]]:
    return [await _of_sample(job, sample, model) for sample in samples]


async def _of_sample(job: SynthJob, sample: Sample, model: Any) -> list[Prompt]:
    given = job.input(sample)
    context = job.context(sample, model)
    if job.request.kind == "single" or given["phase_1"] is not None:
        return await first_prompt(job.build(None), given, context, sample)
    single = navcraft_single.graph
    first = await first_prompt(single, {"seed": sample.seed}, context, sample)
    made = await single.ainvoke(
        {"seed": sample.seed}, context=replace(context, model="builtin/heuristic")
    )
    if made["status"] != "ok":
        return first
    filled = {**given, "phase_1": made["result"]["phase_1"]}
    return [*first, *await first_prompt(job.build(None), filled, context, sample)]


async def first_prompt(graph: Any, given: Any, context: Any, sample: Sample) -> list[Prompt]:
    """The first prompt of a graph as it would be sent; none where it ends without a call."""
    try:
        with call_settings(gate=_Stopped(), cache=None):
            await graph.ainvoke(given, context=context)
    except _AskedError as asked:
        said = tuple((m.type, message_text(m.content)) for m in asked.messages)
        size = sum(len(text) for _, text in said) + len(json.dumps(asked.bound, default=str))
        return [Prompt(sample.id, said, size)]
    return []


def first_prompts(job: Any, samples: Sequence[Sample], model: Any) -> list[Prompt]:
    """The first prompt of the first sample of each scene, as it would be sent.

    Args:
        job: a :class:`~navloom.evals.sample.Job` whose ``context`` takes a model in place of its
            own.
        samples: those of the run.
        model: the model in place; it is not called.
    """

    async def found() -> list[Prompt]:
        graph, prompts = job.build(None), []
        for each in one_a_scene(samples):
            prompts += await first_prompt(graph, job.input(each), job.context(each, model), each)
        return prompts

    return asyncio.run(found())


def _reckoned(
    request: SynthRequest, samples: Sequence[Sample], prompts: list[list[Prompt]]
) -> DryRun:
    count, turns = len(samples), request.max_turns
    talks = 2 if request.kind == "collab" and request.source is None else 1
    first = [each[0].characters for each in prompts if each]
    largest = [sum(p.characters for p in each) for each in prompts]
    lifts = request.kind == "collab" and request.source is not None
    calls = (0 if lifts else count, count * talks * turns)
    grown = turns * (turns - 1) // 2 * (REPLY_TOKENS + RESULT_TOKENS) * talks
    inputs = (
        int(calls[0] * min(first, default=0) / LEAST_CHARACTERS),
        count * int(turns * max(largest, default=0) / MOST_CHARACTERS + grown),
    )
    outputs = (0, calls[1] * REPLY_TOKENS)
    costs = [
        price_of(request.model, {"input_tokens": i, "output_tokens": o})
        for i, o in zip(inputs, outputs, strict=True)
    ]
    least, most = costs
    return DryRun(
        model=request.model,
        samples=count,
        scenes=len({sample.scene for sample in samples}),
        calls=calls,
        input_tokens=inputs,
        output_tokens=outputs,
        cost_usd=None if least is None or most is None else (least, most),
        prompts=tuple(prompt for each in prompts for prompt in each),
    )
