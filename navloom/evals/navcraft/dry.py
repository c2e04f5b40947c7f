"""A synthesis that calls nobody: the prompts as they would be sent, the calls, what they may cost.

Of relays the second prompt needs an errand: where none is given, the heuristic crafts one to fill
it with. At least, every attempt ends at its first call and replies with nothing; at most, every one
takes all its turns, each reply is as long as ``REPLY_TOKENS``, and each turn sends all before it
again (:mod:`navloom.evals.dry`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from navloom.evals.dry import (
    MOST_CHARACTERS,
    RESULT_TOKENS,
    DryRun,
    Prompt,
    first_prompt,
    one_a_scene,
    reckon,
    reply_tokens,
    unkeyed,
)
from navloom.evals.navcraft.run import SynthJob, SynthRequest, plan
from navloom.evals.navcraft.survey import survey
from navloom.evals.sample import Sample
from navloom.evals.session import Session
from navloom.graphs.navcraft import single as navcraft_single

__all__ = ["dry_run"]


def dry_run(request: SynthRequest, session: Session | None = None) -> DryRun:
    """Say what a synthesis would do; neither a model nor a folder is touched.

    Args:
        request: what to make. Its model needs no key for this.
        session: whose ``limit`` and ``sample_ids`` say of which samples.

    Raises:
        SceneError: there are no scenes, or no errand is possible in any of them.
        ModelError: the model cannot be named.
        UsageError: a sample is not in the run.
    """
    session = session or Session()
    model = unkeyed(request.model)
    found = survey(request.spec, tau=request.tau, homes=request.homes, note=session.display.note)
    made = plan(request, found)
    only = session.picked(made.samples)
    samples = [sample for sample in made.samples if sample.id in only]
    prompts = asyncio.run(_prompts(SynthJob(request, made), one_a_scene(samples), model))
    count, turns, lifts = len(samples), request.max_turns, request.source is not None
    collab = request.kind == "collab"
    talks = 2 if collab and not lifts else 1
    largest = max((sum(each.characters for each in every) for every in prompts), default=0)
    grown = turns * (turns - 1) // 2 * (reply_tokens(request.model) + RESULT_TOKENS) * talks
    return reckon(
        [request.model],
        samples,
        [prompt for every in prompts for prompt in every],
        # An errand that no relay can shorten is asked nothing.
        calls=(0 if collab and lifts else count, count * talks * turns),
        most_input=count * int(turns * largest / MOST_CHARACTERS + grown),
    )


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
