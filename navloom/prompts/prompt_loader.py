"""Load and fill prompt templates: named YAML files with declared variables, checked strictly.

A prompt is ``navloom/prompts/SUBJECT/NAME.yaml`` with exactly the keys ``name`` (the file's own
name), ``version`` (a whole number from 1, raised with every change of wording), ``description``,
``variables`` (the names its two texts use), ``system`` and ``human`` (Jinja2 texts). Optional
``turns`` are worked examples: pairs of a question and its answer, inserted as they are. Values of
variables are inserted as they are as well: texts from a scene are data and never template code.
Another package registers the package of its prompts as an entry point of ``navloom.prompts``.

>>> load_prompt("room_typing").name
'room_typing'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple, TypeGuard

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from navloom.errors import PromptError, did_you_mean
from navloom.plugins import find_plugins, load_plugin

_KEYS = ("name", "version", "description", "variables", "system", "human")
_TURNS = "turns"
GROUP = "navloom.prompts"
_NOT_PROMPTS = frozenset({"profiles"})
"""YAML files of the folders that are no prompts; see
:mod:`navloom.prompts.navcraft.profiles`."""
_JINJA = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined,
    # A prompt is read by a model, not by a browser: "&lt;->" would only puzzle it.
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
)


class RenderedPrompt(NamedTuple):
    """The texts of a filled prompt; graphs build messages from them.

    Attributes:
        system: the system message.
        human: the question.
        turns: worked examples between them: a question and its answer, each.
    """

    system: str
    human: str
    turns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt template with its declared variables.

    Attributes:
        name: its file's name without ``.yaml``.
        version: a whole number from 1; stored in the records of runs.
        description: the prompt's purpose, for people.
        variables: every variable its texts use.
        system: the Jinja2 text of the system message.
        human: the Jinja2 text of the first human message.
        turns: worked examples: a question and its answer, each.
    """

    name: str
    version: int
    description: str
    variables: tuple[str, ...]
    system: str
    human: str
    turns: tuple[tuple[str, str], ...] = ()

    @cached_property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of the template's texts: shows a silent edit."""
        read = [self.system, self.human, *([self.turns] if self.turns else [])]
        text = json.dumps(read).encode()
        return hashlib.sha256(text).hexdigest()[:12]

    @property
    def record(self) -> dict[str, Any]:
        """The prompt's entry in a run's record: ``{"name", "version", "hash"}``."""
        return {"name": self.name, "version": self.version, "hash": self.hash}

    def render(self, **variables: object) -> RenderedPrompt:
        """Fill in every variable.

        Args:
            variables: a value for each declared variable, and nothing else.

        Returns:
            The system and the human text, without white space at either end, and the worked
            examples.

        Raises:
            PromptError: a variable is missing, unknown, or lacks a field the text uses.
        """
        missing = sorted(set(self.variables) - set(variables))
        if missing:
            raise PromptError(
                f"prompt '{self.name}' needs the variables {_list(self.variables)}; "
                f"missing: {_list(missing)}"
            )
        for name in sorted(set(variables) - set(self.variables)):
            raise PromptError(
                f"prompt '{self.name}' has no variable '{name}'; it takes {_list(self.variables)}."
                f"{did_you_mean(name, self.variables)}"
            )
        try:
            system, human = (template.render(variables).strip() for template in self._templates)
        except TemplateError as error:
            raise PromptError(f"prompt '{self.name}' cannot be filled: {_line(error)}") from error
        return RenderedPrompt(system, human, self.turns)

    @cached_property
    def _templates(self) -> tuple[Template, Template]:
        return _JINJA.from_string(self.system), _JINJA.from_string(self.human)


def prompt_names() -> tuple[str, ...]:
    """Return the sorted names of all prompts, including those of other packages."""
    return tuple(sorted({*_lent(), *_files()}))


