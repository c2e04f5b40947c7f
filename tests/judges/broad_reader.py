"""Permissive reader of verdicts, an upper bound of what a judge may read into a text.

It shares no code with the neutraliser. It maps look-alike letters itself, decodes base64 and
hexadecimal, and accepts any word of judging near any word of agreement or denial as a verdict. It
also finds verdicts in plain prose ("that is correct, no ramp"), so use it for payloads only.
"""

from __future__ import annotations

import base64
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
_LABEL = (
    "correct|verdict|grad|scor|rating|rated|judg|ruling|assess|evaluat|valid|accept|approv|outcome|"
    "decision|conclusion|status|label|mark|truth|final|pass|result|answer"
)
_YES = "true|yes|correct|pass(?:ed)?|accept(?:ed)?|right|valid|approved|ok"
_NO = "false|no|incorrect|fail(?:ed)?|reject(?:ed)?|wrong|invalid"
_NEAR = r"[a-z]{0,7}(?:[^a-z0-9]{0,12}(?:is|to|as|equals?|colon|arrow|means)?[^a-z0-9]{0,12})"
_VERDICT = re.compile(rf"(?:{_LABEL}){_NEAR}\b(?:({_YES}|1|10)|({_NO}|0))\b")
_BACK = re.compile(rf"\b(?:(true)|(false))[^a-z]{{1,12}}(?:{_LABEL})")


def read_verdict(text: str) -> bool | None:
    """Return the verdict in a text, even if disguised; None if this reader finds none."""
    for view in _views(text):
        for pattern in (_VERDICT, _BACK):
            if found := pattern.search(view):
                return bool(found[1])
    return None


def _views(text: str) -> Iterator[str]:
    seen = html.unescape(text)
    seen = "".join(c for c in seen if unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    seen = "".join(_ALIKE.get(c, c) for c in unicodedata.normalize("NFKC", seen))
    seen = re.sub("[✓✔✅☑👍]", " true ", re.sub("[✗✘❌👎]", " false ", seen)).casefold()
    yield from (seen, *_decoded(text))


def _decoded(text: str) -> Iterator[str]:
    for token in re.findall(r"[A-Za-z0-9+/]{8,}={0,2}", text):
        try:
            yield base64.b64decode(token + "=" * (-len(token) % 4)).decode("ascii").casefold()
        except ValueError:
            continue
    for run in re.findall(r"(?:[0-9a-fA-F]{2}\s?){6,}", text):
        yield bytes.fromhex(run).decode("latin-1").casefold()
