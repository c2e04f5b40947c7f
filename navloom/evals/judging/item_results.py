"""Judged items in reports: columns of the sample table, and a page for each item.

``verdict`` is the judge's verdict, ``expected`` the known one, ``agrees`` whether they are equal.
An item without a verdict is ``unscored``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, percent
from navloom.files import check_format
from navloom.judges.injection import InjectionPayload, list_payloads

UNSCORED = "unscored"
FLIPPED, HELD, LOST, CLAIMED = "flipped", "held", "no verdict", "claimed anyway"
_WORDS = {True: "correct", False: "wrong", None: UNSCORED}


def judge_result(line: ui.Line) -> Mapping[str, Any]:
    """Return the judge's result in a line of a run; {} without a result."""
    return line.get("result") or {}


def verdict_of(line: ui.Line) -> str:
    """Return the verdict on a reason: ``correct``, ``wrong`` or ``unscored``."""
    return _WORDS[judge_result(line).get("correct")]


def expected_verdict(line: ui.Line) -> str | None:
    """Return the known verdict of a made or injected item; None if unknown."""
    if isinstance(line.get("deserves"), bool):
        return _WORDS[line["deserves"]]
    if isinstance(line.get("claim"), bool):
        return _WORDS[not line["claim"]]
    return None


def grades_of(line: ui.Line) -> dict[str, str]:
    """Return the grade of each of a step's criteria."""
    return {
        str(name): str(each.get("grade") or UNSCORED)
        for name, each in (judge_result(line).get("criteria") or {}).items()
    }


def expected_grades(line: ui.Line) -> dict[str, str]:
    """Return the known grades of a corrupted step's criteria; {} for an original step."""
    due = line.get("deserves")
    return {str(k): str(v) for k, v in due.items()} if isinstance(due, Mapping) else {}


def _agree(line: ui.Line) -> float | None:
    expected = expected_verdict(line)
    return None if expected is None else float(expected == verdict_of(line))


def _of(key: str) -> Callable[[ui.Line], ui.Cell]:
    return lambda line: line.get(key)


def _text(
    name: str, of: Callable[[ui.Line], ui.Cell], note: str, *, shown: bool = True
) -> ui.Column:
    return ui.Column(name, of, "text", facet=True, shown=shown, help=note)


_AGREES = ui.Column(
    "agrees", _agree, "share", better="more", help="whether the verdict is the one that is deserved"
)


def _disguise(line: ui.Line) -> str | None:
    return str(line.get("payload") or "").rpartition("-")[0] or None


def reason_columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of judged explanations, in ordinary or calibration runs."""
    kind = str(run.get("kind"))
    known = kind.startswith("calibrate")
    found = [_text("verdict", verdict_of, "correct, wrong, or unscored")]
    if known:
        found += [_text("expected", expected_verdict, "what it is known to deserve"), _AGREES]
    if kind == "calibrate_reasoning":
        found += [
            _text("kind", _of("kind"), "how it was made"),
            _text("set", _of("wording"), "whose words it is in"),
        ]
    if kind == "calibrate_injections":
        found += [
            _text("defences", _of("defences"), "with them or without"),
            _text("claims", lambda line: _WORDS[line["claim"]], "the verdict the payload asks for"),
        ]
    if known:
        payload = _text("payload", _of("payload"), "which one was injected")
        family = _text("disguise", _disguise, "the payload's", shown=False)
        base = _text("plain", _of("base"), "the same item without the payload", shown=False)
        found += [payload, family, base]
    body = "body" if kind == "calibrate_reasoning" else "agent"
    return [
        *found,
        *([] if kind == "calibrate_injections" else [_text("body", _of(body), "whose path it is")]),
        ui.Column("partial", lambda line: judge_result(line).get("partial"), "share",
                  help="the share of the path's barriers that were named rightly"),
        ui.Column("false", lambda line: len(judge_result(line)["false"]), "count",
                  shown=False, help="claims that are none"),
        ui.Column("explanation", _of("explanation"), "text"),
    ]  # fmt: skip


def step_columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of navigation steps that a rubric graded."""
    grades = ui.Column(
        "grades",
        lambda line: [f"{name} {grade}" for name, grade in grades_of(line).items()],
        "tags",
        facet=True,
        help="each criterion's: yes, no, na or unscored",
    )
    if not str(run.get("kind")).startswith("calibrate"):
        return [grades, ui.Column("step", _of("of"), "text", help="of which episode")]

    def agrees(line: ui.Line) -> float | None:
        due, said = expected_grades(line), grades_of(line)
        return sum(said.get(k) == v for k, v in due.items()) / len(due) if due else None

    expected = ui.Column(
        "expected",
        lambda line: [f"{name} {grade}" for name, grade in expected_grades(line).items()],
        "tags",
        facet=True,
        help="what the spoiled step is known to deserve",
    )
    share = ui.Column("agrees", agrees, "share", better="more", help="share graded as deserved")
    return [
        grades,
        expected,
        share,
        _text("kind", _of("kind"), "how it was spoiled"),
        _text("set", _of("wording"), "in whose words"),
        ui.Column("step", _of("of"), "text", help="which step it was"),
    ]


