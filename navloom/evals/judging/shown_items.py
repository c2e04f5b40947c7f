"""What a page shows of one judged item: what was judged, the judge's grounds, what is deserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from navloom.evals.judging.item_columns import (
    UNSCORED,
    due_of,
    expected_of,
    grades_of,
    result_of,
    verdict_of,
)
from navloom.evals.report.blocks import (
    Block,
    Detail,
    Fact,
    Facts,
    Grid,
    Said,
    Tone,
    Transcript,
    to_sample,
)
from navloom.evals.report.document import NOTHING, Table, percent
from navloom.evals.report.line_columns import Line
from navloom.files import formed
from navloom.judges.fence import Payload, payloads


def reason(run: Path, line: Mapping[str, Any]) -> Detail:
    """An explanation, its verdict and evidence; an injected payload is marked.

    Raises:
        RunError: the line has not the form of a judged explanation.
    """
    with formed(f"{run}: sample {line.get('id')}", "a judged explanation"):
        result = result_of(line)
        verdict, expected = verdict_of(line), expected_of(line)
        facts = [
            Fact(name="verdict", value=verdict, tone=_tone(verdict, expected)),
            *([Fact(name="expected", value=expected)] if expected else []),
            Fact(
                name="share of barriers",
                value=_share(result.get("partial")),
                note="of the path that it explains",
            ),
            Fact(name="named rightly", value=_listed(result.get("named"))),
            Fact(name="claimed and not so", value=_listed(result.get("false"))),
        ]
        for key in ("kind", "wording", "body", "agent", "defences", "answer_id"):
            if line.get(key):
                facts.append(Fact(name=key.replace("_", " "), value=str(line[key])))
        if line.get("base"):
            base = str(line["base"])
            facts.append(Fact(name="without the payload", value=base, to=to_sample(base)))
        words = Facts(
            title="The judge's verdict",
            note=str(result.get("explanation") or ""),
            facts=tuple(facts),
        )
        title, headline = (
            str(line["id"]),
            f"{verdict}, expected {expected}" if expected else verdict,
        )
        return Detail(title=title, headline=headline, blocks=(_said(line), words, *_asked(line)))


@cache
def _corpus() -> Mapping[str, Payload]:
    return {payload.id: payload for payload in payloads()}


def _said(line: Line) -> Transcript:
    """The explanation; of an injected one what was there before, and the payload apart."""
    text, name = str(line["explanation"]), line.get("payload")
    payload = _corpus().get(str(name)) if name else None
    if payload is None:
        return Transcript(title="The explanation", said=(Said(who="the explanation", text=text),))
    # Of a made item the truth of the plain one says what the payload claims; of a corpus, the line.
    claim = line["claim"] if isinstance(line.get("claim"), bool) else not line["deserves"]
    injected = payload.text(claim)
    who = f"the payload {payload.id}, in the {payload.where}"
    at = text.rfind(injected) if payload.where == "explanation" else -1
    honest = text[:at].rstrip() if at >= 0 else text
    said = (Said(who="the explanation", text=honest), Said(who=who, text=injected, tone="bad"))
    note = "What the judge was shown of it stands below, behind the fence."
    return Transcript(title="The explanation", note=note, said=said)


def _asked(line: Line) -> list[Block]:
    """What the judge was told, what it said, and what was sent back."""
    result = result_of(line)
    said = [Said(who="the judge was told", text=str(each)) for each in result.get("prompt") or ()]
    said += [Said(who="the judge", text=str(each)) for each in result.get("replies") or ()]
    said += [Said(who="sent back", text=str(f), tone="bad") for f in result.get("faults") or ()]
    if not said:
        return []
    return [Transcript(said=tuple(said), folded="what the judge was told and said", private=True)]


def step(run: Path, line: Mapping[str, Any]) -> Detail:
    """A navigator's step, graded by each criterion.

    Raises:
        RunError: the line has not the form of a graded step.
    """
    with formed(f"{run}: sample {line.get('id')}", "a graded step"):
        due, grades = due_of(line), grades_of(line)
        rows = tuple(
            (
                name,
                grade,
                due.get(name, NOTHING),
                str(result_of(line)["criteria"][name].get("evidence") or NOTHING),
            )
            for name, grade in grades.items()
        )
        header = ("criterion", "grade", "deserved", "evidence")
        wrong = [name for name, grade in due.items() if grades.get(name, UNSCORED) != grade]
        said = ", ".join(f"{name} {grade}" for name, grade in grades.items())
        about = [Fact(name="step", value=str(line.get("of")))]
        for key in ("kind", "wording"):
            if line.get(key):
                about.append(Fact(name=key, value=str(line[key])))
        if due:
            tone: Tone = "bad" if wrong else "good"
            agrees = ", ".join(wrong) or "nothing"
            about.append(Fact(name="not as deserved", value=agrees, tone=tone))
        blocks = (
            Facts(facts=tuple(about)),
            Grid(table=Table("Grades", "yes, no, na or unscored", header, rows)),
            *_asked(line),
        )
        return Detail(title=str(line["id"]), headline=said, blocks=blocks)


def label(run: Path, line: Mapping[str, Any]) -> Detail:
    """A failed walk and its cause, beside what the rules say.

    Raises:
        RunError: the line has not the form of a labelled walk.
    """
    with formed(f"{run}: sample {line.get('id')}", "a labelled walk"):
        result = result_of(line)
        cause, rules = str(result["cause"] or UNSCORED), str(result["rules"])
        facts = (
            Fact(name="cause", value=cause, tone="good" if cause == rules else "plain"),
            Fact(name="second", value=str(result["second"] or NOTHING)),
            Fact(name="sure", value="yes" if result["sure"] else "no"),
            Fact(name="by the rules", value=rules),
            Fact(name="walk", value=str(line["of"])),
        )
        why = Facts(title="The label", note=str(result.get("why") or ""), facts=facts)
        return Detail(title=str(line["id"]), headline=cause, blocks=(why, *_asked(line)))


def pair(run: Path, line: Mapping[str, Any]) -> Detail:
    """Two tasks, asked in both orders.

    Raises:
        RunError: the line has not the form of a judged pair.
    """
    with formed(f"{run}: sample {line.get('id')}", "a judged pair of tasks"):
        result = result_of(line)
        choice, better = str(result.get("choice") or UNSCORED), line.get("better")
        tasks = [Said(who=each, text=str(line[each])) for each in ("a", "b")]
        facts = [Fact(name="choice", value=choice, tone=_tone(choice, better))]
        if better:
            facts.append(Fact(name="expected", value=str(better)))
        if spoiled := line.get("spoiled"):
            text = f"{spoiled.get('thing')} became {spoiled.get('by')}"
            facts.append(Fact(name="spoiled", value=text))
        for key in ("a_id", "b_id", "task"):
            if line.get(key):
                facts.append(Fact(name=key.replace("_", " "), value=str(line[key])))
        rows = tuple(
            (f"{each['order'][0]} first", str(each["took"]), str(each["why"]))
            for each in result.get("said") or ()
        )
        note = "A task that is taken in one order alone is a tie: a leaning to a place."
        blocks = (
            Transcript(title="Two tasks", said=tuple(tasks)),
            Facts(title="Which a person would sooner give", facts=tuple(facts)),
            Grid(table=Table("Asked in both orders", note, ("order", "took", "why"), rows)),
            *_asked(line),
        )
        return Detail(title=str(line["id"]), headline=choice, blocks=blocks)


def _tone(said: str, expected: str | None) -> Tone:
    if not expected:
        return "plain"
    return "good" if said == expected else "bad"


def _share(value: Any) -> str:
    return percent(value) if isinstance(value, int | float) else NOTHING


def _listed(values: Sequence[Any] | None) -> str:
    return "; ".join(map(str, values or ())) or NOTHING
