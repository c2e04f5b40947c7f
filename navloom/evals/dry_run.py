"""Dry run: the prompts, the number of calls and the cost of a run, without calling a model.

The real graphs run up to their first call, which a gate stops. Each kind of run states the number
of calls of a sample (`navloom.evals.run_kinds.CallBounds`). The lower bound assumes that every
sample ends after its first call with an empty reply. The upper bound assumes the maximum number of
calls, each with a reply of `REPLY_TOKENS`. Retries and prompt caching are not included.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from navloom.errors import ModelError
from navloom.evals.request import RunRequest
from navloom.evals.run_kinds import CallBounds, RunPlan, get_kind, max_reply_tokens
from navloom.evals.session import Job, Sample, Session
from navloom.models.messages import message_text
from navloom.models.model_call import call_settings
from navloom.models.model_registry import resolve_model
from navloom.models.model_spec import read_spec
from navloom.models.usage import price_of

LEAST_CHARACTERS, MOST_CHARACTERS = 5.0, 2.5
"""Characters per token for the lower and the upper bound: prose has about 4, JSON 3."""
MOST_SCENES = 20


@dataclass(frozen=True, slots=True)
class DryRunPrompt:
    """One prompt as it would be sent.

    Attributes:
        sample: id of its sample.
        messages: role and text of each message.
        characters: length of all messages, tools and schema.
    """

    sample: str
    messages: tuple[tuple[str, str], ...]
    characters: int


@dataclass(frozen=True, slots=True)
class DryRun:
    """The prompts, calls, tokens and cost that a run would have.

    Attributes:
        model: ``provider/name``.
        samples: number of samples.
        scenes: number of their scenes.
        calls: lower and upper bound of model calls, without retries.
        input_tokens: lower and upper bound.
        output_tokens: lower and upper bound.
        cost_usd: lower and upper bound; None where a price is unknown.
        prompts: those of one sample of each scene, for at most 20 scenes.
    """

    model: str
    samples: int
    scenes: int
    calls: tuple[int, int]
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    prompts: tuple[DryRunPrompt, ...]


class _AskedError(Exception):
    """Raised in place of the first call; carries its messages and bound arguments."""

    def __init__(self, messages: Sequence[BaseMessage], bound: Mapping[str, Any]) -> None:
        super().__init__("asked")
        self.messages = list(messages)
        self.bound = dict(bound)


class _Stopped:
    """A gate that stops every call."""

    async def reserve(
        self,
        model: str,  # noqa: ARG002
        messages: Sequence[BaseMessage],
        bound: Mapping[str, Any],
    ) -> int:
        raise _AskedError(messages, bound)

    def settle(self, *_: Any) -> None:
        """Do nothing: no call passes the gate."""


def dry_run(request: RunRequest, session: Session | None = None) -> DryRun:
    """Estimate calls, tokens and cost of a run; touches neither a model nor a folder.

    Args:
        request: the request of the run. Its models need no key for this.
        session: its ``limit`` and ``sample_id`` select the samples.

    Raises:
        ModelError: a model cannot be named.
        UsageError: a sample is not in the run, or the request makes no sense.
        DataError: a file that the request names is missing or broken; SceneError, of a scene.
    """
    kind, session = get_kind(request.kind), session or Session()
    model, *_ = (_unkeyed(name) for name in request.models)
    plan = kind.plan(request, None, session.display.note)
    only = session.picked(plan.samples)
    samples = [sample for sample in plan.samples if sample.id in only]
    calls = kind.dry(plan)
    prompts = asyncio.run(_first_prompts(kind.job(plan), calls, samples, model))
    return _reckon(plan, samples, calls, prompts)


def _unkeyed(name: str) -> Any:
    """Return the model of a name, with a dummy key or address where it has none."""
    try:
        return resolve_model(name)
    except ModelError as error:
        from navloom.models.model_registry import get_model

        given = read_spec(name).options.get("base_url")
        url = "http://127.0.0.1:9/v1" if given is None else str(given)
        try:
            return get_model(name, api_key="dry-run", base_url=url)
        except ModelError:
            raise error from None


async def _first_prompts(
    job: Job, calls: CallBounds, samples: Sequence[Sample], model: Any
) -> list[list[DryRunPrompt]]:
    """Return the first prompts of one sample in each of the first ``MOST_SCENES`` scenes."""
    firsts = {sample.scene: sample for sample in reversed(samples)}
    graph, found = job.build(None), []
    for scene in sorted(firsts)[:MOST_SCENES]:
        sample = firsts[scene]
        context = job.context(sample, model)
        asked = [(graph, job.input(sample))]
        if calls.begin is not None:
            asked = await calls.begin(job, sample, context)
        found.append([p for g, given in asked for p in await _prompt(g, given, context, sample)])
    return found


async def _prompt(graph: Any, given: Any, context: Any, sample: Sample) -> list[DryRunPrompt]:
    """Return a graph's first prompt as it would be sent; [] if it ends without a call."""
    try:
        with call_settings(gate=_Stopped(), cache=None):
            await graph.ainvoke(given, context=context)
    except _AskedError as asked:
        said = tuple((m.type, message_text(m.content)) for m in asked.messages)
        size = sum(len(text) for _, text in said) + len(json.dumps(asked.bound, default=str))
        return [DryRunPrompt(sample.id, said, size)]
    return []


def _reckon(
    plan: RunPlan,
    samples: Sequence[Sample],
    calls: CallBounds,
    prompts: Sequence[Sequence[DryRunPrompt]],
) -> DryRun:
    """Compute the bounds of a run, priced as if its cheapest or dearest model made every call.

    Args:
        plan: the plan of the whole run.
        samples: the selected samples.
        calls: bounds of one sample.
        prompts: the first prompts of some samples, grouped by sample.
    """
    models, count = plan.request.models, len(samples)
    longest = max((sum(p.characters for p in own) for own in prompts), default=0) / MOST_CHARACTERS
    shortest = min((prompt.characters for own in prompts for prompt in own), default=0)
    a_round = int(calls.most * (longest + calls.each) + calls.in_all)
    asked = (count * calls.least, count * calls.rounds * (calls.most + calls.beside))
    inputs = (int(asked[0] * shortest / LEAST_CHARACTERS), count * calls.rounds * a_round)
    outputs = (0, asked[1] * max(max_reply_tokens(model) for model in models))
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
        samples=count,
        scenes=len({sample.scene for sample in samples}),
        calls=asked,
        input_tokens=inputs,
        output_tokens=outputs,
        cost_usd=(min(least), max(most)) if known else None,
        prompts=tuple(prompt for own in prompts for prompt in own),
    )
