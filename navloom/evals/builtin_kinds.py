"""Registry entries of the kinds of runs that come with Navloom.

Importing this module, as pages and help texts do, imports no agent, model, image or geometry code.
That is imported when a run is planned, executed or shown.
"""

from __future__ import annotations

from dataclasses import replace

from navloom.evals.capnav.request import CapnavRequest, CapnavSynthRequest
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.report.formatting import headline_score
from navloom.evals.run_kinds import RunKind, lazy_function, lazy_functions

SINGLE = RunKind(
    name="single",
    command="synth single",
    request=SynthRequest,
    things=("attempts", "homes"),
    prompts_shown=None,
    **lazy_functions(
        "navloom.evals.navcraft.run:plan job=SynthJob dry=calls",
        "navloom.evals.navcraft.results:report=write_report tables",
        "navloom.evals.navcraft.export:export=export_run",
        "navloom.evals.navcraft.task_results:columns detail pairing",
    ),
)
COLLAB = replace(
    SINGLE,
    name="collab",
    command="synth collab",
    finish=lazy_function("navloom.evals.navcraft.run:finish"),
)
DIRECT = RunKind(
    name=DirectRequest.KIND,
    command="synth direct",
    request=DirectRequest,
    first=lambda said: headline_score("valid", said["direct"]["valid"], "share"),
    things=("attempts", "homes"),
    **lazy_functions(
        "navloom.evals.navcraft.direct_run:plan job=DirectJob dry=calls finish",
        "navloom.evals.navcraft.direct_results:ended report columns detail tables pairing",
    ),
)
NAVIGATE = RunKind(
    name=EvalRequest.KIND,
    command="eval",
    request=EvalRequest,
    first=lambda said: headline_score("SR", said["scores"]["metrics"]["SR"], "mean"),
    things=("episodes", "scenes"),
    **lazy_functions(
        "navloom.evals.navigation.run:plan job=EvalJob dry=calls finish",
        "navloom.evals.navigation.results:ended report tables failures",
        "navloom.evals.navigation.episode_display:columns",
        "navloom.evals.navigation.episode_pair:pairing",
        "navloom.evals.navigation.episode_detail:detail",
    ),
)
CAPNAV = RunKind(
    name=CapnavRequest.KIND,
    command="eval capnav",
    request=CapnavRequest,
    first=lambda said: headline_score("accuracy", said["scores"]["ours"]["accuracy"], "value"),
    things=("pairs", "scenes"),
    **lazy_functions(
        "navloom.evals.capnav.run:plan job=CapnavJob dry=calls finish",
        "navloom.evals.capnav.results:ended report columns detail tables pairing",
    ),
)
CAPNAV_TASKS = RunKind(
    name=CapnavSynthRequest.KIND,
    command="synth capnav",
    request=CapnavSynthRequest,
    # A new plan lacks the conversations of later rounds.
    broken_alone=False,
    things=("conversations", "scenes"),
    **lazy_functions(
        "navloom.evals.capnav.question_synthesis:plan job=DesignJob dry=calls more finish"
        " ended report",
        "navloom.evals.capnav.synthesis_results:columns detail tables pairing",
    ),
)
CAPTIONS = RunKind(
    name=CaptionRequest.KIND,
    command="caption",
    request=CaptionRequest,
    things=("viewpoints", "scenes"),
    **lazy_functions(
        "navloom.evals.captions.run:plan job=CaptionJob dry=calls finish",
        "navloom.evals.captions.results:columns detail tables pairing",
    ),
)
JUDGE_REASONING = RunKind(
    name="judge_reasoning",
    command="judge reasoning",
    request=JudgeRequest,
    things=("items", "scenes"),
    **lazy_functions(
        "navloom.evals.judging.run:plan=plan_answers job=ReasoningJob dry=calls",
        "navloom.evals.judging.item_results:columns=reason_columns detail=reason_detail",
        "navloom.evals.judging.item_results:pairing=reason_pairing",
        "navloom.evals.judging.results:tables=reason_blocks",
    ),
)
CALIBRATE_REASONING = replace(
    JUDGE_REASONING,
    name="calibrate_reasoning",
    command="judge calibrate reasoning",
    **lazy_functions(
        "navloom.evals.judging.calibration:plan=plan_reasoning",
        "navloom.evals.judging.results:tables=reason_calibration",
    ),
)
CALIBRATE_INJECTIONS = replace(
    JUDGE_REASONING,
    name="calibrate_injections",
    command="judge calibrate reasoning --injections",
    **lazy_functions(
        "navloom.evals.judging.calibration:plan=plan_injections",
        "navloom.evals.judging.results:tables=injection_blocks",
    ),
)
JUDGE_TRACE = RunKind(
    name="judge_trace",
    command="judge trace",
    request=JudgeRequest,
    things=("items", "scenes"),
    **lazy_functions(
        "navloom.evals.judging.run:plan=plan_traces job=RubricJob dry=calls",
        "navloom.evals.judging.item_results:columns=step_columns detail=step_detail"
        " pairing=step_pairing",
        "navloom.evals.judging.results:tables=graded_step_blocks",
    ),
)
CALIBRATE_TRACE = replace(
    JUDGE_TRACE,
    name="calibrate_trace",
    command="judge calibrate trace",
    **lazy_functions(
        "navloom.evals.judging.calibration:plan=plan_trace",
        "navloom.evals.judging.results:tables=step_calibration",
    ),
)
JUDGE_FAILURES = RunKind(
    name="judge_failures",
    command="judge failures",
    request=JudgeRequest,
    things=("walks", "scenes"),
    **lazy_functions(
        "navloom.evals.judging.labelling:plan=plan_labels job=LabelJob finish=write_labels",
        "navloom.evals.judging.run:dry=calls",
        "navloom.evals.judging.item_results:columns=label_columns detail=label_detail",
        "navloom.evals.judging.item_results:pairing=label_pairing",
        "navloom.evals.judging.results:tables=label_blocks",
    ),
)
JUDGE_PREFER = RunKind(
    name="judge_prefer",
    command="judge prefer",
    request=JudgeRequest,
    things=("pairs", "scenes"),
    **lazy_functions(
        "navloom.evals.judging.task_pairs:plan=plan_prefer job=PreferenceJob dry=calls",
        "navloom.evals.judging.item_results:columns=pair_columns detail=task_pair_detail"
        " pairing=pair_pairing",
        "navloom.evals.judging.results:tables=preference_blocks",
    ),
)
CALIBRATE_PREFER = replace(
    JUDGE_PREFER,
    name="calibrate_prefer",
    command="judge calibrate prefer",
    **lazy_functions(
        "navloom.evals.judging.task_pairs:plan=plan_calibrate",
        "navloom.evals.judging.results:tables=preference_calibration",
    ),
)
