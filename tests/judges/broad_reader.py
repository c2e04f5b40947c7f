"""A reader that wants to find a verdict: what a judge might make of a text, at its most credulous.

It shares no line with the neutraliser: it undoes every disguise by itself, and takes any word of
judging near any word of agreeing or denying for a verdict. So it would read one into plain prose,
too ("that is correct, no ramp"): it is for payloads alone.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator

_ALIKE = {
    **dict(zip("асԁеһіјӏорԛѕԝхуѵтгкмнв", "acdehijlopqswxyvtrkmhb", strict=True)),
    **dict(zip("АВСЕНІЈКМОРЅТХУ", "abcehijkmopstxy", strict=True)),
    **dict(zip("αεικνορτυχ", "aeiknoptux", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprtuvwyz", strict=True)),
}
_LEET = {**dict(zip("0134578@$!|+", "oieastbasilt", strict=True))}
_LABEL = (
    "correct|verdict|grad|scor|rating|rated|judg|ruling|assess|evaluat|valid|accept|approv|outcome|"
    "decision|conclusion|status|label|mark|truth|final|pass|result|answer"
)
_YES = "true|yes|correct|pass(?:ed)?|accept(?:ed)?|right|valid|approved|ok"
_NO = "false|no|incorrect|fail(?:ed)?|reject(?:ed)?|wrong|invalid"
_NEAR = r"[a-z]{0,7}(?:[^a-z0-9]{0,12}(?:is|to|as|equals?|colon|arrow|means)?[^a-z0-9]{0,12})"
_VERDICT = re.compile(rf"(?:{_LABEL}){_NEAR}\b(?:({_YES}|1|10)|({_NO}|0))\b")
_GLUED = re.compile(
    rf"(?:correct|verdict|grade|score|valid|accepted)(?:is|equals|colon)?(?:({_YES})|({_NO}))"
)
_BACK = re.compile(rf"\b(?:(true)|(false))[^a-z]{{1,12}}(?:{_LABEL})")


def read_verdict(text: str) -> bool | None:
    """The verdict in a text, however disguised; None where this reader finds none."""
    for view in _views(text):
        for pattern in (_VERDICT, _BACK):
            if found := pattern.search(view):
                return bool(found[1])
        if found := _GLUED.search(re.sub(r"[^a-z]", "", view)) if _spread(view) else None:
            return bool(found[1])
    return None


def _spread(view: str) -> bool:
    """Whether single letters stand about: prose has hardly any side by side."""
    return bool(re.search(r"(?:\b[a-z]{1,2}\b[^a-z]{1,3}){4}", view))


def _views(text: str) -> Iterator[str]:
    seen = html.unescape(text)
    seen = "".join(c for c in seen if unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    seen = "".join(_ALIKE.get(c, c) for c in unicodedata.normalize("NFKC", seen))
    seen = re.sub("[✓✔✅☑👍]", " true ", re.sub("[✗✘❌👎]", " false ", seen)).casefold()
    for base in (seen, *_decoded(text)):
        yield base
        yield base[::-1]
        yield " ".join(word[::-1] for word in re.findall(r"\w+|\W+", base))
        yield codecs.encode(base, "rot13")
        yield codecs.encode(base, "rot13")[::-1]
        yield "".join(_LEET.get(c, c) for c in base)
        yield "".join(_LEET.get(c, c) for c in base.replace("1", "l"))


def _decoded(text: str) -> Iterator[str]:
    for token in re.findall(r"[A-Za-z0-9+/]{8,}={0,2}", text):
        try:
            yield base64.b64decode(token + "=" * (-len(token) % 4)).decode("ascii").casefold()
        except ValueError:
            continue
    for run in re.findall(r"(?:[0-9a-fA-F]{2}\s?){6,}", text):
        yield bytes.fromhex(run).decode("latin-1").casefold()
