"""Our kinds of runs, each by its light half: its words, its options, and where the rest is.

Whoever asks what a run is, a page or a help, meets no agent, model, picture or geometry here: they
are imported when a run is planned, done or shown.
"""

from __future__ import annotations

from dataclasses import replace

from navloom.evals.capnav.request import CapnavRequest, CapnavSynthRequest
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.kinds import Kind, later
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.report.document import first_score
from navloom.evals.teams.team_request import TeamRequest

SINGLE = Kind(
    name="single",
    command="synth single",
    request=SynthRequest,
    plan=later("navloom.evals.navcraft.run:plan"),
    job=later("navloom.evals.navcraft.run:SynthJob"),
    dry=later("navloom.evals.navcraft.run:calls"),
    report=later("navloom.evals.navcraft.report_blocks:shown"),
    export=later("navloom.evals.navcraft.export:export_run"),
    things=("attempts", "homes"),
    prompts_shown=None,
    columns=later("navloom.evals.navcraft.task_columns:columns"),
    detail=later("navloom.evals.navcraft.shown_tasks:detail"),
    tables=later("navloom.evals.navcraft.report_blocks:tables"),
    pairing=later("navloom.evals.navcraft.task_columns:pairing"),
)
COLLAB = replace(
    SINGLE, name="collab", command="synth collab", finish=later("navloom.evals.navcraft.run:finish")
)
DIRECT = Kind(
    name=DirectRequest.KIND,
    command="synth direct",
    request=DirectRequest,
    plan=later("navloom.evals.navcraft.direct_run:plan"),
    job=later("navloom.evals.navcraft.direct_run:DirectJob"),
    dry=later("navloom.evals.navcraft.direct_run:calls"),
    finish=later("navloom.evals.navcraft.direct_run:finish"),
    ended=later("navloom.evals.navcraft.direct_run:ended"),
    report=later("navloom.evals.navcraft.direct_run:report"),
    first=lambda said: first_score("valid", said["direct"]["valid"], "share"),
    things=("attempts", "homes"),
    columns=later("navloom.evals.navcraft.shown_direct:columns"),
    detail=later("navloom.evals.navcraft.shown_direct:detail"),
    tables=later("navloom.evals.navcraft.shown_direct:tables"),
    pairing=later("navloom.evals.navcraft.shown_direct:pairing"),
)
TEAM = Kind(
    name=TeamRequest.KIND,
    command="synth team",
    request=TeamRequest,
    plan=later("navloom.evals.teams.team_run:plan"),
    job=later("navloom.evals.teams.team_run:TeamJob"),
    dry=later("navloom.evals.teams.team_run:calls"),
    finish=later("navloom.evals.teams.team_run:finish"),
    ended=later("navloom.evals.teams.team_run:ended"),
    report=later("navloom.evals.teams.team_run:report"),
    export=later("navloom.evals.navcraft.export:export_run"),
    first=lambda said: first_score("valid", said["team"]["valid"], "share"),
    things=("attempts", "homes"),
    columns=later("navloom.evals.teams.shown_teams:columns"),
    detail=later("navloom.evals.teams.shown_teams:detail"),
    tables=later("navloom.evals.teams.shown_teams:tables"),
    pairing=later("navloom.evals.teams.shown_teams:pairing"),
)
NAVIGATE = Kind(
    name=EvalRequest.KIND,
    command="eval",
    request=EvalRequest,
    plan=later("navloom.evals.navigation.run:plan"),
    job=later("navloom.evals.navigation.run:EvalJob"),
    dry=later("navloom.evals.navigation.run:calls"),
    finish=later("navloom.evals.navigation.run:finish"),
    ended=later("navloom.evals.navigation.run:ended"),
    report=later("navloom.evals.navigation.run:report"),
    first=lambda said: first_score("SR", said["scores"]["metrics"]["SR"], "mean"),
    things=("episodes", "scenes"),
    columns=later("navloom.evals.navigation.episode_columns:columns"),
    detail=later("navloom.evals.navigation.episode_detail:detail"),
    tables=later("navloom.evals.navigation.run_blocks:tables"),
    failures=later("navloom.evals.navigation.run_blocks:failures"),
    pairing=later("navloom.evals.navigation.episode_columns:pairing"),
)
CAPNAV = Kind(
    name=CapnavRequest.KIND,
    command="eval capnav",
    request=CapnavRequest,
    plan=later("navloom.evals.capnav.run:plan"),
    job=later("navloom.evals.capnav.run:CapnavJob"),
    dry=later("navloom.evals.capnav.run:calls"),
    finish=later("navloom.evals.capnav.run:finish"),
    ended=later("navloom.evals.capnav.run:ended"),
    report=later("navloom.evals.capnav.run:report"),
    first=lambda said: first_score("accuracy", said["scores"]["ours"]["accuracy"], "value"),
    things=("pairs", "scenes"),
    columns=later("navloom.evals.capnav.answer_columns:columns"),
    detail=later("navloom.evals.capnav.shown_answers:detail"),
    tables=later("navloom.evals.capnav.shown_answers:tables"),
    pairing=later("navloom.evals.capnav.answer_columns:pairing"),
)
CAPNAV_TASKS = Kind(
    name=CapnavSynthRequest.KIND,
    command="synth capnav",
    request=CapnavSynthRequest,
    plan=later("navloom.evals.capnav.design_run:plan"),
    job=later("navloom.evals.capnav.design_run:DesignJob"),
    dry=later("navloom.evals.capnav.design_run:calls"),
    more=later("navloom.evals.capnav.design_run:more"),
    finish=later("navloom.evals.capnav.design_run:finish"),
    ended=later("navloom.evals.capnav.design_run:ended"),
    report=later("navloom.evals.capnav.design_run:report"),
    # A later round's conversations are in no plan that begins anew.
    broken_alone=False,
    things=("conversations", "scenes"),
    columns=later("navloom.evals.capnav.shown_questions:columns"),
    detail=later("navloom.evals.capnav.shown_questions:detail"),
    tables=later("navloom.evals.capnav.shown_questions:tables"),
    pairing=later("navloom.evals.capnav.shown_questions:pairing"),
)
CAPTIONS = Kind(
    name=CaptionRequest.KIND,
    command="caption",
    request=CaptionRequest,
    plan=later("navloom.evals.captions.run:plan"),
    job=later("navloom.evals.captions.run:CaptionJob"),
    dry=later("navloom.evals.captions.run:calls"),
    finish=later("navloom.evals.captions.run:finish"),
    things=("viewpoints", "scenes"),
    columns=later("navloom.evals.captions.shown_captions:columns"),
    detail=later("navloom.evals.captions.shown_captions:detail"),
    tables=later("navloom.evals.captions.shown_captions:tables"),
    pairing=later("navloom.evals.captions.shown_captions:pairing"),
)
JUDGE_REASONING = Kind(
    name="judge_reasoning",
    command="judge reasoning",
    request=JudgeRequest,
    plan=later("navloom.evals.judging.run:plan_answers"),
    job=later("navloom.evals.judging.run:ReasoningJob"),
    dry=later("navloom.evals.judging.run:calls"),
    things=("items", "scenes"),
    columns=later("navloom.evals.judging.item_columns:reason_columns"),
    detail=later("navloom.evals.judging.shown_items:reason"),
    tables=later("navloom.evals.judging.shown_judges:reasons_judged"),
    pairing=later("navloom.evals.judging.item_columns:reason_pairing"),
)
CALIBRATE_REASONING = replace(
    JUDGE_REASONING,
    name="calibrate_reasoning",
    command="judge calibrate reasoning",
    plan=later("navloom.evals.judging.calibration:plan_reasoning"),
    tables=later("navloom.evals.judging.shown_judges:reasons_calibrated"),
)
CALIBRATE_INJECTIONS = replace(
    JUDGE_REASONING,
    name="calibrate_injections",
    command="judge calibrate reasoning --injections",
    plan=later("navloom.evals.judging.calibration:plan_injections"),
    tables=later("navloom.evals.judging.shown_judges:injections_measured"),
)
JUDGE_TRACE = Kind(
    name="judge_trace",
    command="judge trace",
    request=JudgeRequest,
    plan=later("navloom.evals.judging.run:plan_traces"),
    job=later("navloom.evals.judging.run:RubricJob"),
    dry=later("navloom.evals.judging.run:calls"),
    things=("items", "scenes"),
    columns=later("navloom.evals.judging.item_columns:step_columns"),
    detail=later("navloom.evals.judging.shown_items:step"),
    tables=later("navloom.evals.judging.shown_judges:steps_graded"),
    pairing=later("navloom.evals.judging.item_columns:step_pairing"),
)
CALIBRATE_TRACE = replace(
    JUDGE_TRACE,
    name="calibrate_trace",
    command="judge calibrate trace",
    plan=later("navloom.evals.judging.calibration:plan_trace"),
    tables=later("navloom.evals.judging.shown_judges:steps_calibrated"),
)
JUDGE_FAILURES = Kind(
    name="judge_failures",
    command="judge failures",
    request=JudgeRequest,
    plan=later("navloom.evals.judging.labelling:plan_labels"),
    job=later("navloom.evals.judging.labelling:LabelJob"),
    dry=later("navloom.evals.judging.run:calls"),
    finish=later("navloom.evals.judging.labelling:write_labels"),
    things=("walks", "scenes"),
    columns=later("navloom.evals.judging.item_columns:label_columns"),
    detail=later("navloom.evals.judging.shown_items:label"),
    tables=later("navloom.evals.judging.shown_judges:walks_labelled"),
    pairing=later("navloom.evals.judging.item_columns:label_pairing"),
)
JUDGE_PREFER = Kind(
    name="judge_prefer",
    command="judge prefer",
    request=JudgeRequest,
    plan=later("navloom.evals.judging.task_pairs:plan_prefer"),
    job=later("navloom.evals.judging.task_pairs:PreferenceJob"),
    dry=later("navloom.evals.judging.task_pairs:calls"),
    things=("pairs", "scenes"),
    columns=later("navloom.evals.judging.item_columns:pair_columns"),
    detail=later("navloom.evals.judging.shown_items:pair"),
    tables=later("navloom.evals.judging.shown_judges:pairs_preferred"),
    pairing=later("navloom.evals.judging.item_columns:pair_pairing"),
)
CALIBRATE_PREFER = replace(
    JUDGE_PREFER,
    name="calibrate_prefer",
    command="judge calibrate prefer",
    plan=later("navloom.evals.judging.task_pairs:plan_calibrate"),
    tables=later("navloom.evals.judging.shown_judges:pairs_calibrated"),
)
