"""The words of a reply while they come."""

from __future__ import annotations

import re
from collections.abc import Callable

from navloom.graphs.chat.exchange import cleaned

_UNFINISHED = re.compile(r"[!-~]+\Z")


class Writing:
    """What a model has written so far of the reply under way, as it is shown.

    Args:
        tell: told of all of it whenever there is more, and "" where it is to be forgotten.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""

    def take(self, text: str) -> None:
        """All the words so far; empty where an attempt came to nothing."""
        # A key has no blanks: of a word that goes on nobody knows whether it is one.
        now = cleaned(_UNFINISHED.sub("", text))
        if now != self._told:
            self._told = now
            self._tell(now)

    def forget(self) -> None:
        """They were no line for the person, or stand there whole."""
        self.take("")
