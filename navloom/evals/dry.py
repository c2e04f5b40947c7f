"""A run that calls nobody: the prompts as they would be sent, the calls, what they may cost.

The real graphs run up to their first call, which a gate stops.

How many calls there are at least and at most each kind of run knows of itself; a reply is reckoned
with `REPLY_TOKENS`. Retries are not in it, and a provider's prompt caching would make it cheaper.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from navloom.errors import ModelError
from navloom.evals.sample import Job, Sample
from navloom.evals.session import Session
from navloom.models.answer import message_text
from navloom.models.call import call_settings
from navloom.models.registry import model_of
from navloom.models.spec import read_spec
from navloom.models.usage import price_of

__all__ = [
    "MOST_CHARACTERS",
    "REPLY_TOKENS",
    "RESULT_TOKENS",
    "DryRun",
    "Prompt",
    "dry_asks",
    "first_prompt",
    "first_prompts",
    "look",
    "one_a_scene",
    "reckon",
    "reply_tokens",
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
        sample: the id of the sample it is of.
        messages: each message's role and text.
        characters: of all of them, tools and schema included.
    """

    sample: str
    messages: tuple[tuple[str, str], ...]
    characters: int


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would do.

    Attributes:
        model: ``provider/name``.
        samples: how many.
        scenes: those they are in.
        calls: model calls, at least and at most, retries not counted.
        input_tokens: at least and at most.
        output_tokens: at least and at most.
        cost_usd: at least and at most; None where no price is known.
        prompts: those of one sample a scene, of twenty scenes at most.
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


def reply_tokens(model: str) -> int:
    """Tokens of the longest reply that is reckoned with: what the name says, if it does."""
    said = read_spec(model).options.get("max_tokens")
    return said if isinstance(said, int) else REPLY_TOKENS


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

        given = read_spec(name).options.get("base_url")
        url = "http://127.0.0.1:9/v1" if given is None else str(given)
        try:
            return get_model(name, api_key="dry-run", base_url=url)
        except ModelError:
            raise error from None


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


def first_prompts(job: Job, samples: Sequence[Sample], model: Any) -> list[Prompt]:
    """The first prompt of the first sample of each scene, as it would be sent.

    Args:
        job: of the run.
        samples: those of the run.
        model: the model in place; it is not called.
    """

    async def found() -> list[Prompt]:
        graph, prompts = job.build(None), []
        for each in one_a_scene(samples):
            prompts += await first_prompt(graph, job.input(each), job.context(each, model), each)
        return prompts

    return asyncio.run(found())


def look(
    job: Job, samples: Sequence[Sample], session: Session | None = None
) -> tuple[list[Sample], list[Prompt], float]:
    """What a session would do first, without doing it.

    Args:
        job: of the run; its model needs no key for this.
        samples: all of the run.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Returns:
        The samples, some of their first prompts, and tokens of the longest of these at most.

    Raises:
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run.
    """
    only = (session or Session()).picked(samples)
    chosen = [sample for sample in samples if sample.id in only]
    prompts = first_prompts(job, chosen, unkeyed(job.model))
    longest = max((prompt.characters for prompt in prompts), default=0) / MOST_CHARACTERS
    return chosen, prompts, longest


def dry_asks(
    job: Job,
    samples: Sequence[Sample],
    session: Session | None = None,
    *,
    reasks: int,
    questions: int = 1,
) -> DryRun:
    """What a run would do whose samples each ask a few questions that do not build on each other.

    Args:
        job: of the run; its model needs no key for this.
        samples: all of the run.
        session: whose ``limit`` and ``sample_ids`` say of which samples.
        reasks: how often a reply is sent back at most.
        questions: how many a sample asks at most; one at least.

    Raises:
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run.
    """
    samples, prompts, longest = look(job, samples, session)
    asks, count = questions * (1 + reasks), len(samples)
    most = count * int(asks * (longest + reasks * reply_tokens(job.model)))
    return reckon([job.model], samples, prompts, calls=(count, count * asks), most_input=most)


def reckon(
    models: Sequence[str],
    samples: Sequence[Sample],
    prompts: Sequence[Prompt],
    *,
    calls: tuple[int, int],
    most_input: int,
) -> DryRun:
    """The bounds of a run.

    Args:
        models: those it may call, its own first; priced as if the cheapest made every call, and as
            if the dearest did.
        samples: of the run.
        prompts: some of its first.
        calls: at least and at most.
        most_input: tokens that are sent at most.
    """
    shortest = min((prompt.characters for prompt in prompts), default=0)
    inputs = (int(calls[0] * shortest / LEAST_CHARACTERS), most_input)
    outputs = (0, calls[1] * max(reply_tokens(model) for model in models))
    costs = [
        [
            price_of(model, {"input_tokens": i, "output_tokens": o})
            for model in dict.fromkeys(models)
        ]
        for i, o in zip(inputs, outputs, strict=True)
    ]
    least, most = ([price for price in bound if price is not None] for bound in costs)
    known = len(least) == len(most) == len(costs[0])
    return DryRun(
        model=models[0],
        samples=len(samples),
        scenes=len({sample.scene for sample in samples}),
        calls=calls,
        input_tokens=inputs,
        output_tokens=outputs,
        cost_usd=(min(least), max(most)) if known else None,
        prompts=tuple(prompts),
    )
