"""Registry entries of the kinds of runs that come with Navloom.

Importing this module, as pages and help texts do, imports no agent, model, image or geometry code.
That is imported when a run is planned, executed or shown.
"""

from __future__ import annotations

from dataclasses import replace

from navloom.evals.capnav.request import CapnavRequest, CapnavSynthRequest
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.kinds import Kind, later, later_all
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.report.document import first_score

SINGLE = Kind(
    name="single",
    command="synth single",
    request=SynthRequest,
    things=("attempts", "homes"),
    prompts_shown=None,
    **later_all(
        "navloom.evals.navcraft.run:plan job=SynthJob dry=calls",
        "navloom.evals.navcraft.results:report=write_report tables",
        "navloom.evals.navcraft.export:export=export_run",
        "navloom.evals.navcraft.task_results:columns detail pairing",
    ),
)
COLLAB = replace(
    SINGLE, name="collab", command="synth collab", finish=later("navloom.evals.navcraft.run:finish")
)
DIRECT = Kind(
    name=DirectRequest.KIND,
    command="synth direct",
    request=DirectRequest,
    first=lambda said: first_score("valid", said["direct"]["valid"], "share"),
    things=("attempts", "homes"),
    **later_all(
        "navloom.evals.navcraft.direct_run:plan job=DirectJob dry=calls finish",
        "navloom.evals.navcraft.direct_results:ended report columns detail tables pairing",
    ),
)
NAVIGATE = Kind(
    name=EvalRequest.KIND,
    command="eval",
    request=EvalRequest,
    first=lambda said: first_score("SR", said["scores"]["metrics"]["SR"], "mean"),
    things=("episodes", "scenes"),
    **later_all(
        "navloom.evals.navigation.run:plan job=EvalJob dry=calls finish",
        "navloom.evals.navigation.results:ended report tables failures",
        "navloom.evals.navigation.shown_episodes:columns",
        "navloom.evals.navigation.episode_pair:pairing",
        "navloom.evals.navigation.episode_detail:detail",
    ),
)
CAPNAV = Kind(
    name=CapnavRequest.KIND,
    command="eval capnav",
    request=CapnavRequest,
    first=lambda said: first_score("accuracy", said["scores"]["ours"]["accuracy"], "value"),
    things=("pairs", "scenes"),
    **later_all(
        "navloom.evals.capnav.run:plan job=CapnavJob dry=calls finish",
        "navloom.evals.capnav.results:ended report columns detail tables pairing",
    ),
)
CAPNAV_TASKS = Kind(
    name=CapnavSynthRequest.KIND,
    command="synth capnav",
    request=CapnavSynthRequest,
    # A new plan lacks the conversations of later rounds.
    broken_alone=False,
    things=("conversations", "scenes"),
    **later_all(
        "navloom.evals.capnav.design_run:plan job=DesignJob dry=calls more finish ended report",
        "navloom.evals.capnav.made_questions:columns detail tables pairing",
    ),
)
CAPTIONS = Kind(
    name=CaptionRequest.KIND,
    command="caption",
    request=CaptionRequest,
    things=("viewpoints", "scenes"),
    **later_all(
        "navloom.evals.captions.run:plan job=CaptionJob dry=calls finish",
        "navloom.evals.captions.results:columns detail tables pairing",
    ),
)
JUDGE_REASONING = Kind(
    name="judge_reasoning",
    command="judge reasoning",
    request=JudgeRequest,
    things=("items", "scenes"),
    **later_all(
        "navloom.evals.judging.run:plan=plan_answers job=ReasoningJob dry=calls",
        "navloom.evals.judging.item_results:columns=reason_columns detail=reason",
        "navloom.evals.judging.item_results:pairing=reason_pairing",
        "navloom.evals.judging.results:tables=reasons_judged",
    ),
)
CALIBRATE_REASONING = replace(
    JUDGE_REASONING,
    name="calibrate_reasoning",
    command="judge calibrate reasoning",
    **later_all(
        "navloom.evals.judging.calibration:plan=plan_reasoning",
        "navloom.evals.judging.results:tables=reasons_calibrated",
    ),
)
CALIBRATE_INJECTIONS = replace(
    JUDGE_REASONING,
    name="calibrate_injections",
    command="judge calibrate reasoning --injections",
    **later_all(
        "navloom.evals.judging.calibration:plan=plan_injections",
        "navloom.evals.judging.results:tables=injections_measured",
    ),
)
JUDGE_TRACE = Kind(
    name="judge_trace",
    command="judge trace",
    request=JudgeRequest,
    things=("items", "scenes"),
    **later_all(
        "navloom.evals.judging.run:plan=plan_traces job=RubricJob dry=calls",
        "navloom.evals.judging.item_results:columns=step_columns detail=step pairing=step_pairing",
        "navloom.evals.judging.results:tables=steps_graded",
    ),
)
CALIBRATE_TRACE = replace(
    JUDGE_TRACE,
    name="calibrate_trace",
    command="judge calibrate trace",
    **later_all(
        "navloom.evals.judging.calibration:plan=plan_trace",
        "navloom.evals.judging.results:tables=steps_calibrated",
    ),
)
JUDGE_FAILURES = Kind(
    name="judge_failures",
    command="judge failures",
    request=JudgeRequest,
    things=("walks", "scenes"),
    **later_all(
        "navloom.evals.judging.labelling:plan=plan_labels job=LabelJob finish=write_labels",
        "navloom.evals.judging.run:dry=calls",
        "navloom.evals.judging.item_results:columns=label_columns detail=label",
        "navloom.evals.judging.item_results:pairing=label_pairing",
        "navloom.evals.judging.results:tables=walks_labelled",
    ),
)
JUDGE_PREFER = Kind(
    name="judge_prefer",
    command="judge prefer",
    request=JudgeRequest,
    things=("pairs", "scenes"),
    **later_all(
        "navloom.evals.judging.task_pairs:plan=plan_prefer job=PreferenceJob dry=calls",
        "navloom.evals.judging.item_results:columns=pair_columns detail=pair pairing=pair_pairing",
        "navloom.evals.judging.results:tables=pairs_preferred",
    ),
)
CALIBRATE_PREFER = replace(
    JUDGE_PREFER,
    name="calibrate_prefer",
    command="judge calibrate prefer",
    **later_all(
        "navloom.evals.judging.task_pairs:plan=plan_calibrate",
        "navloom.evals.judging.results:tables=pairs_calibrated",
    ),
)
