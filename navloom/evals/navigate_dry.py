"""An evaluation that calls nobody: a prompt a scene, how many calls, what they may cost.

The navigator's graph runs up to its first call, which a gate stops. The bounds: at least, every
episode stops at its first call and replies with nothing; at most, every episode takes all its
steps, each with every reply sent back and revised as often as may be and as long as `REPLY_TOKENS`,
and the oracle speaks as often as it may. Retries are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from navloom.evals.dry import (
    LEAST_CHARACTERS,
    MOST_CHARACTERS,
    REPLY_TOKENS,
    DryRun,
    Prompt,
    first_prompts,
    unkeyed,
)
from navloom.evals.navigate import EvalJob, EvalRequest, plan
from navloom.evals.sample import Sample, select
from navloom.models.usage import price_of

__all__ = ["dry_run"]

STEP_TOKENS = 250
"""Tokens by which a step lengthens the prompts after it at most: history, map, plan, guidance."""
_ORACLE_TOKENS = 2000


def dry_run(
    request: EvalRequest, *, limit: int | None = None, sample_ids: Sequence[str] | None = None
) -> DryRun:
    """Say what an evaluation would do; neither a model nor a folder is touched.

    Args:
        request: what to evaluate. Its models need no key for this.
        limit: of so many episodes.
        sample_ids: of these episodes.

    Raises:
        DataError: a file of the dataset is missing or broken.
        ModelError: a model cannot be named.
        UsageError: a sample is not in the run, or the request makes no sense.
    """
    model = unkeyed(request.thinks_with)
    if request.oracle_model is not None:
        unkeyed(request.oracle_model)
    made = plan(request)
    only = select(made.samples, limit=limit, ids=sample_ids)
    samples = [sample for sample in made.samples if sample.id in only]
    job = EvalJob(request, made)
    prompts = first_prompts(job, samples, model)
    return _reckoned(request, samples, prompts)


def _reckoned(request: EvalRequest, samples: Sequence[Sample], prompts: Sequence[Prompt]) -> DryRun:
    count, steps = len(samples), request.max_steps
    asked = steps * (1 + request.max_reprompts) * (1 + request.reflect * request.max_revisions)
    told = request.dialogue * request.max_questions + _spoken(request)
    # An answer that gives a place away is sent back once.
    calls = (count, count * (asked + 2 * told))
    sizes = [prompt.characters for prompt in prompts]
    longest = max(sizes, default=0) / MOST_CHARACTERS + steps * STEP_TOKENS
    again = (request.max_reprompts + request.reflect * request.max_revisions) * REPLY_TOKENS
    inputs = (
        int(count * min(sizes, default=0) / LEAST_CHARACTERS),
        count * int(asked * (longest + again) + 2 * told * (_ORACLE_TOKENS + REPLY_TOKENS)),
    )
    outputs = (0, calls[1] * REPLY_TOKENS)
    return DryRun(
        model=request.thinks_with,
        samples=count,
        scenes=len({sample.scene for sample in samples}),
        calls=calls,
        input_tokens=inputs,
        output_tokens=outputs,
        cost_usd=_cost(request, inputs, outputs),
        prompts=tuple(prompts),
    )


def _spoken(request: EvalRequest) -> int:
    return request.oracle_budget if request.oracle == "assistant" else 0


def _cost(
    request: EvalRequest, inputs: tuple[int, int], outputs: tuple[int, int]
) -> tuple[float, float] | None:
    """Priced as if the dearer of the two models made every call."""
    models = {request.thinks_with, request.oracle_model or request.thinks_with}
    found = [
        [price_of(model, {"input_tokens": i, "output_tokens": o}) for model in models]
        for i, o in zip(inputs, outputs, strict=True)
    ]
    least, most = found
    known = [price for price in (*least, *most) if price is not None]
    if len(known) < 2 * len(models):
        return None
    return min(p for p in least if p is not None), max(p for p in most if p is not None)
