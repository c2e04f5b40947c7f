"""Which flags ``vllm serve`` needs for a model: tools, the chat template, schemas, images.

One table by family, matched on the last part of the model's name. vLLM reads a family's tool calls
only with the parser that fits it, and without a parser it refuses every request with tools. It
holds models to JSON schemas without any flag; a model that thinks aloud first needs its reasoning
parser too, or the schema would be applied to its thoughts.

Source: vLLM's pages on tool calling, reasoning outputs and multimodal inputs, as of its 0.12 to
0.26 releases; the parsers' names are those that the server registers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from navloom.errors import UsageError

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


_QWEN_VL_NOTE = (
    "the model's own chat template does not show tools to it: give one that does with"
    " --chat-template"
)

FAMILIES: tuple[Family, ...] = (
    Family(
        "DeepSeek-R1-0528",
        r"deepseek-r1-0528$",
        "deepseek_v3",
        "deepseek_r1",
        template="tool_chat_template_deepseekr1.jinja",
    ),
    Family("DeepSeek-R1", r"deepseek-r1", None, "deepseek_r1", note="it takes no tools"),
    Family("Qwen3-Coder", r"qwen3-coder", "qwen3_coder"),
    Family("Qwen3.5", r"qwen3\.[5-9]", "qwen3_coder", "qwen3", images=True),
    Family("Qwen3-VL thinking", r"qwen3-vl-.*thinking", "hermes", "qwen3", images=True),
    Family("Qwen3-VL", r"qwen3-vl", "hermes", images=True),
    Family("Qwen3 without thoughts", r"qwen3-.*instruct", "hermes"),
    Family("Qwen3", r"qwen3(?!guard)", "hermes", "qwen3"),
    Family("QwQ", r"qwq", "hermes", "deepseek_r1"),
    Family("Qwen2-VL, Qwen2.5-VL", r"qwen2(\.5)?-vl", "hermes", images=True, note=_QWEN_VL_NOTE),
    Family("Qwen2.5", r"qwen2\.5", "hermes"),
    Family("Hermes", r"hermes-(2-pro|2-theta|[3-9])", "hermes"),
    Family("SmolLM3", r"smollm3", "hermes"),
    Family(
        "Llama 4",
        r"llama-4",
        "llama4_pythonic",
        template="tool_chat_template_llama4_pythonic.jinja",
        images=True,
    ),
    Family(
        "Llama 3.2 Vision",
        r"llama-3\.2-.*vision",
        "llama3_json",
        template="tool_chat_template_llama3.2_json.jinja",
        images=True,
    ),
    Family(
        "Llama 3.2",
        r"llama-3\.2",
        "llama3_json",
        template="tool_chat_template_llama3.2_json.jinja",
    ),
    Family(
        "Llama 3.1, 3.3",
        r"llama-3\.[13]",
        "llama3_json",
        template="tool_chat_template_llama3.1_json.jinja",
    ),
    Family(
        "Mistral with images",
        r"pixtral|mistral-small-3\.[1-9]|mistral-medium|ministral-3|mistral-large-3",
        "mistral",
        images=True,
    ),
    Family("Mistral", r"mistral|ministral|mixtral|magistral|devstral|codestral", "mistral"),
    Family("gpt-oss", r"gpt-oss", "openai"),
    Family("GLM-4.5V", r"glm-4\.[56]v", "glm45", "glm45", images=True),
    Family("GLM-4.5, 4.6", r"glm-4\.[56]", "glm45", "glm45"),
    Family("GLM-4.7", r"glm-4\.7", "glm47", "glm45"),
    Family("Kimi K2", r"kimi-k2", "kimi_k2"),
    Family(
        "DeepSeek-V3.1",
        r"deepseek-v3\.1",
        "deepseek_v31",
        template="tool_chat_template_deepseekv31.jinja",
    ),
    Family(
        "DeepSeek-V3",
        r"deepseek-v3(-0324)?$",
        "deepseek_v3",
        template="tool_chat_template_deepseekv3.jinja",
    ),
    Family("Gemma 4", r"gemma-4", "gemma4", images=True),
    Family(
        "Gemma 3",
        r"gemma-3-(4|12|27)b",
        "pythonic",
        template="tool_chat_template_gemma3_pythonic.jinja",
        images=True,
        note="without that template it does not see the tools",
    ),
    Family("Granite 4", r"granite-4", "granite4"),
    Family("Granite 3", r"granite-3", "granite"),
    Family("Phi-4-mini", r"phi-4-mini", "phi4_mini_json"),
    Family("Olmo 3", r"olmo-3", "olmo3"),
    Family(
        "InternLM 2.5",
        r"internlm2_5",
        "internlm",
        template="tool_chat_template_internlm2_tool.jinja",
    ),
    Family("InternVL", r"internvl", None, images=True, note="no tool-call parser is known for it"),
    Family("LLaVA", r"llava", None, images=True, note="it takes no tools"),
)
"""The first that matches counts."""


def family_of(model: str) -> Family | None:
    """The family that a model belongs to by its name, such as ``Qwen/Qwen2.5-7B-Instruct``."""
    last = model.rstrip("/").rpartition("/")[2].casefold()
    return next((family for family in FAMILIES if re.search(family.pattern, last)), None)


def serve_flags(
    model: str,
    *,
    images: int = 16,
    chat_template: str | None = None,
    given: Sequence[str] = (),
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
    theirs = {flag.partition("=")[0].replace("_", "-") for flag in given if flag.startswith("--")}
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
