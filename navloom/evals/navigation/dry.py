"""An evaluation that calls nobody: a prompt a scene, how many calls, what they may cost.

The navigator's graph runs up to its first call, which a gate stops. The bounds: at least, every
episode stops at its first call and replies with nothing; at most, every episode takes all its
steps, each with every reply sent back and revised as often as may be and as long as `REPLY_TOKENS`,
and the oracle speaks as often as it may. Retries are not in it.
"""

from __future__ import annotations

from navloom.evals.dry import (
    DryRun,
    look,
    reckon,
    reply_tokens,
    unkeyed,
)
from navloom.evals.navigation.run import EvalJob, EvalRequest, plan
from navloom.evals.session import Session

__all__ = ["dry_run"]

STEP_TOKENS = 250
"""Tokens by which a step lengthens the prompts after it at most: history, map, plan, guidance."""
_ORACLE_TOKENS = 2000


def dry_run(request: EvalRequest, session: Session | None = None) -> DryRun:
    """Say what an evaluation would do; neither a model nor a folder is touched.

    Args:
        request: what to evaluate. Its models need no key for this.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Raises:
        DataError: a file of the dataset is missing or broken.
        ModelError: a model cannot be named.
        UsageError: a sample is not in the run, or the request makes no sense.
    """
    if request.oracle_model is not None:
        unkeyed(request.oracle_model)
    made = plan(request)
    samples, prompts, longest = look(EvalJob(request, made), made.samples, session)
    count, steps = len(samples), request.max_steps
    reply = reply_tokens(request.thinks_with)
    asked = steps * (1 + request.max_reprompts) * (1 + request.reflect * request.max_revisions)
    told = request.dialogue * request.max_questions + _spoken(request)
    longest += steps * STEP_TOKENS
    again = (request.max_reprompts + request.reflect * request.max_revisions) * reply
    # An answer that gives a place away is sent back once.
    most = count * int(asked * (longest + again) + 2 * told * (_ORACLE_TOKENS + reply))
    models = [request.thinks_with, request.oracle_model or request.thinks_with]
    calls = (count, count * (asked + 2 * told))
    return reckon(models, samples, prompts, calls=calls, most_input=most)


def _spoken(request: EvalRequest) -> int:
    return request.oracle_budget if request.oracle == "assistant" else 0
