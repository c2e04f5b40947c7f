"""How long a text of an observation may be, and how near an object is near."""

from __future__ import annotations

__all__ = ["MOST_CAPTION", "MOST_DESCRIPTION", "MOST_NAME", "MOST_SUMMARY", "NEAR_M"]

MOST_SUMMARY = 400
MOST_CAPTION = 300
MOST_DESCRIPTION = 110
"""Of a candidate. The median caption of a Matterport sector has 109 characters."""
MOST_NAME = 60
NEAR_M = 3.0
"""Objects within so many metres are listed, as the Matterport observations do."""
