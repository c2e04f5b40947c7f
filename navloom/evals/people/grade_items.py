"""What a judge graded, to be graded by people, blind: they read what the judge read.

The questions come from the judged run: right or wrong of an explanation, the criteria of the
rubric of a step, the causes of VLN-MME E.2 of a failed walk, the better of two tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.people.form import Answer, Form, Option, Question
from navloom.evals.people.instruction_items import Note
from navloom.evals.people.shown_parts import records, told_block
from navloom.evals.people.study_folder import Item
from navloom.evals.report.blocks import Block, Prose
from navloom.evals.run_folder import read_run, read_samples
from navloom.models.spec import read_spec

_REASONS = ("judge_reasoning", "calibrate_reasoning", "calibrate_injections")
_STEPS = ("judge_trace", "calibrate_trace")
_PAIRS = ("judge_prefer", "calibrate_prefer")
_WALKS = "judge_failures"
_KINDS = (*_REASONS, *_STEPS, _WALKS, *_PAIRS)
_ASIDE = re.compile(r"^(Job|Random seed): .*\n", re.MULTILINE)
_MOST_TEXT = 24_000


def read_judged(run: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What ``run.json`` of a judging says, and its lines.

    Raises:
        UsageError: it is no judging; RunError: it is no run.
    """
    said = read_run(run)
    if said.get("kind") not in _KINDS:
        raise UsageError(
            f"{run} is a run of '{str(said.get('kind'))[:40]}': expected one of `navloom judge`"
        )
    return said, read_samples(run)


def grade_form(form: Form, said: Mapping[str, Any]) -> Form:
    """The form with the questions of a judged run, where it has none of its own.

    Raises:
        UsageError: the run does not say what was graded.
    """
    if form.questions:
        return form
    return form.model_copy(update={"questions": tuple(_questions(said))})


def _questions(said: Mapping[str, Any]) -> Iterator[Question]:
    kind, request = str(said["kind"]), said.get("request") or {}
    try:
        if kind in _REASONS:
            options = {"correct": "it is right", "wrong": "it is wrong"}
            text = "Does the explanation name what really blocks the path?"
            yield _choice("verdict", text, options)
        elif kind in _STEPS:
            for each in request["rubric"]["criteria"]:
                options = {key: f"{key}: {each[f'if_{key}']}" for key in ("yes", "no", "na")}
                yield _choice(str(each["id"]), str(each["question"]), options)
        elif kind == _WALKS:
            causes = {str(name): f"{name}: {means}" for name, means in request["causes"].items()}
            yield _choice("cause", "Why did the walk leave the right way?", causes)
        else:
            options = {"a": "task A", "b": "task B", "tie": "neither"}
            yield _choice("choice", "Which task would a person sooner give?", options)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"the judged run does not say what was graded ({type(error).__name__}: {error}): it was"
            " made by another version or changed by other hands"
        ) from error


def _choice(name: str, text: str, options: Mapping[str, str]) -> Question:
    made = tuple(Option(name=key, text=words[:600]) for key, words in options.items())
    return Question(name=name, kind="choice", text=text, options=made)


def grade_items(
    said: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], note: Note
) -> Iterator[Item]:
    """What a judge graded as items; what it was not shown, or gave no grade, has no reference."""
    kind, model = str(said["kind"]), (said.get("request") or {}).get("model")
    judge = f"judge:{read_spec(str(model)).bare}" if model else "judge"
    number = 0
    for line in lines:
        blocks = list(_shown(kind, line))
        if not blocks:
            note(f"{str(line.get('id'))[:80]} is left out: its line does not say what was judged")
            continue
        references = {name: answers for name, answers in _known(kind, line, judge) if answers}
        yield Item(
            id=f"i{number:04}",
            scene="",
            blocks=records(blocks),
            references=references,
            tags={"of": str(line.get("id"))[:400], "home": str(line.get("scene") or "")[:400]},
        )
        number += 1


def _shown(kind: str, line: Mapping[str, Any]) -> Iterator[Block]:
    """What the judge was shown, without what is for machines."""
    if kind in _PAIRS:
        for key in ("a", "b"):
            if isinstance(line.get(key), str):
                yield told_block(line[key][:_MOST_TEXT], f"Task {key.upper()}")
        return
    result = line.get("result")
    prompt = result.get("prompt") if isinstance(result, Mapping) else None
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], str):
        text = _ASIDE.sub("", prompt[-1]).strip()[:_MOST_TEXT]
        yield Prose(title="What is to be graded", text=text, exact=True)


def _known(
    kind: str, line: Mapping[str, Any], judge: str
) -> Iterator[tuple[str, dict[str, Answer]]]:
    """What the judge said, and what is known to be so."""
    found = line.get("result")
    result: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    words = {True: "correct", False: "wrong"}
    if kind in _REASONS:
        yield judge, _one("verdict", words.get(result.get("correct")))  # type: ignore[arg-type]
        yield "truth", _one("verdict", words.get(line.get("deserves")))  # type: ignore[arg-type]
    elif kind in _STEPS:
        criteria = result.get("criteria")
        grades = criteria if isinstance(criteria, Mapping) else {}
        yield (
            judge,
            {
                str(name): str(each["grade"])
                for name, each in grades.items()
                if isinstance(each, Mapping) and each.get("grade") in ("yes", "no", "na")
            },
        )
        due = line.get("deserves")
        yield "truth", {str(k): str(v) for k, v in due.items()} if isinstance(due, Mapping) else {}
    elif kind == _WALKS:
        yield judge, _one("cause", result.get("cause"))
        yield "rules", _one("cause", result.get("rules"))
    else:
        yield judge, _one("choice", result.get("choice"))
        yield "truth", _one("choice", line.get("better"))


def _one(name: str, answer: Any) -> dict[str, Answer]:
    return {name: answer} if isinstance(answer, str) and answer else {}
