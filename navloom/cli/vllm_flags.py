"""Flags of ``vllm serve`` that agents need, by model family (``families.yaml``)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from navloom.errors import UsageError
from navloom.files import package_yaml

_SCHEMAS = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
"""Without this, small models under a schema may end a reply in thousands of newlines. vLLM has the
flag since 0.11, and accepts it only with a named grammar engine."""
TEMPLATE_FOLDERS = (Path("/vllm-workspace/examples"), Path("examples"))
"""Folders of vLLM's own chat templates: in its container, or in a checkout of its sources."""


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Models that are served with the same flags.

    Attributes:
        name: its common name.
        pattern: matches the last part of a model's name, in lower case.
        parser: vLLM's tool-call parser; None if none fits.
        reasoning: vLLM's reasoning parser, for reasoning models.
        template: the chat template in vLLM's ``examples`` that makes tools work better.
        images: whether it accepts images.
        note: a note for the user.
    """

    name: str
    pattern: str
    parser: str | None = None
    reasoning: str | None = None
    template: str | None = None
    images: bool = False
    note: str = ""


@cache
def load_families() -> tuple[ModelFamily, ...]:
    """Return all known families; the first match counts."""
    return tuple(ModelFamily(**each) for each in package_yaml("navloom.cli", "families.yaml"))


def family_of(model: str) -> ModelFamily | None:
    """Return the family of a model by its name, such as ``Qwen/Qwen2.5-7B-Instruct``."""
    last = model.rstrip("/").rpartition("/")[2].casefold()
    return next((family for family in load_families() if re.search(family.pattern, last)), None)


def serve_flags(
    model: str, *, images: int = 16, chat_template: str | None = None, given: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the flags for ``vllm serve MODEL`` that agents need, and notes.

    Args:
        model: the model's name or folder.
        images: limit of images in one prompt, if the model accepts any; 0 turns them off.
        chat_template: a chat template that replaces the family's.
        given: the user's flags, which come last; a flag given here is not set twice.

    Returns:
        The flags, and one line for each note.

    Raises:
        UsageError: the chat template does not exist.
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


def _of_family(family: ModelFamily, images: int) -> list[tuple[str, ...]]:
    flags: list[tuple[str, ...]] = []
    if family.parser:
        flags += [("--enable-auto-tool-choice",), ("--tool-call-parser", family.parser)]
    if family.reasoning:
        flags.append(("--reasoning-parser", family.reasoning))
    if family.images:
        flags.append(("--limit-mm-per-prompt", json.dumps({"image": images})))
    return flags


def _template(
    family: ModelFamily | None, wanted: str | None, given: Sequence[str], notes: list[str]
) -> str | None:
    if wanted is not None:
        # A name without folder or suffix is one of the model's own templates, such as "tool_use".
        if ("/" in wanted or "." in wanted) and not Path(wanted).is_file():
            raise UsageError(f"There is no chat template {wanted}: give a file.")
        return wanted
    if family is None or family.template is None or any("chat-template" in f for f in given):
        return None
    for folder in TEMPLATE_FOLDERS:
        if (folder / family.template).is_file():
            return str(folder / family.template)
    notes.append(
        f"{family.name}: tools work better with vLLM's own examples/{family.template}; give it"
        " with --chat-template FILE (the wheel does not carry it)"
    )
    return None
