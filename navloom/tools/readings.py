"""What a text reads as where somebody hides what it says: one view a disguise.

Whoever must not be told something (a judge a verdict, a navigator a number) reads through
look-alike letters, spacing, leet, a text backwards, a shifted alphabet, base64. So who looks for
it undoes one disguise at a time and looks in what comes out. A view is plain: a to z in lower case,
digits, ASCII signs, and `OTHER` for a letter of another script. Each of its characters knows which
characters of the text it stands for. Everything here is linear in the length of the text.

Letters go by Unicode's decompositions and names ("LATIN LETTER SMALL CAPITAL R"), and by a table of
Cyrillic, Greek, Armenian, Cherokee and Lisu letters that look Latin (after Unicode's UTS 39); signs
go by their category, so that whatever is neither quotation mark, bracket, dash, comma nor full stop
reads as a colon: an arrow, a ratio, a bullet.

>>> folded("Ｃоrrect ➡ ｔｒｕｅ").text
'correct : true'
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

OTHER = "\u0436"
"""What stands in a view for a letter that is not read as a Latin one."""
LOOKALIKES = str.maketrans(
    "асԁеһіјӏорԛѕԝхуѵАВЕНІЈКМОРЅТХУԜαεικνορτυχΑΒΕΗΙΚΜΝΟΡΤΥΧɑɡıⅼ",
    "acdehijlopqswxyvABEHIJKMOPSTXYWaeiknoptuxABEHIKMNOPTYXagil",
)
"""Letters that pass for Latin ones in print."""
_ALIKE = LOOKALIKES | {
    ord(letter): latin
    for latin, letters in {
        "a": "Ꭺꓮᗩ", "b": "вьβᏴꓐ", "c": "ᏟꓚᑕС", "d": "ᎠꓓԀ", "e": "ЕэᎬꓰє", "f": "ғꓝᖴ", "g": "ցԍᏀꓖ",
        "h": "нһհᎻꓧ", "i": "Ꭵꓲ", "j": "Ꭻꓙ", "k": "кᏦꓗ", "l": "ӀᏞꓡ", "m": "мᎷꓟ", "n": "пηոиꓠ",
        "o": "օσꓳ", "p": "Ꮲꓑ", "q": "գ", "r": "гяᎡꓣᖇ", "s": "Ꮪꓢ", "t": "тᎢꓔ", "u": "սμцꓴᑌ",
        "v": "ᏙꓦѴ", "w": "шωԝᎳꓪ", "x": "ꓫ", "y": "γүꓬ", "z": "Ꮓꓜ",
    }.items()
    for letter in letters
}  # fmt: skip
_NAMED = re.compile(
    r"(?:LATIN|REGIONAL|TAG|(?:CROSSED )?NEGATIVE|SQUARED|MODIFIER) .*?\b([A-Z])(?: WITH .*)?"
)
_UNSEEN = "\u034f\u115f\u1160\u3164\uffa0\u2800"
_YES = ("CHECK MARK", "WITH CHECK", "THUMBS UP", "HUNDRED POINTS", "SQUARED OK")
_NO = ("CROSS MARK", "BALLOT X", "THUMBS DOWN", "WITH BOLD SCRIPT X", "WITH X")
_STOPS = ("FULL STOP", "EXCLAMATION", "QUESTION", "ELLIPSIS", "DANDA")
_LEET = str.maketrans("@48¢©3€£690$5§7†2µ¥", "aabcceeeggosssttzuy")
_BARS = re.compile(r"(?<=\w)[1!|](?=\w)|(?<!\w)[1!|](?=[^\W\d])|(?<=[^\W\d])1")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class View:
    """A text under one reading.

    Attributes:
        text: how it reads.
        starts: of each character, where in the text that begins which it stands for.
        ends: and where that ends.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text stands what the view has from ``start`` to before ``end``."""
        last = end - 1
        return (min(self.starts[start], self.starts[last]), max(self.ends[start], self.ends[last]))

    def chosen(self, places: Sequence[int]) -> View:
        """The characters at these places, in their order."""
        return View(
            "".join([self.text[k] for k in places]),
            [self.starts[k] for k in places],
            [self.ends[k] for k in places],
        )

    def translated(self, letters: dict[int, int]) -> View:
        """Letter for letter another one."""
        return View(self.text.translate(letters), self.starts, self.ends)

    def backwards(self) -> View:
        """From its end to its beginning."""
        return View(self.text[::-1], self.starts[::-1], self.ends[::-1])

    def words_backwards(self) -> View:
        """Each word by itself from its end to its beginning."""
        places = list(range(len(self.text)))
        for word in _WORD.finditer(self.text):
            places[word.start() : word.end()] = range(word.end() - 1, word.start() - 1, -1)
        return self.chosen(places)

    def replaced(self, what: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> View:
        """Matches replaced; each new character stands for the whole match."""
        pieces, starts, ends, done = [], list[int](), list[int](), 0
        for match in what.finditer(self.text):
            new, (start, end) = by(match), self.span(match.start(), match.end())
            pieces += [self.text[done : match.start()], new]
            starts += [*self.starts[done : match.start()], *[start] * len(new)]
            ends += [*self.ends[done : match.start()], *[end] * len(new)]
            done = match.end()
        pieces.append(self.text[done:])
        return View("".join(pieces), [*starts, *self.starts[done:]], [*ends, *self.ends[done:]])


def folded(text: str) -> View:
    """A text as it looks: see the module."""
    if text.isascii():
        places = range(len(text))
        return View(text.lower(), places, range(1, len(text) + 1))
    read = [_read(character) for character in text]
    starts = [k for k, letters in enumerate(read) for _ in letters]
    return View("".join(read), starts, [k + 1 for k in starts])


def unleeted(text: str, bar: str) -> View:
    """A text with digits and signs as the letters they look like.

    Args:
        text: whatever was said.
        bar: what ``1``, ``!`` and ``|`` look like: ``i`` or ``l``.
    """
    return folded(_BARS.sub(bar, text).translate(_LEET))


def shifts() -> Iterator[dict[int, int]]:
    """The other alphabets that are read: shifted by 1 to 25 letters, and from z to a."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    for by in range(1, 26):
        yield str.maketrans(letters, letters[by:] + letters[:by])
    yield str.maketrans(letters, letters[::-1])


