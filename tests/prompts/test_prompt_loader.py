"""The prompt loader: what it refuses, and that what a variable holds is never template code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import PromptError
from navloom.prompts.prompt_loader import load_prompt, parse_prompt, prompt_names

GOOD = """
name: greet
version: 3
description: says hello
variables: [who, things]
system: "You greet {{ who }}."
human: "{% for thing in things %}<{{ thing }}>{% endfor %}"
"""


def test_renders_both_texts_without_escaping() -> None:
    rendered = parse_prompt(GOOD, where="greet.yaml").render(who="A <-> B", things=["x", "y&z"])
    assert rendered.system == "You greet A <-> B."
    assert rendered.human == "<x><y&z>"


def test_worked_turns_are_kept_as_they_are_and_known_by_the_hash() -> None:
    turned = parse_prompt(GOOD + "turns: [['{{ a }}?', b], [c, d]]", where="greet.yaml")
    assert turned.render(who="x", things=[]).turns == (("{{ a }}?", "b"), ("c", "d"))
    plain = parse_prompt(GOOD, where="greet.yaml")
    assert plain.render(who="x", things=[]).turns == ()
    assert turned.hash != plain.hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("version: 3", "version: yes"), "'version' is missing or wrong"),
        (("version: 3", "version: 0"), "'version' is missing or wrong"),
        (("version: 3\n", ""), "'version' is missing or wrong"),
        (("version: 3", "version: 3\nsistem: x"), "unknown key 'sistem'. Did you mean 'system'"),
        (("[who, things]", "[who]"), "used but not declared in 'variables': 'things'"),
        (("[who, things]", "[who, things, more]"), "never used: 'more'"),
        (("[who, things]", "[who, who, things]"), "'variables' is missing or wrong"),
        (("[who, things]", "who"), "'variables' is missing or wrong"),
        (("{{ who }}", "{{ who"), "not a Jinja2 template"),
        (("name: greet", "name: [greet"), "not YAML"),
        (("version: 3", "version: 3\nturns: [[hello]]"), "expected a list of pairs of texts"),
        (("version: 3", "version: 3\nturns: hello"), "expected a list of pairs of texts"),
        (("description: says hello", "description: '  '"), "'description' is missing or wrong"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(change: tuple[str, str], message: str) -> None:
    with pytest.raises(PromptError) as caught:
        parse_prompt(GOOD.replace(*change), where="greet.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("greet.yaml: ")
    assert "\n" not in str(caught.value)


def test_a_text_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(PromptError, match="expected a mapping"):
        parse_prompt("just words", where="greet.yaml")


def test_missing_and_unknown_variables_raise() -> None:
    prompt = parse_prompt(GOOD, where="greet.yaml")
    with pytest.raises(PromptError, match="missing: 'things'"):
        prompt.render(who="x")
    with pytest.raises(PromptError, match=r"no variable 'whom'.*Did you mean 'who'"):
        prompt.render(who="x", things=[], whom="y")


def test_a_field_that_is_not_there_raises() -> None:
    prompt = parse_prompt(GOOD.replace("{{ thing }}", "{{ thing.size }}"), where="greet.yaml")
    with pytest.raises(PromptError, match="cannot be filled"):
        prompt.render(who="x", things=[{"name": "cup"}])


def test_templates_run_in_a_sandbox() -> None:
    text = GOOD.replace("{{ who }}", "{{ who.__class__.__mro__ }}")
    with pytest.raises(PromptError, match="cannot be filled"):
        parse_prompt(text, where="greet.yaml").render(who="x", things=[])


@given(st.text(alphabet="{}%# abc<>", max_size=30))
def test_what_a_variable_holds_is_never_template_code(words: str) -> None:
    rendered = parse_prompt(GOOD, where="greet.yaml").render(who="x", things=[words])
    assert rendered.human == f"<{words}>"


def test_the_hash_shows_a_silent_edit() -> None:
    first = parse_prompt(GOOD, where="g")
    same = parse_prompt(GOOD.replace("says hello", "greets"), where="g")
    edited = parse_prompt(GOOD.replace("You greet", "You scold"), where="g")
    assert first.hash == same.hash != edited.hash
    assert first.record == {"name": "greet", "version": 3, "hash": first.hash}


def test_every_prompt_of_the_package_loads_once() -> None:
    assert "room_typing" in prompt_names()
    for name in prompt_names():
        assert load_prompt(name) is load_prompt(name)


def test_an_unknown_prompt_names_a_near_one() -> None:
    with pytest.raises(PromptError, match="Did you mean 'room_typing'"):
        load_prompt("room_type")
    with pytest.raises(PromptError, match="no prompt"):
        load_prompt("../errors")
