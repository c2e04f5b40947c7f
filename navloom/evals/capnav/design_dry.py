"""A synthesis of CapNav questions that calls nobody: a prompt a scene, the calls, what they cost.

The bounds: at least, every conversation of the first round ends at its first call and replies with
nothing; at most, every one takes all its turns, in every round as many as in the first. Retries are
not in it, nor the pictures' tokens.
"""

from __future__ import annotations

from navloom.evals.capnav.design_plan import first_round, fit_scenes
from navloom.evals.capnav.design_request import CapnavSynthRequest
from navloom.evals.capnav.design_run import CapnavSynthJob
from navloom.evals.dry import (
    RESULT_TOKENS,
    DryRun,
    look,
    reckon,
    reply_tokens,
)
from navloom.evals.session import Session

__all__ = ["dry_run"]


def dry_run(request: CapnavSynthRequest, session: Session | None = None) -> DryRun:
    """Say what a synthesis would do; neither a model nor a folder is touched.

    Args:
        request: what to make. Its model needs no key for this.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Raises:
        SceneError: there are no scenes, or none has a route.
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run, or the folder of videos is of no use.
    """
    plan = first_round(request, fit_scenes(request.spec, request.video))
    samples, prompts, longest = look(CapnavSynthJob(request, plan), plan.samples, session)
    count, turns, rounds = len(samples), request.max_turns, request.max_rounds
    # A compact conversation is told of its last turn alone.
    before = turns if request.compact else turns * (turns - 1) // 2
    grown = before * (reply_tokens(request.model) + RESULT_TOKENS)
    most = count * rounds * int(turns * longest + grown)
    calls = (count, count * turns * rounds)
    return reckon([request.model], samples, prompts, calls=calls, most_input=most)
