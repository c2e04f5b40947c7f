"""Which flags of vLLM's agents need, by the family of a model (``families.yaml``)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from navloom.errors import UsageError
from navloom.files import packaged

_SCHEMAS = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Held to a schema that leaves white space free, small models end a reply in thousands of newlines.
vLLM knows the flag since 0.11, and takes it with a grammar engine that is named."""
TEMPLATE_FOLDERS = (Path("/vllm-workspace/examples"), Path("examples"))
"""Where vLLM's own chat templates lie: in its container, or in a checkout of its sources."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are served alike.

    Attributes:
        name: what people call it.
        pattern: matches the last part of a model's name, in lower case.
        parser: vLLM's tool-call parser; None where there is none that fits.
        reasoning: vLLM's reasoning parser, for models that think aloud first.
        template: the chat template in vLLM's ``examples`` that makes tools work better.
        images: whether it takes images.
        note: what to know about it.
    """

    name: str
    pattern: str
    parser: str | None = None
    reasoning: str | None = None
    template: str | None = None
    images: bool = False
    note: str = ""


@cache
def families() -> tuple[Family, ...]:
    """All that are known; the first that matches counts."""
    return tuple(Family(**each) for each in packaged("navloom.cli", "families.yaml"))


def family_of(model: str) -> Family | None:
    """The family that a model belongs to by its name, such as ``Qwen/Qwen2.5-7B-Instruct``."""
    last = model.rstrip("/").rpartition("/")[2].casefold()
    return next((family for family in families() if re.search(family.pattern, last)), None)


def serve_flags(
    model: str, *, images: int = 16, chat_template: str | None = None, given: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """The flags after ``vllm serve MODEL`` that agents need.

    Args:
        model: the model's name or folder.
        images: the most images in one prompt, where the model takes any; 0 turns them off.
        chat_template: a chat template, before the family's own.
        given: flags of the user's, which come last; one that is given here is not set twice.

    Returns:
        The flags, and one line for each thing to know.

    Raises:
        UsageError: for a chat template that is not there.
    """
    family, notes, flags = family_of(model), [], list[tuple[str, ...]]()
    if family is None:
        notes.append(
            f"{model} is in no family that Navloom knows: it is served without a tool-call parser,"
            " so tools may not work; add -- --enable-auto-tool-choice --tool-call-parser NAME"
        )
    else:
        flags += _of_family(family, images)
        notes += [f"{family.name}: {family.note}"] if family.note else []
    template = _template(family, chat_template, given, notes)
    if template is not None:
        flags.append(("--chat-template", template))
    flags.append(("--structured-outputs-config", _SCHEMAS))
    named = (re.split("[=.]", flag)[0] for flag in given if flag.startswith("--"))
    theirs = {flag.replace("_", "-") for flag in named}
    kept = [part for flag in flags if flag[0] not in theirs for part in flag]
    return [*kept, *given], notes


def _of_family(family: Family, images: int) -> list[tuple[str, ...]]:
    flags: list[tuple[str, ...]] = []
    if family.parser:
        flags += [("--enable-auto-tool-choice",), ("--tool-call-parser", family.parser)]
    if family.reasoning:
        flags.append(("--reasoning-parser", family.reasoning))
    if family.images:
        flags.append(("--limit-mm-per-prompt", json.dumps({"image": images})))
    return flags


def _template(
    family: Family | None, wanted: str | None, given: Sequence[str], notes: list[str]
) -> str | None:
    if wanted is not None:
        # A name without a folder or an ending is one of the model's own templates, "tool_use".
        if ("/" in wanted or "." in wanted) and not Path(wanted).is_file():
            raise UsageError(f"There is no chat template {wanted}: give a file.")
        return wanted
    if family is None or family.template is None or any("chat-template" in f for f in given):
        return None
    here = next(
        (f / family.template for f in TEMPLATE_FOLDERS if (f / family.template).is_file()), None
    )
    if here is not None:
        return str(here)
    notes.append(
        f"{family.name}: tools work better with vLLM's own examples/{family.template}; give it"
        " with --chat-template FILE (the wheel does not carry it)"
    )
    return None
