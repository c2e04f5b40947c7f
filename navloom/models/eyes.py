"""Who is shown pictures."""

from __future__ import annotations

from typing import Any

from navloom.models.binding import cannot
from navloom.models.registry import model_of


def sees(model: Any) -> bool:
    """Whether a model is shown pictures: where it takes them, and where nobody knows.

    Args:
        model: a chat model, or its ``provider/name``. Rule-based baselines read words alone.

    Raises:
        ModelError: the name is no model's.
    """
    if isinstance(model, str):
        model = model_of(model)
    return getattr(type(model), "takes_images", True) and not cannot(model, "images")
