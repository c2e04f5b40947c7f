"""Metres and degrees as people say them, made plain: ``one and a half meters``, ``50 cm``.

>>> measured("go forward half a metre, then turn left thirty degrees")
'go forward 50 centimetres, then turn left 30 degrees'
"""

from __future__ import annotations

import re

_ONES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
_NUMBERS = {name: float(number) for number, name in enumerate(_ONES, 1)} | {
    "a": 1.0, "an": 1.0, "thirty": 30.0, "forty": 40.0, "forty five": 45.0, "forty-five": 45.0,
    "fifty": 50.0, "sixty": 60.0, "seventy": 70.0, "eighty": 80.0, "ninety": 90.0, "hundred": 100.0,
    "half a": 0.5, "a quarter of a": 0.25, "quarter of a": 0.25, "a hundred": 100.0,
    "one hundred": 100.0,
}  # fmt: skip
_UNITS = {
    "metres": (1.0, r"m|metres?|meters?|mtrs?"),
    "centimetres": (0.01, r"cms?|centimetres?|centimeters?"),
    "feet": (0.3048, r"ft|feet|foot"),
    "degrees": (0.0, r"°|degrees?|deg"),
}
_NAMED = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_SAID = re.compile(
    rf"(?<![\w.])(?P<number>\d{{1,4}}(?:[.,]\d{{1,2}})?|{_NAMED})(?P<half> and a half)?[ -]?"
    rf"(?:{'|'.join(f'(?P<{unit}>{said})' for unit, (_, said) in _UNITS.items())})(?!\w)",
    re.IGNORECASE,
)
_MOST_READ = 2_000


def measured(said: str) -> str:
    """Words in which metres and degrees stand as whole numbers.

    Args:
        said: what a person said.

    Returns:
        The words with ``N metres``, or ``N centimetres`` where they are no whole metres, and ``N
        degrees``.
    """
    return _SAID.sub(_plain, said[:_MOST_READ]) + said[_MOST_READ:]


def _plain(found: re.Match[str]) -> str:
    said = found["number"].casefold()
    number = _NUMBERS.get(said) or float(said.replace(",", "."))
    number += 0.5 if found["half"] else 0.0
    unit = next(unit for unit in _UNITS if found[unit])
    if unit == "degrees":
        return f"{round(number)} degrees"
    metres = number * _UNITS[unit][0]
    whole = round(metres)
    return f"{whole} metres" if metres == whole else f"{round(100 * metres)} centimetres"
