"""The table of vLLM's flags by model family."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.cli import vllm_flags
from navloom.cli.vllm_flags import family_of, serve_flags
from navloom.cli.vllm_flags import load_families as known
from navloom.errors import UsageError

# What the server registers: vllm/tool_parsers/__init__.py and vllm/reasoning/__init__.py, 2026.
TOOL_PARSERS = {
    *("hermes", "qwen3_coder", "qwen3_xml", "llama3_json", "llama4_pythonic", "pythonic"),
    *("mistral", "openai", "glm45", "glm47", "kimi_k2", "deepseek_v3", "deepseek_v31"),
    *("gemma4", "granite", "granite4", "phi4_mini_json", "olmo3", "internlm"),
}
REASONING_PARSERS = {"qwen3", "deepseek_r1", "glm45"}


@pytest.mark.parametrize(
    ("model", "parser", "reasoning", "images"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "hermes", None, False),
        ("Qwen/Qwen2.5-Coder-1.5B-Instruct", "hermes", None, False),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "hermes", None, True),
        ("Qwen/Qwen3-8B", "hermes", "qwen3", False),
        ("Qwen/Qwen3-4B-Instruct-2507", "hermes", None, False),
        ("Qwen/Qwen3-30B-A3B-Thinking-2507", "hermes", "qwen3", False),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "hermes", None, False),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder", None, False),
        ("Qwen/Qwen3-VL-8B-Instruct", "hermes", None, True),
        ("Qwen/Qwen3-VL-8B-Thinking", "hermes", "qwen3", True),
        ("Qwen/Qwen3.5-9B", "qwen3_coder", "qwen3", True),
        ("Qwen/QwQ-32B", "hermes", "deepseek_r1", False),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes", None, False),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json", None, False),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "llama3_json", None, True),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4_pythonic", None, True),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral", None, False),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral", None, True),
        ("mistralai/Pixtral-12B-2409", "mistral", None, True),
        ("openai/gpt-oss-20b", "openai", None, False),
        ("zai-org/GLM-4.5V", "glm45", "glm45", True),
        ("zai-org/GLM-4.6", "glm45", "glm45", False),
        ("zai-org/GLM-4.7-Flash", "glm47", "glm45", False),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek_v31", None, False),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek_v3", "deepseek_r1", False),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", None, "deepseek_r1", False),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", None, "deepseek_r1", False),
        ("google/gemma-3-27b-it", "pythonic", None, True),
        ("google/gemma-4-31B-it", "gemma4", None, True),
        ("ibm-granite/granite-4.0-h-small", "granite4", None, False),
        ("microsoft/Phi-4-mini-instruct", "phi4_mini_json", None, False),
        ("HuggingFaceTB/SmolLM3-3B", "hermes", None, False),
        ("llava-hf/llava-1.5-7b-hf", None, None, True),
        ("/models/qwen2.5-7b-instruct/", "hermes", None, False),
    ],
)
def test_a_model_finds_its_family(
    model: str, parser: str | None, reasoning: str | None, images: bool
) -> None:
    family = family_of(model)
    assert family is not None
    assert (family.parser, family.reasoning, family.images) == (parser, reasoning, images)
    flags, _ = serve_flags(model)
    assert ("--enable-auto-tool-choice" in flags) == (parser is not None)
    assert ("--limit-mm-per-prompt" in flags) == images


def test_every_parser_is_one_that_vllm_has() -> None:
    assert {f.parser for f in known()} - {None} <= TOOL_PARSERS
    assert {f.reasoning for f in known()} - {None} <= REASONING_PARSERS


def test_only_names_of_a_family_match() -> None:
    assert family_of("qwen2.5-org/some-other-model") is None
    assert family_of("") is None


def test_a_template_is_taken_from_where_vllm_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_flags, "TEMPLATE_FOLDERS", (tmp_path,))
    name = "meta-llama/Llama-3.1-8B-Instruct"
    flags, notes = serve_flags(name)
    assert "--chat-template" not in flags
    assert "examples/tool_chat_template_llama3.1_json.jinja" in notes[0]
    file = tmp_path / "tool_chat_template_llama3.1_json.jinja"
    file.write_text("x")
    flags, notes = serve_flags(name)
    assert flags[flags.index("--chat-template") + 1] == str(file)
    assert notes == []
    mine = tmp_path / "mine.jinja"
    mine.write_text("x")
    assert str(mine) in serve_flags(name, chat_template=str(mine))[0]
    assert "tool_use" in serve_flags(name, chat_template="tool_use")[0]
    theirs = ["--chat_template", "x.jinja"]
    flags, notes = serve_flags(name, given=theirs)
    assert (flags[-2:], flags.count("--chat-template"), notes) == (theirs, 0, [])
    with pytest.raises(UsageError, match=r"no chat template nowhere\.jinja"):
        serve_flags(name, chat_template="nowhere.jinja")


def test_a_vision_model_without_a_template_for_tools_says_so() -> None:
    _, notes = serve_flags("Qwen/Qwen2.5-VL-7B-Instruct")
    assert "does not show tools" in notes[0]
