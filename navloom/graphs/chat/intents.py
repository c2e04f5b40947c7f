"""What a person means, by rules: words to the tool calls of the chat, or to a ready answer.

Words are cut into clauses, one for each thing that is asked for, and the table of wordings says
which act each one is (:mod:`navloom.graphs.chat.wordings`). What is not understood is said to be
so; nothing is guessed but that a short phrase without a verb names a place. What refers to what was
said before ("and the sofa?", "both", "again") is read with what was asked last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from navloom.graphs.chat.acts import answer, finding, goings, meaning, without_denied
from navloom.graphs.chat.asked import Before, Intent
from navloom.graphs.chat.measured import measured
from navloom.graphs.chat.rewordings import reworded, untagged, without_foreign
from navloom.graphs.chat.wordings import (
    Said,
    closed_off,
    language_of,
    mentioned,
    opened,
    plain,
    told_apart,
    wordings,
)
from navloom.scenes.lexicon import known_words
from navloom.tools.chat.wishes import is_plain

OFFERED = "offered"
"""Asked of a place in words that may be an order: "Shall I go there?" """
_MOST_ORDERS = 6
_MOST_NAMED = 8
"""Words in a phrase that may name a place."""
_STOPS = re.compile(r"\s*[.!?;]+\s*")
_DENIED = re.compile(
    r"^(?:neither|(?:do|did|must|should|would|need|will) not|never|not|no(?= (?:need|reason) to)"
    r"|no more|enough|stop going|(?:stay|keep) (?:out|away)|avoid"
    r"|(?:i|we) (?:do|would|did) not (?:want|like|need|ask)|instead of|rather than|without|except"
    r"|anywhere but|no longer)\b"
)
_IN_PLACE_OF = re.compile(
    r"^(?:instead of|rather than) .+?,? (?=(?:go|walk|take|bring|head|move|show|lead|drive)\b)"
)
_RELATIVE = re.compile(
    r"\b(?:that|which) (?:has|have|is|are|lies|stands)\b"
    r"|\bwhere (?:the|my|a|your) [a-z ]+ (?:is|are|stands)$"
)
_QUESTION = re.compile(
    r"(?:what|where|which|who|whose|how|why|when|is|are|do|does|did|can|could|has|have|had|was|were"
    r"|will|any|tell|say|know)\b"
)
_THEN_FIRST = re.compile(r"^(?:okay|well|good|fine|right|all right|so),? then,? ")
_APPOSED = re.compile(
    r"^(?:the one|next to|near|beside|with|by|in|on|upstairs|downstairs|which is|that is"
    r"|where(?! (?:is|are|am|was|were|do|did|can)\b)|behind|opposite)\b"
)
_VERBS = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|can|could|will|would|should|why|how|when|who|what|where"
    r"|which|whose|i|you|me|we|he|she|they|have|has|had|be|been|if|because|not|want|like|please"
    r"|tell|say|think|know|make|made|let|give|need|love|hate|lives|lived|works|sleeps)\b"
)
_NAMED = re.compile(r"^(?:the|my|your|that|this|our|to|into|in)\b")
_DONE_TO = re.compile(r"^(?P<do>[a-z]+) (?:the|my|your|our|some)\b")
"""A verb that is none of the table's and what it is done to, as in "charge my laptop"."""
_TELLS = re.compile(r"^(?:i|we|you|he|she|they|it|this|that|my|your|there)\b")
_PAST = re.compile(
    r"^(?:(?:so|and|but|yesterday|earlier|once|before) )*"
    r"(?:(?:i|we|you|it|he|she|they|that|there|this|someone|somebody)|(?:my|the|a|your) [a-z]+)"
    r"(?: (?:just|already|never|also|really|have|has|had|all))*"
    r" (?:was|were|been|went|came|did|told|said|saw|left|took|had|used to|walked|passed|stood|got"
    r"|thought|drove)\b"
)
"""A tale of what was: it sends nobody anywhere."""
_WISHES = re.compile(
    r"^(?:i|we|you|he|she|they|it|this|that|my|your|there|the|a|an|our|some|would|maybe|everyone"
    r"|everybody|somebody|someone)\b"
)
"""Words that tell something: whether they are an order is asked."""
_ALL_OF = re.compile(r"\b(?:all|each|both) (?:of )?(?:these|them|the following)(?: [a-z]+)?, ")
_CAN_YOU = re.compile(r"^(?:so |and |but |okay )*(?:can|could|do|will) you\b")
_WITHIN = re.compile(r"^(?:in|on|at|inside|near|upstairs|downstairs)\b")
_WITHIN_ANY = re.compile(r" (?:in|on|at|inside|near|upstairs|downstairs)\b.*$")
_IF_THERE = re.compile(
    r"^if (?:there (?:is|are)|you (?:see|find)) (?P<of>.+?),? (?:then )?(?:please )?"
    r"(?:go|walk|drive|take me|bring me)(?: over)? (?:there|to (?:it|that|them))$"
)
_SORRY = re.compile(r"(?:[a-z]+ )?(?:sorry|pardon)")
_ABOUT_IT = re.compile(r"\b(?:it|they|them|that|those)\b")
_ASKED_ON = re.compile(r"^(?:and|also|or|what about|how about)\b")
_GO_WITHIN = re.compile(
    r"\b(?:go|walk|move|head|drive|take (?:me|us)|bring (?:me|us)|lead (?:me|us)|show (?:me|us))"
    r" (?:back )?(?:to|into) (?P<place>.+)$"
)
_YES = re.compile(r"(?:yes|okay|please|fine|good|great|do)\b")
_TURNED = (
    re.compile(
        r"^before (?:you go|we go|going)(?: to| into)? (?P<later>.+?),? (?:please )?"
        r"(?:go to|visit|take me to|stop by) (?P<first>.+)$"
    ),
    re.compile(
        r"^(?:go to|take me to|bring me to) (?P<later>.+?),? but (?:go )?first (?:go )?"
        r"(?:to )?(?P<first>.+)$"
    ),
)
_BUT = re.compile(r"^not .+? but (?:rather |go to |to )?(?P<rest>.+)$")
_AT_ONCE = ("stop", "give_up", "go_on")
_TALK = ("thanks", "hello", "can_not")
_LOOSE = ("give_up", "thanks", "well", "who")
"""Acts whose wordings end in any words: what stands behind a comma may be an order."""
_WHOLE = (
    "compare",
    "compare_size",
    "thanks",
    "bye",
    "hello",
    "who",
    "well",
    "language",
    "help",
    "again",
    *_AT_ONCE,
)


