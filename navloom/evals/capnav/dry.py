"""A CapNav evaluation that calls nobody: a prompt a scene, how many calls, what they may cost.

At least, every pair is answered at the first call with nothing; at most, every reply is sent back
as often as may be and is as long as ``REPLY_TOKENS``, and a judge grades each. Frames are reckoned
with ``FRAME_TOKENS`` each. Retries are not in it.
"""

from __future__ import annotations

from dataclasses import replace

from navloom.evals.capnav.request import CapnavRequest
from navloom.evals.capnav.run import CapnavJob, plan
from navloom.evals.dry import (
    DryRun,
    look,
    reckon,
    reply_tokens,
    unkeyed,
)
from navloom.evals.session import Session

__all__ = ["FRAME_TOKENS", "dry_run"]

FRAME_TOKENS = 400
"""Tokens that a picture of 512 x 288 takes at most, as providers reckon."""
_JUDGE_TOKENS = 3_000


def dry_run(request: CapnavRequest, session: Session | None = None) -> DryRun:
    """Say what an evaluation would do; neither a model nor a folder nor a video is touched.

    Args:
        request: what to evaluate. Its models need no key for this.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Raises:
        DataError: a file of the benchmark is missing or broken.
        ModelError: a model cannot be named.
        UsageError: a sample is not in the run, or the request makes no sense.
    """
    if request.judge_model is not None:
        unkeyed(request.judge_model)
    made = plan(request)
    job = CapnavJob(request, replace(made, videos={}))
    samples, prompts, longest = look(job, made.samples, session)
    count, asks = len(samples), 1 + request.max_reasks
    graded = 2 if request.judge_model else 0
    frames = request.frames * FRAME_TOKENS if made.videos else 0
    a_pair = (
        asks * (longest + frames + request.max_reasks * reply_tokens(request.model))
        + graded * _JUDGE_TOKENS
    )
    return reckon(
        [each for each in (request.model, request.judge_model) if each is not None],
        samples,
        prompts,
        calls=(count, count * (asks + graded)),
        most_input=count * int(a_pair),
    )