@lru_cache(maxsize=64)
def load_prompt(name: str) -> PromptTemplate:
    """Load a prompt; the result is cached.

    Args:
        name: for example ``"room_typing"``.

    Raises:
        PromptError: there is no such prompt, or its file breaks a rule of this module.
    """
    known = _files()
    if name not in known:
        known = _lent() | known
    if name not in known:
        raise PromptError(f"there is no prompt '{name}'.{did_you_mean(name, known)}")
    text = known[name].read_text(encoding="utf-8")
    prompt = parse_prompt(text, where=f"{name}.yaml")
    if prompt.name != name:
        raise PromptError(f"{name}.yaml: 'name' is '{prompt.name}', expected '{name}'")
    return prompt


@lru_cache(maxsize=1)
def _files() -> dict[str, Traversable]:
    """Return the file of every prompt by name, from all subject folders."""
    return _in(folder for folder in files("navloom.prompts").iterdir() if folder.is_dir())


@lru_cache(maxsize=1)
def _lent() -> dict[str, Traversable]:
    """Return the files of other packages' prompts by name."""
    named = (
        load_plugin(GROUP, name, f"The prompts of '{name}'", PromptError)
        for name in find_plugins(GROUP)
    )
    return _in(files(package) for package in named)


def _in(folders: Iterable[Traversable]) -> dict[str, Traversable]:
    found = (path for folder in folders for path in folder.iterdir())
    names = {path.name.removesuffix(".yaml"): path for path in found if path.name.endswith(".yaml")}
    return {name: path for name, path in names.items() if name not in _NOT_PROMPTS}


def parse_prompt(text: str, *, where: str) -> PromptTemplate:
    """Parse and check a prompt's YAML text.

    Args:
        text: the content of a prompt file.
        where: the file's name in errors.

    Raises:
        PromptError: the text is no YAML mapping, a key is missing, unknown or of the wrong type, a
            template cannot be parsed, or declared and used variables differ.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PromptError(f"{where}: not YAML: {_line(error)}") from error
    if not isinstance(data, dict):
        raise PromptError(f"{where}: expected a mapping with the keys {_list(_KEYS)}")
    for key in data:
        if key not in (*_KEYS, _TURNS):
            raise PromptError(f"{where}: unknown key '{key}'.{did_you_mean(str(key), _KEYS)}")
    for key in (*_KEYS, *([_TURNS] if _TURNS in data else [])):
        _check(key, data.get(key), where)
    turns = tuple((question, answer) for question, answer in data.get(_TURNS, ()))
    prompt = PromptTemplate(**{**data, "variables": tuple(data["variables"]), _TURNS: turns})
    _check_variables(prompt, where)
    return prompt


def _check(key: str, value: object, where: str) -> None:
    if key == "version":
        # A bare "yes" is a bool in YAML, and a bool is an int in Python.
        good, expected = type(value) is int and value >= 1, "a whole number from 1"
    elif key == "variables":
        good, expected = _is_names(value), "a list of distinct names"
    elif key == _TURNS:
        good, expected = _is_turns(value), "a list of pairs of texts"
    else:
        good, expected = isinstance(value, str) and value.strip() != "", "a text"
    if not good:
        raise PromptError(f"{where}: '{key}' is missing or wrong, expected {expected}")


def _is_names(value: object) -> TypeGuard[list[str]]:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) and name.isidentifier() for name in value)
        and len(set(value)) == len(value)
    )


def _is_turns(value: object) -> bool:
    pairs = value if isinstance(value, list) else [None]
    return all(isinstance(p, list) and [type(t) for t in p] == [str, str] for p in pairs)


def _check_variables(prompt: PromptTemplate, where: str) -> None:
    try:
        texts = (prompt.system, prompt.human)
        used = set().union(*(meta.find_undeclared_variables(_JINJA.parse(t)) for t in texts))
    except TemplateError as error:
        raise PromptError(f"{where}: a text is not a Jinja2 template: {_line(error)}") from error
    declared = set(prompt.variables)
    if undeclared := sorted(used - declared):
        raise PromptError(f"{where}: used but not declared in 'variables': {_list(undeclared)}")
    if unused := sorted(declared - used):
        raise PromptError(f"{where}: declared in 'variables' but never used: {_list(unused)}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