def intents_of(said: str, before: Before | None = None) -> list[Intent]:
    """What was asked for, in order; one ready answer where nothing was understood.

    Args:
        said: the person's words.
        before: what was asked last.
    """
    said = without_foreign(said)
    before, language = before or Before(), language_of(said)
    if language is not None:
        looks = f"That looks like {language} to me."
        return [Intent(None, words=f"{looks} {wordings().answers['language']}")]
    found: list[Intent] = []
    for sentence, asks in _sentences(plain(measured(said))):
        if opened(sentence)[1]:
            # "Go to the kitchen. No, the study": what came before is taken back.
            found = []
        elif asks and _ABOUT_IT.search(sentence) and all(each.words == "named" for each in found):
            # "My keys! Where are they?" asks, and sends nobody.
            found = [finding(str(each.args["place"])) for each in found]
        found += _sentence(sentence, before, found, asks=asks)
    orders = [each for each in found if each.tool is not None][:_MOST_ORDERS]
    orders = [each for each in orders if each.words != "corrected"] or orders
    while len(orders) > 1 and orders[0].words == "guess" and not _is_name(orders[0]):
        # "English. The kitchen!": ahead of what names a place mere words are talk.
        orders = orders[1:]
    # "Stop. Go to the hall": what comes after a stop is what is wanted.
    walks = any(each.tool in ("go_to", "go_on", "go") for each in orders)
    orders = [each for each in orders if each.tool != "stop" or not walks or each is orders[-1]]
    return orders or found[-1:] or [answer("lost")]


def _is_name(guess: Intent) -> bool:
    place = str(guess.args["place"])
    return mentioned(place) is not None or not known_words().isdisjoint(place.split())


def _sentences(text: str) -> list[tuple[str, bool]]:
    """Sentences, each with whether it is a question by its mark."""
    found, start = [], 0
    for end in [*_STOPS.finditer(text), None]:
        sentence, tagged = untagged(text[start : end.start() if end else None].strip(" ,"))
        if sentence:
            found.append((reworded(sentence), tagged or bool(end and "?" in end.group())))
        start = end.end() if end else start
    return found


def _sentence(text: str, before: Before, earlier: Sequence[Intent], *, asks: bool) -> list[Intent]:
    table = wordings()
    bare = text.replace(",", "")
    for together in dict.fromkeys([bare, closed_off(bare), closed_off(opened(bare)[0])]):
        whole = told_apart(together)
        if whole is not None and whole.act in _WHOLE and not (whole.act in _LOOSE and "," in text):
            return meaning(whole, together, before)
    text = _ALL_OF.sub("", _THEN_FIRST.sub("", text))
    text = _IF_THERE.sub(r"go to \g<of>", text)
    for pattern in _TURNED:
        # "To the study, but first to the kitchen": the other way round.
        text = pattern.sub(r"go to \g<first> then go to \g<later>", text)
    # "The bathroom, no sorry, the bedroom": the last one counts.
    *wrong, text = [part for part in table.corrected.split(text) if part.strip(" ,")] or [text]
    found: list[Intent] = []
    for part in table.then.split(text):
        for piece in table.and_.split(part):
            found += _clauses(piece.strip(" ,"), before, [*earlier, *found], asks=asks)
    return found or ([Intent("stop", {"give_up": True})] if wrong else [])