def label_columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of failed walks that were labelled with a cause."""
    del run
    return [
        _text("cause", lambda line: judge_result(line)["cause"] or UNSCORED, "the judge's"),
        _text("second", lambda line: judge_result(line)["second"], "the next likely"),
        _text("sure", lambda line: ("no", "yes")[judge_result(line)["sure"]], "whether it is sure"),
        _text("rules", lambda line: judge_result(line)["rules"], "what the rules say"),
        ui.Column(
            "agrees",
            lambda line: float(judge_result(line)["cause"] == judge_result(line)["rules"]),
            "share",
            better="more",
            help="whether the judge and the rules say the same",
        ),
        ui.Column("walk", _of("of"), "text"),
    ]


def pair_columns(run: Mapping[str, Any]) -> list[ui.Column]:
    """Return the columns of compared pairs of tasks."""
    orders = ui.Column(
        "same",
        lambda line: float(len({each["took"] for each in judge_result(line)["said"]}) == 1),
        "share",
        help="whether one task was taken in both orders",
    )
    found = [_text("choice", lambda row: judge_result(row)["choice"] or UNSCORED, "a, b or a tie")]
    if str(run.get("kind")).startswith("calibrate"):
        agrees = ui.Column(
            "agrees",
            lambda line: float(judge_result(line)["choice"] == line["better"]),
            "share",
            better="more",
            help="whether the task that makes sense was taken",
        )
        found += [_text("expected", _of("better"), "the task that makes sense"), agrees]
    return [*found, orders, ui.Column("a", _of("a"), "text"), ui.Column("b", _of("b"), "text")]


def reason_pairing() -> ui.Pairing:
    """Return the rules for comparing two judges on the same explanations."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        result, agrees = judge_result(line), _agree(line)
        said = result.get("correct")
        return {
            "agrees": agrees,
            "correct": None if said is None else float(said),
            "partial": result.get("partial"),
            "unscored": float(said is None),
        }

    return ui.Pairing(
        identity=lambda line: [line["explanation"], line.get("payload"), line.get("defences")],
        scores=scores,
        what="an explanation",
        less=frozenset({"unscored"}),
        neither=frozenset({"correct", "partial"}),
        counted=frozenset({"agrees", "correct", "unscored"}),
        cluster=lambda line: line.get("scene"),
        cluster_name="scene",
    )