@lru_cache(maxsize=4096)
def _read(character: str) -> str:
    kind = unicodedata.category(character)
    if character in _UNSEEN or kind in ("Mn", "Me", "Cf", "Cs", "Co", "Cn"):
        return ""
    bare = "".join(
        c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c)
    )
    if (alike := bare.translate(_ALIKE)).isascii():
        return alike.lower()
    if (digit := unicodedata.digit(character, None)) is not None:
        return str(digit)
    name = unicodedata.name(character, "")
    if (found := _NAMED.fullmatch(name)) and kind != "Sk":
        return found[1].lower()
    return _sign(character, kind, name)


def _sign(character: str, kind: str, name: str) -> str:
    """What a character that is no Latin letter and no digit reads as."""
    if kind[0] in "ZC":
        return " "
    if any(each in name for each in _YES + _NO):
        return " true " if any(each in name for each in _YES) else " false "
    if kind == "Pd" or "MINUS" in name:
        return "-"
    if kind in ("Ps", "Pe", "Pi", "Pf") and "ANGLE" not in name:
        return {"Ps": "(", "Pe": ")"}.get(kind, '"')
    if kind == "Po" and character != "\u0589":
        return "." if any(s in name for s in _STOPS) else "," if "COMMA" in name else ":"
    return OTHER if kind[0] in "LN" and kind != "Lm" else ":"


_GAP = r"[\s,;:_-]"
_NUMBERS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(rf"(?<!\w)(?:(?:0x|\\x|=)?[0-9a-f]{{2}}{_GAP}{{0,2}}){{3,}}(?!\w)", re.I), 16),
    (re.compile(rf"(?<!\w)(?:\d{{2,3}}{_GAP}{{1,3}}){{2,}}\d{{2,3}}(?!\w)"), 10),
    (re.compile(rf"(?<!\w)(?:[01]{{7,8}}{_GAP}{{0,3}}){{3,}}(?!\w)"), 2),
    (re.compile(rf"(?<!\w)(?:0?o?[0-7]{{2,3}}{_GAP}{{1,3}}){{2,}}[0-7]{{2,3}}(?!\w)"), 8),
)
_DIGITS = {16: r"[0-9a-f]{2}(?!x)", 10: r"\d{2,3}", 2: r"[01]{7,8}", 8: r"[0-7]{2,3}"}
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{4,}={0,6}")
_TAPS = re.compile(r"(?<!\S)(?:[.\-]{1,5}[ /|]{1,3}){2,}[.\-]{1,5}")
_DOTS = str.maketrans("·•∙⋅–—−_", "....----")
_MORSE = {
    code: letter
    for letter, code in zip(
        "abcdefghijklmnopqrstuvwxyz0123456789",
        re.findall(
            r"\S+",
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- "
            "...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.",
        ),
        strict=True,
    )
}


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """What in a text is another text in code, with what it says in lower case.

    Base64 and base32 by the word, hexadecimal, decimal, octal and binary numbers of characters, and
    Morse. Words that decode to nothing printable are passed over; one that does may still be an
    ordinary word, so look at what it says.

    Yields:
        Where it begins and ends, and what it says.
    """
    for pattern, base in _NUMBERS:
        for run in pattern.finditer(text):
            said = [int(digits, base) for digits in re.findall(_DIGITS[base], run[0].lower())]
            yield from _printable(run, bytes(n for n in said if n < 256))
    for token in _TOKEN.finditer(text):
        bare = token[0].rstrip("=").replace("-", "+").replace("_", "/")
        for read, size in ((base64.b64decode, 4), (base64.b32decode, 8)):
            try:
                yield from _printable(token, read(bare + "=" * (-len(bare) % size)))
            except (binascii.Error, ValueError):
                continue
    for taps in _TAPS.finditer(text.translate(_DOTS)):
        letters = [_MORSE.get(tap, " ") for tap in re.findall(r"[.\-]+|[/|]", taps[0])]
        yield taps.start(), taps.end(), "".join(letters)


def _printable(match: re.Match[str], said: bytes) -> Iterator[tuple[int, int, str]]:
    if len(said) >= 3 and said.isascii() and (words := said.decode()).isprintable():
        yield match.start(), match.end(), words.lower()
