"""Reimplementation of the public CapNav scorer, to compare with published numbers.

The source of the rules is makeabilitylab/CapNav, ``scripts/capnav_score.py`` and its runners, which
were read, run for comparison and rewritten. Differences from
:mod:`navloom.evals.capnav.answer_scoring`:

- start and end are found by node names in the question's text, around "from" and "to";
- a path's nodes are ids only if all of them are existing ids; else each is matched by name: equal,
  one within the other (the longest name wins), or a similarity of 0.78;
- an unlabelled passage is blocked, in the truth and along a path;
- a reply that cannot be parsed counts as a false negative or a false positive;
- a JSON answer is first converted to the older line, ``Answer: (A) True | Path: a -> b``: anything
  but yes, true, a and (a) is a no, and the reason is lost;
- a record whose answers are no list, or a question without any node's name, is not counted at all.

Edge cases of the original are reproduced; scans are linear in the text.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navloom.evals.capnav.answer_scoring import Bucket, ScoreRecord
from navloom.models.messages import MOST_CHARACTERS
from navloom.scenes.bodies import canonical_name
from navloom.scenes.formats.capnav import NEAR, NodeIndex
from navloom.scenes.scene import UNKNOWN
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav.feasibility import reach_matrices

_SPACES = re.compile(r"\s+")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_FROM, _TO = re.compile(r"\bfrom\b"), re.compile(r"\bto\b")
_ID = re.compile(r"node_\d+")
_MOST_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class OfficialScore(ScoreRecord):
    """The public scorer's score of one reply.

    Attributes:
        error: code of why it is not counted; None if it counts.
        format_error: code of why it cannot be parsed; None if it can.
        answer: ``yes`` or ``no``; None if it cannot be parsed.
        start: start node found in the question's text.
        end: end node found in the question's text.
        truth: whether the body gets there.
        bucket: TP, FP, FN or TN.
        path: node ids, None for an unmatched name.
        valid: whether the path is valid; None if the reply cannot be parsed.
        faults: codes of why the path is invalid.
        traversable: share of the path's passages that the body can use, for a yes with valid path.
        reason: text after ``Fail:`` or ``Reason:`` in the older line.
        notes: the annotators' notes on the path's blocked passages.
        reason_valid: 0 for a no without path or reason; None if a judge must decide.
    """

    error: str | None = None
    format_error: str | None = None
    answer: str | None = None
    start: str | None = None
    end: str | None = None
    truth: bool | None = None
    bucket: Bucket | None = None
    path: tuple[str | None, ...] = ()
    valid: bool | None = None
    faults: tuple[str, ...] = ()
    traversable: float | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    reason_valid: float | None = None

    @property
    def counted(self) -> bool:
        """True if the reply counts."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class _Hit:
    """An occurrence of a node's name in a question."""

    name: str
    start: int
    length: int
    center: float