def _clauses(text: str, before: Before, earlier: Sequence[Intent], *, asks: bool) -> list[Intent]:
    """What the parts between commas ask for."""
    if _CAN_YOU.match(text) and _purpose_of(closed_off(opened(text)[0])):
        return [answer("can_not")]
    asked = told_apart(closed_off(text)) if "," not in text and not told_apart(text) else None
    if asked is not None and asked.act in ("find", "pardon"):
        return meaning(asked, closed_off(text), before, earlier)
    text = _IN_PLACE_OF.sub("", text)
    on, lead = bool(_ASKED_ON.match(text)), told_apart(text.partition(",")[0])
    denied = corrected = False
    rest = text
    if lead is None or lead.act not in _AT_ONCE:
        rest, corrected = opened(text)
    found: list[Intent] = []
    for part in _parts(rest or text):
        said = told_apart(part)
        clause, corrects = (part, False) if said and said.act in _AT_ONCE else opened(part)
        corrected |= corrects
        if said is not None and said.act in _AT_ONCE:
            found += meaning(said, part, before)
        elif clause and (meant := _BUT.match(clause)):
            found += goings(closed_off(meant["rest"]))
        elif clause and _DENIED.match(clause) and not _is_known(clause):
            denied = True
        elif clause:
            so_far = [*earlier, *found]
            found += _asked_for(clause, before, so_far, asks=asks, on=on, corrected=corrected)
    if found:
        return found
    if denied:
        return [Intent("stop", {"give_up": True})] if not earlier else []
    walked = not before.calls or before.calls[-1][0] in ("go_to", "go", "go_back", "go_on")
    if corrected and walked and not _SORRY.fullmatch(text):
        return [Intent("go_to", {"place": "the other one"}, "corrected")]
    return [] if earlier else _only_openers(text, before)


def _parts(text: str) -> list[str]:
    """The parts between commas; "the bedroom, the one upstairs" is one."""
    parts: list[str] = []
    for part in (each.strip() for each in text.split(",")):
        if parts and _APPOSED.match(part) and opened(parts[-1])[0]:
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def _is_known(clause: str) -> bool:
    said = told_apart(closed_off(clause)) or told_apart(clause)
    return said is not None and said.act not in ("go", "fetch")


def _only_openers(text: str, before: Before) -> list[Intent]:
    """Words that only lead in, and nothing after them: yes to an offer, or small talk."""
    if before.offers and _YES.match(text):
        return [Intent("go_to", {"place": "there"})]
    said = told_apart(text)
    return [answer(said.act if said is not None and said.act in wordings().answers else "thanks")]


def _asked_for(
    clause: str, before: Before, earlier: Sequence[Intent], *, asks: bool, on: bool, corrected: bool
) -> list[Intent]:
    """What one clause asks for."""
    clause = without_denied(clause)
    ended = closed_off(clause)
    if purpose := _purpose_of(ended):
        # Who says that they are tired orders nothing.
        told = _TELLS.match(ended)
        return [finding(purpose, OFFERED)] if told else goings(f"the nearest {purpose}")
    said, text = _act_of(clause, ended)
    within = _GO_WITHIN.search(ended)
    if said is not None and not (said.act in _TALK and (corrected or within)):
        return meaning(said, text, before, earlier)
    if not ended:
        return []
    if len(ended.split()) <= _MOST_NAMED and not _VERBS.search(_RELATIVE.sub("", ended)):
        # "And my skateboard?" asks on; "and the kitchen" goes on.
        deed = _DONE_TO.match(ended)
        if deed and not is_plain(deed["do"]) and (done_to := mentioned(ended)):
            return [finding(done_to, "cannot")]
        if not corrected and (asks or (on and before.asked)):
            again = Intent("describe", {"place": ended}, "things")
            if before.thing and _WITHIN.match(ended):
                # "And in the study?" asks for the same there.
                return [finding(f"{_WITHIN_ANY.sub('', before.thing)} {ended}", before.how)]
            return [again if before.asked == "describe" else finding(ended, before.how)]
        return _bare(ended)
    if within:
        return goings(within["place"])
    if not asks and goings(ended)[0].args["place"] != ended:
        return goings(ended)
    if not asks and _PAST.match(ended):
        return [] if earlier else [answer("aside")]
    earlier = [each for each in earlier if each.tool is not None or not asks]
    named = mentioned(ended) if not earlier else None
    if named is None:
        return [] if earlier else [answer("aside" if _TELLS.match(ended) and not asks else "lost")]
    if asks or _QUESTION.match(ended):
        return [finding(named)]
    return [finding(named, OFFERED)] if _WISHES.match(ended) else goings(named)


def _purpose_of(words: str) -> str | None:
    """What one does that with, where it is something that people want to do."""
    return next((n for n, said in wordings().purposes.items() if said.fullmatch(words)), None)


def _bare(phrase: str) -> list[Intent]:
    """What a phrase without a known verb asks for: going there, if it names a place at all."""
    words = "named" if _NAMED.match(phrase) else "guess"
    return [replace(each, words=words) for each in goings(phrase)]


def _act_of(clause: str, ended: str) -> tuple[Said | None, str]:
    """What a clause is for; what leads out of it is in none of its slots."""
    whole = told_apart(clause)
    loose = whole is None or whole.slots or whole.act == "can_not"
    cut = told_apart(ended) if ended and ended != clause and loose else None
    return (cut, ended) if cut is not None else (whole, clause)