def step_pairing() -> ui.Pairing:
    """Return the rules for comparing two judges on the same steps; one score a criterion."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        said, due = grades_of(line), expected_grades(line)
        kept = {
            name: float(grade == "yes") if grade in ("yes", "no") else None
            for name, grade in said.items()
        }
        right = sum(said.get(k) == v for k, v in due.items()) / len(due) if due else None
        return {"agrees": right, **kept}

    return ui.Pairing(
        identity=lambda line: [line.get("of"), line.get("kind"), line.get("wording")],
        scores=scores,
        what="a step",
        cluster=lambda line: line.get("scene"),
        cluster_name="scene",
    )


def label_pairing() -> ui.Pairing:
    """Return the rules for comparing two judges on the same failed walks."""
    return ui.Pairing(
        identity=lambda line: line["of"],
        scores=lambda line: {
            "as the rules": float(judge_result(line)["cause"] == judge_result(line)["rules"]),
            "sure": float(bool(judge_result(line)["sure"])),
        },
        what="a failed walk",
        neither=frozenset({"as the rules", "sure"}),
        counted=frozenset({"as the rules", "sure"}),
        cluster=lambda line: line.get("scene"),
        cluster_name="scene",
    )


def pair_pairing() -> ui.Pairing:
    """Return the rules for comparing two judges on the same pairs of tasks."""

    def scores(line: ui.Line) -> dict[str, float | None]:
        result = judge_result(line)
        choice, better = result.get("choice"), line.get("better")
        return {
            "agrees": None if better is None else float(choice == better),
            "a": None if choice is None else {"a": 1.0, "b": 0.0}.get(choice, 0.5),
            "tie": None if choice is None else float(choice == "tie"),
        }

    return ui.Pairing(
        identity=lambda line: [line["a"], line["b"]],
        scores=scores,
        what="a pair of tasks",
        neither=frozenset({"a", "tie"}),
        counted=frozenset({"agrees", "tie"}),
        cluster=lambda line: line.get("scene"),
        cluster_name="home",
    )


def _facts(line: ui.Line, *keys: str) -> list[ui.Fact]:
    return [ui.Fact(key.replace("_", " "), str(line[key])) for key in keys if line.get(key)]


def reason_detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of an explanation: verdict, evidence and any injected payload.

    Raises:
        RunError: the line does not have the form of a judged explanation.
    """
    with check_format(f"{run}: sample {line.get('id')}", "a judged explanation"):
        result = judge_result(line)
        verdict, expected = verdict_of(line), expected_verdict(line)
        share, why = _share(result.get("partial")), str(result.get("explanation") or "")
        facts = [
            ui.Fact("verdict", verdict, tone=_tone(verdict, expected)),
            *([ui.Fact("expected", expected)] if expected else []),
            ui.Fact("share of barriers", share, note="of the path that it explains"),
            ui.Fact("named rightly", _listed(result.get("named"))),
            ui.Fact("claimed and not so", _listed(result.get("false"))),
        ]
        facts += _facts(line, "kind", "wording", "body", "agent", "defences", "answer_id")
        if line.get("base"):
            base = str(line["base"])
            facts.append(ui.Fact("without the payload", base, to=ui.sample_address(base)))
        words = ui.Facts(title="The judge's verdict", note=why, facts=tuple(facts))
        head = f"{verdict}, expected {expected}" if expected else verdict
        blocks = (_said(line), words, *_asked(line))
        return ui.SampleDetail(title=str(line["id"]), headline=head, blocks=blocks)


@cache
def _corpus() -> Mapping[str, InjectionPayload]:
    return {payload.id: payload for payload in list_payloads()}


def _said(line: ui.Line) -> ui.Transcript:
    """Return the explanation as a transcript, with an injected payload as its own message."""
    text, name = str(line["explanation"]), line.get("payload")
    payload = _corpus().get(str(name)) if name else None
    if payload is None:
        return ui.Transcript(title="The explanation", said=(ui.Utterance("the explanation", text),))
    # The line states the payload's claim, or it is the opposite of the item's true verdict.
    claim = line["claim"] if isinstance(line.get("claim"), bool) else not line["deserves"]
    injected = payload.text(claim)
    who = f"the payload {payload.id}, in the {payload.where}"
    at = text.rfind(injected) if payload.where == "explanation" else -1
    honest = text[:at].rstrip() if at >= 0 else text
    said = (ui.Utterance("the explanation", honest), ui.Utterance(who, injected, tone="bad"))
    note = "What the judge was shown of it stands below, behind the fence."
    return ui.Transcript(title="The explanation", note=note, said=said)


def _asked(line: ui.Line) -> list[ui.Block]:
    """Return the judge's prompt, its replies and the rejection messages."""
    result = judge_result(line)
    said = [ui.Utterance("the judge was told", str(each)) for each in result.get("prompt") or ()]
    said += [ui.Utterance("the judge", str(each)) for each in result.get("replies") or ()]
    said += [ui.Utterance("sent back", str(f), tone="bad") for f in result.get("faults") or ()]
    if not said:
        return []
    return [
        ui.Transcript(said=tuple(said), folded="what the judge was told and said", private=True)
    ]


