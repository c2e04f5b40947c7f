"""A CapNav evaluation that calls nobody: a prompt a scene, how many calls, what they may cost.

At least, every pair is answered at the first call with nothing; at most, every reply is sent back
as often as may be and is as long as ``REPLY_TOKENS``, and a judge grades each, priced as the
answerer. Frames are reckoned with ``FRAME_TOKENS`` each. Retries are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from navloom.evals.capnav_request import CapnavRequest
from navloom.evals.capnav_run import CapnavJob, plan
from navloom.evals.dry import (
    LEAST_CHARACTERS,
    MOST_CHARACTERS,
    REPLY_TOKENS,
    DryRun,
    Prompt,
    first_prompts,
    unkeyed,
)
from navloom.evals.sample import Sample, select
from navloom.models.usage import price_of

__all__ = ["FRAME_TOKENS", "dry_run"]

FRAME_TOKENS = 400
"""Tokens that a picture of 512 x 288 takes at most, as providers reckon."""
_JUDGE_TOKENS = 3_000


def dry_run(
    request: CapnavRequest, *, limit: int | None = None, sample_ids: Sequence[str] | None = None
) -> DryRun:
    """Say what an evaluation would do; neither a model nor a folder nor a video is touched.

    Args:
        request: what to evaluate. Its models need no key for this.
        limit: of so many pairs.
        sample_ids: of these.

    Raises:
        DataError: a file of the benchmark is missing or broken.
        ModelError: a model cannot be named.
        UsageError: a sample is not in the run, or the request makes no sense.
    """
    model = unkeyed(request.model)
    if request.judge_model is not None:
        unkeyed(request.judge_model)
    made = plan(request)
    only = select(made.samples, limit=limit, ids=sample_ids)
    samples = [sample for sample in made.samples if sample.id in only]
    job = CapnavJob(request, replace(made, videos={}))
    prompts = first_prompts(job, samples, model)
    return _reckoned(request, samples, prompts, len(made.videos) > 0)


def _reckoned(
    request: CapnavRequest, samples: Sequence[Sample], prompts: Sequence[Prompt], shown: bool
) -> DryRun:
    count, asks = len(samples), 1 + request.max_reasks
    graded = 2 if request.judge_model else 0
    frames = request.frames * FRAME_TOKENS if shown else 0
    sizes = [prompt.characters for prompt in prompts]
    longest = max(sizes, default=0) / MOST_CHARACTERS + frames
    inputs = (
        int(count * min(sizes, default=0) / LEAST_CHARACTERS),
        count * int(asks * (longest + request.max_reasks * REPLY_TOKENS) + graded * _JUDGE_TOKENS),
    )
    calls = (count, count * (asks + graded))
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
        prompts=tuple(prompts),
    )
