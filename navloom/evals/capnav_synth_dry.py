"""A synthesis of CapNav questions that calls nobody: a prompt a scene, the calls, what they cost.

The bounds: at least, every conversation of the first round ends at its first call and replies with
nothing; at most, every one takes all its turns, in every round as many as in the first. Retries are
not in it, nor the pictures' tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from navloom.evals.capnav_synth import CapnavSynthJob
from navloom.evals.capnav_synth_plan import first_round, fit_scenes
from navloom.evals.capnav_synth_request import CapnavSynthRequest
from navloom.evals.dry import (
    LEAST_CHARACTERS,
    MOST_CHARACTERS,
    REPLY_TOKENS,
    RESULT_TOKENS,
    DryRun,
    Prompt,
    first_prompts,
    unkeyed,
)
from navloom.evals.sample import Sample, select
from navloom.models.usage import price_of

__all__ = ["dry_run"]


def dry_run(
    request: CapnavSynthRequest,
    *,
    limit: int | None = None,
    sample_ids: Sequence[str] | None = None,
) -> DryRun:
    """Say what a synthesis would do; neither a model nor a folder is touched.

    Args:
        request: what to make. Its model needs no key for this.
        limit: of so many conversations.
        sample_ids: of these conversations.

    Raises:
        SceneError: there are no scenes, or none has a route.
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run, or the folder of videos is of no use.
    """
    model = unkeyed(request.model)
    plan = first_round(request, fit_scenes(request.spec, request.video))
    only = select(plan.samples, limit=limit, ids=sample_ids)
    samples = [sample for sample in plan.samples if sample.id in only]
    prompts = first_prompts(CapnavSynthJob(request, plan), samples, model)
    return _reckoned(request, samples, prompts)


def _reckoned(
    request: CapnavSynthRequest, samples: Sequence[Sample], prompts: Sequence[Prompt]
) -> DryRun:
    count, turns, rounds = len(samples), request.max_turns, request.max_rounds
    sizes = [prompt.characters for prompt in prompts]
    calls = (count, count * turns * rounds)
    # A compact conversation is told of its last turn alone.
    before = turns if request.compact else turns * (turns - 1) // 2
    grown = before * (REPLY_TOKENS + RESULT_TOKENS)
    inputs = (
        int(count * min(sizes, default=0) / LEAST_CHARACTERS),
        count * rounds * int(turns * max(sizes, default=0) / MOST_CHARACTERS + grown),
    )
    outputs = (0, calls[1] * REPLY_TOKENS)
    least, most = (
        price_of(request.model, {"input_tokens": i, "output_tokens": o})
        for i, o in zip(inputs, outputs, strict=True)
    )
    return DryRun(
        model=request.model,
        samples=count,
        scenes=len({sample.scene for sample in samples}),
        calls=calls,
        input_tokens=inputs,
        output_tokens=outputs,
        cost_usd=None if least is None or most is None else (least, most),
        prompts=tuple(prompts),
    )
