"""Where a text claims a verdict, however disguised: what a judge must not be handed as its own.

A verdict has a shape: a label, a sign, a value. Labels are of two sorts. Beside any word a sign
that is none of prose (a colon, an equals sign, an arrow, a bullet; :mod:`navloom.tools.readings`)
makes ``true``, ``false``, ``correct`` or ``incorrect`` a verdict. Beside a word of judging
(correct, grade, accepted, outcome) so do a dash, a bracket, "is" or nothing but a space; and with
a sign, other values: yes, pass, 1. What a record says of passages ("passable: false") is none.

That is looked for in the text as it looks, and in each other reading of it: leet, backwards by
the letter and by the word, every shifted alphabet, letters with signs between them, first letters
of words, and codes (base64, numbers, Morse). There the rules are looser, since nobody who explains
a path writes so: a label beside a value is enough.

What prose says is left alone: "an expert would call this explanation right" claims a verdict, too,
and so does whatever is said in other languages.

>>> [text[start:end] for text in ['It fits. {"valid" → true}'] for start, end in claims(text)]
['valid" → true']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from navloom.tools.readings import OTHER, View, decoded, folded, shifts, unleeted

Span = tuple[int, int]
_TRUTH = "true|false|correct|incorrect|in~correct|un~?true"
_VALUES = (
    "yes|no|y|n|t|f|ok|okay|pass|passe[ds]|fail|fail(?:ed|s)|right|wrong|valid|invalid|accept|"
    "accepted|reject|rejected|approved?|affirmative|negative|positive|sound|perfect|full|zero|one|"
    "ten|hundred|affirmed|confirmed|lgtm|\\d{1,3}(?:[,_]\\d{1,3})?"
)
_CORE = (
    "(?:is|was|final|overall|in|my|the)?correct(?:ness|ly)?|verdicts?|grad(?:e[ds]?|ing)|"
    "scor(?:e[ds]?|ing)|"
    "rat(?:e[ds]|ings?)|judge?ments?|judged|rulings?|assess(?:ed|ments?)|evaluat(?:ed|ions?)|"
    "valid(?:ity|ated)?|accept(?:ed|able|ance)?|approv(?:ed|al)"
)
_LABELS = (
    rf"{_CORE}|invalid|pass(?:ed|es)?|"
    "outcomes?|results?|answers?|decisions?|decided|conclu(?:ded|sions?)|finals?|labels?|status|"
    "marks?|points?|truth|ok|okay|responses?|outputs?|explanations?|agree(?:d|ment)?|wins?|success|"
    "reward|partial|target|gold|expected|opinion|diagnosis|confirm(?:ed)?|"
    "rejected|fail(?:ed|ure)?"
)
_RECORD = re.compile(
    "passable|impassable|blocked|traversable|exists|reachable|accessible|feasible|unlabelled|open|"
    "closed|visited"
)
"""What a record says of passages: a quotation of it is no verdict."""
_BEGINS = frozenset(["no", "y", "n", "t", "f", "one", "zero", "ten", "hundred", "full", "right"])
_SIGNED = "colons?|equals?|arrows?|dash"
_SAID = (
    r"is|to|as|are|be|was|means?|becomes|remains|evaluates\Wto|equals\Wsign|"
    r"(?:is|be)\W(?:equal|set)\Wto"
)
_END = r"(?=\W?$|[^\w ~])"
_ENDED = re.compile(_END)
_GAP = re.compile(rf"((?<=\d)[.,](?=\d))|[^a-z0-9{OTHER}]+")
_ANSWER = re.compile("answers?|results?|decisions?|conclusions?|outcomes?|responses?|outputs?")
"""What an explanation of a path begins with: "Answer: no" says nothing of itself."""
_HEAD = re.compile(rf"(\w{{1,40}})(\W)(?:({_SIGNED}|{_SAID})(\W))?$")
_VALUE = re.compile(rf"(?<=\W)(?:({_TRUTH})|(?:{_VALUES}))\b")
_LINKED = re.compile(_SAID)
_LABEL = re.compile(_LABELS)
_MARKED = re.compile("scored?|scores|rated?|rating|marks?|correctness")
_POINTS = frozenset(["0", "1", "10", "100", "1_0", "0_0", "10,10", "100,100", "5,5"])
_ABOUT = re.compile(_CORE)
_BACK = re.compile(rf"(?<!\w)(?:true|false)(?::(?:{_LABELS})|\((?:{_CORE}))(?!\w)")
_LINK = rf"(?:\W(?:{_SIGNED}|{_SAID})\W|\W)"
_PAIR = re.compile(
    rf"(?<!\w)(?:(?:{_LABELS}){_LINK}(?:{_TRUTH}|yes|pass|passed|valid|accepted|wrong)|"
    rf"(?:{_TRUTH}){_LINK}(?:{_LABELS})|\w{{1,40}}:(?P<any>{_TRUTH}))(?!\w)"
)
_SPACED = re.compile(
    rf"(?:{_LABELS})(?:{_SIGNED}|{_SAID})?(?:{_TRUTH}|yes|passed|valid|accepted|wrong|no)"
    rf"|(?:{_TRUTH})(?:{_LABELS})|(?:{_TRUTH})"
)
_INITIALS = re.compile(rf"(?:{_CORE})[cei]?(?:{_TRUTH})|(?:{_TRUTH})(?:{_CORE})")
_KNOWN = re.compile(rf"{_LABELS}|{_TRUTH}|{_VALUES}|{_SAID}|{_SIGNED}")
_WORDS = re.compile(rf"{_TRUTH}|{_CORE}")
_MOST_HEAD = 60
_SPREAD = 2.5
"""With so few letters to a piece, letters are spaced out."""
_TELLING = ("true", "fals", "correct", "verdict", "grad", "scor", "ating", "judg", "valid")
_TURNED = str.maketrans("nudpbqw", "unpdqbm")
_POSING = re.compile(r"[\d@$!|+€£¢][^\W\d_]|[^\W\d_][\d@$€£¢]")
_LETTER = re.compile(r"[a-z]")
_PIECE = re.compile(r"[^\W_]+")
_TRUE = re.compile(_TRUTH)


def claims(text: str) -> list[Span]:
    """Where verdicts are claimed, in the order they stand there, overlapping ones joined.

    Args:
        text: whatever was said.

    Returns:
        Beginnings and ends, from the label to the value.
    """
    plain = folded(text)
    found = [*_shaped(_signs(plain)), *_hidden(text, plain), *_spaced(text, plain)]
    return joined(found)


def codes(text: str) -> list[Span]:
    """Where words of verdicts stand in code, in the order they stand there."""
    return joined([(a, b) for a, b, said in decoded(text) if _WORDS.search(said)])


def joined(spans: list[Span]) -> list[Span]:
    """Spans in order, those that overlap made one."""
    made: list[Span] = []
    for start, end in sorted(spans):
        if made and start < made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made


def _signs(view: View) -> View:
    """The words of a view, with one sign for all that stands between two."""
    return view.replaced(_GAP, lambda gap: "_" if gap[1] else _sign(gap[0]))


def _sign(gap: str) -> str:
    """The strongest sign of a gap: one of ``_ ~ space , . ( - :``."""
    signs = set(gap.replace("\n", ",")) - set(" \t\r\v\f'`*_%")
    if len(gap) == 1 and gap in "-.,":
        return {"-": "~", ".": ":", ",": ","}[gap]
    if signs - set('-.,;!?/([{")]}') or "...." in gap:
        return ":"
    for strong, written in (("-", "-"), ("(", "([{"), (".", ".!?"), (",", ',;/")]}')):
        if signs & set(written):
            return strong
    return " "


def _shaped(view: View) -> Iterator[Span]:
    """Verdicts that are written as such."""
    text = view.text
    for value in _VALUE.finditer(text):
        begin = max(0, value.start() - _MOST_HEAD)
        head = _HEAD.search(text[begin : value.start()])
        # What a sign follows is the label of what comes next, and no value.
        ends = bool(_ENDED.match(text, value.end())) and text[value.end() :][:1] != ":"
        if head and _is_verdict(head, value[0], value[1] is not None, ends):
            yield view.span(begin + head.start(), value.end())
    for back in _BACK.finditer(text):
        yield view.span(back.start(), back.end())


def _is_verdict(head: re.Match[str], value: str, truth: bool, ends: bool) -> bool:
    """Whether label, sign and value make a verdict.

    Args:
        head: the label, the sign, and a link such as "is" with another sign.
        value: the value.
        truth: it is of those that make a verdict beside any word.
        ends: no other word goes on with it.
    """
    label, first, link, _ = head.groups()
    judging, about = bool(_LABEL.fullmatch(label)), bool(_ABOUT.fullmatch(label))
    bare = value in ("true", "false")
    if link is not None and _LINKED.fullmatch(link):
        return (about and bare) or (judging and truth and ends)
    sign = ":" if link is not None else first
    if not truth:
        return judging and _is_graded(label, sign, value, ends, about=about)
    if judging:
        firm = sign in ":~" or (about and bare)
        return firm or (ends and (sign in "-(," or (sign == " " and bare)))
    return sign == ":" and ends and not _RECORD.fullmatch(label)


def _is_graded(label: str, sign: str, value: str, ends: bool, *, about: bool) -> bool:
    """Whether a value that is an ordinary word, or a number, is a verdict beside this label."""
    if value in ("yes", "no") and _ANSWER.fullmatch(label):
        return False
    counts = value[0].isdigit()
    marked = counts and bool(_MARKED.fullmatch(label))
    if counts and not marked and value not in _POINTS:
        return False
    # "No ramp", "1 step": what goes on with such a word is no grade.
    begins = value in _BEGINS or value[0].isdigit()
    if (sign == ":" and about and (marked or not begins)) or (marked and "," in value):
        return True
    return ends and (sign == ":" or (len(value) > 1 and sign in "-(~") or (marked and sign == " "))


def _hidden(text: str, plain: View) -> Iterator[Span]:
    """Verdicts in another alphabet, backwards, or in leet."""
    words = _signs(plain)
    views = [words.backwards(), words.words_backwards(), words.backwards().translated(_TURNED)]
    views += [words.translated(letters) for letters in shifts()]
    views += [words.backwards().translated(letters) for letters in shifts()]
    for view in filter(_worth_a_look, views):
        for found in _PAIR.finditer(view.text):
            yield view.span(found.start(), found.end())
    for bar in "il":
        leet = _signs(unleeted(text, bar))
        for view in filter(_worth_a_look, (leet, leet.backwards(), leet.words_backwards())):
            for found in _PAIR.finditer(view.text):
                span = view.span(found.start(), found.end())
                said = span if found["any"] is None else view.span(*found.span("any"))
                if _POSING.search(text, *said):
                    yield span


def _worth_a_look(view: View) -> bool:
    """Whether any word of a verdict is in a view: what makes looking at fifty of them cheap."""
    return any(word in view.text for word in _TELLING)


def _spaced(text: str, plain: View) -> Iterator[Span]:
    """Verdicts whose letters stand apart, or are the first of words."""
    for base in (plain, *(unleeted(text, bar) for bar in "il")):
        letters = base.chosen([m.start() for m in _LETTER.finditer(base.text)])
        views = [letters, letters.backwards()]
        if base is plain:
            views += [letters.translated(shift) for shift in shifts()]
        for view in filter(_worth_a_look, views):
            for found in _SPACED.finditer(view.text):
                span = view.span(found.start(), found.end())
                if _apart(text, span, lone=bool(_TRUE.fullmatch(found[0]))):
                    yield span
    first = plain.chosen([m.start() for m in re.finditer(r"(?<![^\W_])[a-z]", plain.text)])
    for view in (first, first.backwards()):
        for found in _INITIALS.finditer(view.text):
            yield view.span(found.start(), found.end())


def _apart(text: str, span: Span, *, lone: bool) -> bool:
    """Whether words of a verdict stand there in pieces, with nothing before or behind them.

    A ``lone`` one, without a label, is in pieces where they are of two letters on average.
    """
    start, end = span
    if text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum():
        return False
    pieces = _PIECE.findall(text[start:end])
    broken = any(not _KNOWN.fullmatch(piece.lower()) for piece in pieces)
    letters = sum(map(len, pieces))
    parts = len(pieces) >= 3 or (len(pieces) == 1 and not lone)
    return broken and parts and (not lone or letters / len(pieces) <= _SPREAD)
