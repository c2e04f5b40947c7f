"""How a run is gone through, as against what it is: none of it may change an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from navloom.evals.batch import MAX_CONNECTIONS
from navloom.evals.progress import Display
from navloom.models.call import CallSettings
from navloom.models.limits import Limits

__all__ = ["Session"]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What several runs of one command share.

    Attributes:
        display: told of progress; silent unless given.
        max_connections: samples under way at once.
        settings: what stands around each model call, such as a response cache.
        limits: when to end, of each run; the same command with higher ones goes on.
    """

    display: Display | None = None
    max_connections: int = MAX_CONNECTIONS
    settings: CallSettings | None = None
    limits: Limits | None = None

    def options(self) -> dict[str, Any]:
        """The same as keywords of ``synthesise`` and ``evaluate``."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