@dataclass
class OfficialScorer:
    """The public scorer's rules applied to one scene; caches what does not change."""

    nodes: NodeIndex
    table: Traversability
    _of_name: dict[str, str] = field(init=False)
    _plain: list[tuple[str, str]] = field(init=False)
    _edges: set[tuple[str, str]] = field(init=False)
    _reach: dict[str, NDArray[np.int8]] | None = field(default=None, init=False)
    _ends: dict[str, tuple[str, str] | str] = field(default_factory=dict, init=False)
    _matched: dict[str, str | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        named = [(n, self.nodes.name(n)) for n in self.nodes.ids if self.nodes.name(n) != UNKNOWN]
        # A name shared by several nodes means the last one.
        self._of_name = {name: node for node, name in named}
        self._plain = [(name, normalize(name)) for name in self._of_name]
        edges = self.table.edges
        self._edges = {*edges, *((b, a) for a, b in edges)}

    def score(self, question: str, agent: str, output: str) -> OfficialScore:
        """Score one reply in the older line form, as :func:`to_output_line` writes it.

        Args:
            question: its text.
            agent: the body's name.
            output: the reply; longer than 200,000 characters it cannot be parsed.
        """
        if not question or not agent:
            return OfficialScore(error="missing_scene_agent_or_question")
        ends = self.ends(question)
        if isinstance(ends, str):
            return OfficialScore(error=ends)
        truth = self.feasible(agent, *ends)
        line = parse_output(output)
        if line.error is not None:
            return OfficialScore(
                format_error=line.error,
                start=ends[0],
                end=ends[1],
                truth=truth,
                bucket="FN" if truth else "FP",
            )
        return self._scored(agent, line, ends, truth)

    def _scored(
        self, agent: str, line: ParsedReply, ends: tuple[str, str], truth: bool
    ) -> OfficialScore:
        path = self.path(line.names)
        faults = self._faults(path, *ends)
        yes, known = line.answer == "yes", [node for node in path if node is not None]
        reason = "" if yes else reason_text(line.text)
        return OfficialScore(
            answer=line.answer,
            start=ends[0],
            end=ends[1],
            truth=truth,
            bucket=("TP" if truth else "FP") if yes else ("FN" if truth else "TN"),
            path=path,
            valid=not faults,
            faults=faults,
            traversable=self._share(agent, known) if yes and not faults else None,
            reason=reason,
            notes=() if yes else self._notes(agent, known),
            reason_valid=0.0 if not yes and (len(known) < 2 or not reason) else None,
        )

    def ends(self, question: str) -> tuple[str, str] | str:
        """Return start and end node by the question's text, or an error code."""
        if question not in self._ends:
            self._ends[question] = self._find_ends(question)
        return self._ends[question]

    def _find_ends(self, question: str) -> tuple[str, str] | str:
        if not question.strip():
            return "empty_question"
        words = normalize(question)
        hits = [
            _Hit(name, found.start(), len(plain), (found.start() + found.end()) / 2.0)
            for name, plain in self._plain
            if plain
            for found in re.finditer(rf"\b{re.escape(plain)}\b", words)
        ]
        if not hits:
            return "no_node_name_hit_in_question"
        found = _around_from_and_to(words, hits)
        if isinstance(found, str):
            return found
        return self._of_name[found[0]], self._of_name[found[1]]

    def feasible(self, agent: str, start: str, end: str) -> bool:
        """Check whether the body gets there; unlabelled passages are blocked."""
        if self._reach is None:
            self._reach = reach_matrices(self.table, compat_edges=True)
        answers = self._reach.get(_key(agent))
        if answers is None:
            return start == end
        rows = self.table.nodes
        return bool(answers[rows.index(start), rows.index(end)] == 1)

    def path(self, names: Sequence[str]) -> tuple[str | None, ...]:
        """Return the node of each name of a path; None for an unmatched name."""
        if names and all(_ID.fullmatch(name.strip()) and name in self.nodes for name in names):
            return tuple(names)
        # More names than any scene has nodes: the rest need not be matched.
        return tuple(self._match(n) if k < _MOST_NAMES else None for k, n in enumerate(names))

    def _match(self, said: str) -> str | None:
        if said not in self._matched:
            self._matched[said] = self._by_name(normalize(said))
        return self._matched[said]

    def _by_name(self, said: str) -> str | None:
        if not said:
            return None
        for name, plain in self._plain:
            if plain == said:
                return self._of_name[name]
        within = [(len(p), name) for name, p in self._plain if p and (p in said or said in p)]
        if within:
            return self._of_name[max(within)[1]]
        best, alike = None, 0.0
        for name, plain in self._plain:
            if 2 * min(len(said), len(plain)) < NEAR * (len(said) + len(plain)):
                continue  # cannot be similar enough, and may be very long
            ratio = SequenceMatcher(None, said, plain).ratio()
            if ratio > alike:
                best, alike = name, ratio
        return self._of_name[best] if best is not None and alike >= NEAR else None

    def _faults(self, path: Sequence[str | None], start: str, end: str) -> tuple[str, ...]:
        if not path:
            return ("empty_path",)
        faults = ["unresolved_node_in_path"] if None in path else []
        if path[0] != start:
            faults.append("path_start_not_src")
        if path[-1] != end:
            faults.append("path_end_not_tgt")
        known = [node for node in path if node is not None]
        if len(known) != len(set(known)):
            faults.append("not_simple_path_repeated_nodes")
        for a, b in pairwise(path):
            if a is not None and b is not None and (a, b) not in self._edges:
                faults.append(f"missing_edge:{a}->{b}")
        return tuple(faults)

    def _share(self, agent: str, path: Sequence[str]) -> float | None:
        if len(path) < 2:
            return None
        if _key(agent) not in self.table.bodies:
            return 0.0
        used = [self.table.passage(agent, a, b).traversable is True for a, b in pairwise(path)]
        return sum(used) / len(used)

    def _notes(self, agent: str, path: Sequence[str]) -> tuple[str, ...]:
        if _key(agent) not in self.table.bodies:
            return ()
        notes = []
        for a, b in pairwise(path):
            passage = self.table.passage(agent, a, b)
            if passage.traversable is not True:
                notes.append(passage.note.strip() or f"{a}->{b} is not traversable")
        return tuple(dict.fromkeys(notes))


def _key(agent: str) -> str:
    """Return the canonical name of a body; unlike :func:`canonical_name`, keep outer spaces."""
    return canonical_name(agent) if agent == agent.strip() else agent


def normalize(text: str) -> str:
    """Return a text normalised for comparison: lower case, no punctuation, single spaces."""
    return _SPACES.sub(" ", text.lower().strip().translate(_PUNCTUATION))


def _around_from_and_to(words: str, hits: Sequence[_Hit]) -> tuple[str, str] | str:
    begin = _FROM.search(words)
    until = begin and _TO.search(words, begin.end())
    if begin is None or until is None:
        return _first_and_last(hits)
    after, at = begin.end(), until.start()
    first = [hit for hit in hits if after <= hit.center <= at]
    last = [hit for hit in hits if hit.center >= at]
    if first and last:
        return _best(first, last, after, at)
    return _nearest([hit for hit in hits if hit.center >= after], after, at)


def _first_and_last(hits: Sequence[_Hit]) -> tuple[str, str]:
    ordered = sorted(hits, key=lambda hit: (hit.start, -hit.length))
    first, last = ordered[0], ordered[-1]
    if first.name == last.name and len(ordered) > 1:
        last = ordered[-2]
    return first.name, last.name


def _best(first: Sequence[_Hit], last: Sequence[_Hit], after: int, at: int) -> tuple[str, str]:
    """Return the names near "from" and near "to"; longer names may be farther away."""

    def near_to(hit: _Hit) -> float:
        return -abs(hit.center - at) + 0.08 * hit.length

    start = max(first, key=lambda hit: -abs(hit.center - after) + 0.08 * hit.length)
    ordered = sorted(last, key=near_to, reverse=True)
    end = ordered[0]
    if start.name == end.name:
        end = next((hit for hit in ordered if hit.name != start.name), end)
    return start.name, end.name


def _nearest(hits: Sequence[_Hit], after: int, at: int) -> tuple[str, str] | str:
    if not hits:
        return "no_hits_after_from"
    start = min(hits, key=lambda hit: abs(hit.center - after) - 0.05 * hit.length)
    ordered = sorted(hits, key=lambda hit: abs(hit.center - at) - 0.05 * hit.length)
    end = ordered[0]
    if start.name == end.name:
        end = next((hit for hit in ordered if hit.name != start.name), end)
    return start.name, end.name


_ANSWER = re.compile(r"answer:\s*\([ab]\)\s*(true|false)\s*\|\s*path:\s*(.+)", re.IGNORECASE)
_TAIL = re.compile(r"\|\s*(?:fail|reason)\s*:", flags=re.IGNORECASE)
_ARROW = re.compile(r"->|→")
_YES = frozenset({"yes", "true", "a", "(a)"})


class ParsedReply(NamedTuple):
    """A reply as the public scorer parses it."""

    error: str | None
    answer: str | None = None
    names: tuple[str, ...] = ()
    text: str = ""


def parse_output(text: str) -> ParsedReply:
    """Parse a reply in the older line form."""
    if not text.strip():
        return ParsedReply("empty_output")
    if len(text) > MOST_CHARACTERS:
        return ParsedReply("cannot_parse_answer_path")
    cleaned = _unthought(text).strip()
    found = _ANSWER.search(cleaned)
    if found is None:
        return ParsedReply("cannot_parse_answer_path")
    answer, path = "yes" if found[1].lower() == "true" else "no", found[2]
    tail = _TAIL.search(path)
    path = path if tail is None else path[: tail.start()]
    names = tuple(name for part in _ARROW.split(path) if (name := part.strip()))
    if answer == "yes" and len(names) < 2:
        return ParsedReply("yes_without_path")
    return ParsedReply(None, answer, names, cleaned)


def _unthought(text: str) -> str:
    """Remove ``<think>...</think>``; one that is not closed stays."""
    kept, at = [], 0
    while (opened := text.find("<think>", at)) >= 0:
        closed = text.find("</think>", opened)
        if closed < 0:
            break
        kept.append(text[at:opened])
        at = closed + len("</think>")
    return "".join([*kept, text[at:]])


def reason_text(text: str) -> str:
    """Return the text after the first ``| Fail:`` or ``| Reason:`` on the last line."""
    line = text.rfind("\n")
    last = len(text[: line + 1].rstrip())
    for found in _TAIL.finditer(text):
        # Only white space may separate it from the last line.
        if found.end() >= last and (said := text[found.end() :].strip()):
            return said
    return ""


def to_output_line(answer: Any, path: Any) -> str:
    """Convert a JSON answer to the older line form; all but a few words become a no."""
    names = [str(each) for each in path] if isinstance(path, list) else []
    yes = str(answer or "").strip().lower() in _YES
    return f"Answer: ({'A' if yes else 'B'}) {yes} | Path: {' -> '.join(names)}"


def answer_items(value: Any) -> list[dict[str, Any]] | str:
    """Return the answer objects in a model's JSON, or an error code."""
    if value is None:
        return "missing_result"
    if not isinstance(value, list):
        return "result_not_list"
    items = [item for item in value if isinstance(item, dict)]
    return items or "empty_result_items_or_missing_fields"


def reply_to_outputs(text: str) -> list[tuple[str | None, str | None, str]] | str:
    """Split a model's reply into (question, body, line in the older form), or an error code.

    A JSON array gives one entry for each answer. Other text gives one entry with question and body
    None. The public runner drops such text; here it counts against the model as unparsed.
    """
    try:
        value = _json(text)
    except (ValueError, RecursionError):
        return [(None, None, text)]
    items = answer_items(value)
    if isinstance(items, str):
        return items
    found = []
    for item in items:
        inner = item.get("result")
        inner = inner if isinstance(inner, dict) else {}
        output = to_output_line(inner.get("answer"), inner.get("path") or [])
        found.append((item.get("question"), item.get("agent"), output))
    return found


def _json(text: str) -> Any:
    """Parse the JSON within the reply's outermost brackets, as the public runner does."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError
    said = _unthought(text).strip()
    if said.startswith("```"):
        said = said.strip("`").strip()
        said = said[4:].strip() if said.lower().startswith("json") else said
    begin, end = said.find("["), said.rfind("]")
    brace = said.find("{")
    if 0 <= begin < end:
        said = said[begin : end + 1]
    elif brace >= 0:
        said = said[brace:]
    return json.loads(said)