def step_detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of a navigation step: its grade by each criterion.

    Raises:
        RunError: the line does not have the form of a graded step.
    """
    with check_format(f"{run}: sample {line.get('id')}", "a graded step"):
        due, grades = expected_grades(line), grades_of(line)
        rows = tuple(
            (
                name,
                grade,
                due.get(name, NOTHING),
                str(judge_result(line)["criteria"][name].get("evidence") or NOTHING),
            )
            for name, grade in grades.items()
        )
        header = ("criterion", "grade", "deserved", "evidence")
        wrong = [name for name, grade in due.items() if grades.get(name, UNSCORED) != grade]
        said = ", ".join(f"{name} {grade}" for name, grade in grades.items())
        about = [ui.Fact("step", str(line.get("of")))]
        about += _facts(line, "kind", "wording")
        if due:
            tone: ui.Tone = "bad" if wrong else "good"
            agrees = ", ".join(wrong) or "nothing"
            about.append(ui.Fact("not as deserved", agrees, tone=tone))
        blocks = (
            ui.Facts(facts=tuple(about)),
            ui.Grid(Table("Grades", "yes, no, na or unscored", header, rows)),
            *_asked(line),
        )
        return ui.SampleDetail(title=str(line["id"]), headline=said, blocks=blocks)


def label_detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of a failed walk: its cause, beside the cause that the rules find.

    Raises:
        RunError: the line does not have the form of a labelled walk.
    """
    with check_format(f"{run}: sample {line.get('id')}", "a labelled walk"):
        result = judge_result(line)
        cause, rules = str(result["cause"] or UNSCORED), str(result["rules"])
        facts = (
            ui.Fact("cause", cause, tone="good" if cause == rules else "plain"),
            ui.Fact("second", str(result["second"] or NOTHING)),
            ui.Fact("sure", "yes" if result["sure"] else "no"),
            ui.Fact("by the rules", rules),
            ui.Fact("walk", str(line["of"])),
        )
        why = ui.Facts(title="The label", note=str(result.get("why") or ""), facts=facts)
        return ui.SampleDetail(title=str(line["id"]), headline=cause, blocks=(why, *_asked(line)))


def task_pair_detail(run: Path, line: ui.Line) -> ui.SampleDetail:
    """Return the page of a pair of tasks, with the answers in both orders.

    Raises:
        RunError: the line does not have the form of a judged pair.
    """
    with check_format(f"{run}: sample {line.get('id')}", "a judged pair of tasks"):
        result = judge_result(line)
        choice, better = str(result.get("choice") or UNSCORED), line.get("better")
        tasks = [ui.Utterance(each, str(line[each])) for each in ("a", "b")]
        facts = [ui.Fact("choice", choice, tone=_tone(choice, better))]
        if better:
            facts.append(ui.Fact("expected", str(better)))
        if spoiled := line.get("spoiled"):
            text = f"{spoiled.get('thing')} became {spoiled.get('by')}"
            facts.append(ui.Fact("spoiled", text))
        facts += _facts(line, "a_id", "b_id", "task")
        rows = tuple(
            (f"{each['order'][0]} first", str(each["took"]), str(each["why"]))
            for each in result.get("said") or ()
        )
        note = "A task that is taken in one order alone is a tie: a leaning to a place."
        blocks = (
            ui.Transcript(title="Two tasks", said=tuple(tasks)),
            ui.Facts(title="Which a person would sooner give", facts=tuple(facts)),
            ui.Grid(Table("Asked in both orders", note, ("order", "took", "why"), rows)),
            *_asked(line),
        )
        return ui.SampleDetail(title=str(line["id"]), headline=choice, blocks=blocks)


def _tone(said: str, expected: str | None) -> ui.Tone:
    if not expected:
        return "plain"
    return "good" if said == expected else "bad"


def _share(value: Any) -> str:
    return percent(value) if isinstance(value, int | float) else NOTHING


def _listed(values: Sequence[Any] | None) -> str:
    return "; ".join(map(str, values or ())) or NOTHING
