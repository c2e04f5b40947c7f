"""Registry of the kinds of runs (:mod:`navloom.evals.runner` executes them).

An entry is a :class:`RunKind`, named here as ``module:NAME`` and imported at its first use. It is
light: its functions use :func:`lazy_function`, so viewing a run in a browser imports no agent or
model. A package adds a kind in its own pyproject.toml, and with it a command, ``navloom NAME``:

    [project.entry-points."navloom.kinds"]
    mine = "my_package.runs:MINE"

``navloom retry``, ``report``, ``export`` and ``--dry-run`` need nothing but the entry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from navloom.errors import RunError, did_you_mean
from navloom.evals.progress import Summary
from navloom.evals.report.blocks import Block, Column, Pairing, SampleDetail
from navloom.evals.request import RunRequest
from navloom.evals.run_folder import read_run, version_error
from navloom.evals.session import Job, Sample
from navloom.models.model_spec import read_spec
from navloom.plugins import find_plugins, load_plugin

GROUP = "navloom.kinds"
KINDS = {
    "single": "navloom.evals.builtin_kinds:SINGLE",
    "collab": "navloom.evals.builtin_kinds:COLLAB",
    "direct": "navloom.evals.builtin_kinds:DIRECT",
    "team": "",
    "navigate": "navloom.evals.builtin_kinds:NAVIGATE",
    "capnav": "navloom.evals.builtin_kinds:CAPNAV",
    "capnav_tasks": "navloom.evals.builtin_kinds:CAPNAV_TASKS",
    "captions": "navloom.evals.builtin_kinds:CAPTIONS",
    "judge_reasoning": "navloom.evals.builtin_kinds:JUDGE_REASONING",
    "judge_trace": "navloom.evals.builtin_kinds:JUDGE_TRACE",
    "judge_failures": "navloom.evals.builtin_kinds:JUDGE_FAILURES",
    "judge_prefer": "navloom.evals.builtin_kinds:JUDGE_PREFER",
    "calibrate_reasoning": "navloom.evals.builtin_kinds:CALIBRATE_REASONING",
    "calibrate_injections": "navloom.evals.builtin_kinds:CALIBRATE_INJECTIONS",
    "calibrate_trace": "navloom.evals.builtin_kinds:CALIBRATE_TRACE",
    "calibrate_prefer": "navloom.evals.builtin_kinds:CALIBRATE_PREFER",
}
"""Kind in ``run.json`` -> ``module:NAME`` of its entry; "" for one in ``navloom-worlds``."""
OURS = frozenset(KINDS)
Note = Callable[[str], None]
REPLY_TOKENS = 4096
"""Assumed upper bound of a reply in tokens; open models are limited to it."""
RESULT_TOKENS = 500
"""Assumed upper bound in tokens of a tool result or a rejection message."""


@dataclass(kw_only=True)
class RunPlan:
    """The samples and files of a run, planned from its request before a folder is touched.

    Attributes:
        request: the request.
        samples: all samples of the run, in order; a round may add some.
        record: entries of ``run.json`` beside the request: hashes of its files.
        notes: messages for the user before the run begins.
        limited: explains which samples ``--limit`` selects, where that needs saying.
        files: small files of the run's folder that are written before it begins, by name.
    """

    request: Any
    samples: list[Sample]
    record: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    limited: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class CommandOutput:
    """The output of a command about runs: blocks, notes, files.

    Attributes:
        blocks: blocks for a terminal, and for a page of several runs.
        whole: whether a terminal shows all blocks as markdown, and not one screen.
        together: whether a page shows the blocks as a report of several runs.
        notes: lines for stderr.
        lines: lines for stderr, also in machine-readable mode.
        record: the same content as JSON.
        files: files that were written.
        details: pages of samples that replace :attr:`RunKind.detail`, with images made for them, by
            run and id.
    """

    blocks: Sequence[Block] = ()
    whole: bool = False
    together: bool = True
    notes: Sequence[str] = ()
    lines: Sequence[str] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Path] = ()
    details: Mapping[tuple[Path, str], SampleDetail] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CallBounds:
    """Bounds of the calls that a sample makes and of the tokens that it sends.

    Attributes:
        most: maximum number of calls that each send the first prompts again.
        beside: maximum number of further calls, of a judge or an oracle.
        least: minimum number of calls.
        each: maximum tokens that each of ``most`` sends beside the first prompts.
        in_all: maximum tokens that all calls send beside that.
        rounds: maximum number of repetitions of all this.
        begin: job, sample, context -> the first graphs and their inputs, where a sample begins with
            more than its job's graph.
    """

    most: int
    beside: int = 0
    least: int = 1
    each: float = 0
    in_all: float = 0
    rounds: int = 1
    begin: Callable[[Any, Sample, Any], Awaitable[list[tuple[Any, Any]]]] | None = None

    @classmethod
    def of_questions(cls, model: str, reasks: int, *, questions: int = 1) -> CallBounds:
        """Return the bounds of samples that each ask a few independent questions.

        Args:
            model: ``provider/name``.
            reasks: maximum number of retries after a rejected reply.
            questions: maximum number of questions of a sample, at least 1.
        """
        return cls(most=questions * (1 + reasks), each=reasks * max_reply_tokens(model))


def max_reply_tokens(model: str) -> int:
    """Return the token limit in a model's name, else `REPLY_TOKENS`."""
    said = read_spec(model).options.get("max_tokens")
    return said if isinstance(said, int) else REPLY_TOKENS


def lazy_function(where: str) -> Callable[..., Any]:
    """Return a function that imports and calls ``module:name`` when it is called."""
    return partial(_called, where)


def lazy_functions(*modules: str) -> dict[str, Any]:
    """Return functions for the fields of a kind, each imported when it is called.

    Args:
        modules: ``module:name name field=name``; the bare name where field and function agree.
    """
    found = {}
    for each in modules:
        module, _, names = each.partition(":")
        for said in names.split():
            field_name, _, name = said.rpartition("=")
            found[field_name or name] = lazy_function(f"{module}:{name}")
    return found


def _called(where: str, *given: Any) -> Any:
    return _imported(where)(*given)


def _imported(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True, kw_only=True)
class RunKind:
    """A kind of run: its request, and the functions that plan, execute and show such runs.

    Attributes:
        name: in ``run.json``.
        command: the command that makes such a run, after ``navloom``.
        words: help text of a generated command.
        request: class of its requests.
        plan: request, run folder (None in a dry run), note function -> plan. Reports every error in
            the request.
        job: plan -> job that handles each sample.
        dry: plan -> bounds of a sample's calls.
        more: plan, run folder -> whether another round has samples, which it adds to the plan.
            Called when all samples have ended well. None for a single round.
        finish: plan, run folder -> further entries of ``summary.json``. Writes the folder's other
            files at the end of each session.
        ended: run folder, totals -> output of the command at its end.
        report: run folders, output folder -> output of ``navloom report``; None where the command
            that makes a run shows its tables again and retries errors.
        export: run folder, file, format, conditions on lines -> number of lines written; None where
            a run is no dataset.
        broken_alone: whether a retry runs only samples with errors, not the remaining ones.
        things: plural names of its samples and scenes.
        prompts_shown: number of prompts that a dry run shows; None for all.
        columns: ``run.json`` -> the kind's own columns of the sample table.
        detail: run folder, line -> page of that sample; None to show the bare line.
        tables: run folder -> blocks with the scores of the whole run; recomputed as the run grows.
        failures: run folder -> blocks with failures by frequency, place and time; None for none.
        first: ``summary.json`` -> the score that a list of runs shows; None for none.
        pairing: makes the rules for comparing two runs; None if they cannot be compared.
    """

    name: str
    command: str
    words: str = ""
    request: type[RunRequest]
    plan: Callable[[Any, Path | None, Note], RunPlan]
    job: Callable[[Any], Job]
    dry: Callable[[Any], CallBounds]
    more: Callable[[Any, Path], bool] | None = None
    finish: Callable[[Any, Path], dict[str, Any] | Awaitable[dict[str, Any]]] = lambda _, __: {}
    ended: Callable[[Path, Summary], CommandOutput] = lambda _, __: CommandOutput()
    report: Callable[[list[Path], Path | None], CommandOutput] | None = None
    export: Callable[[Path, Path, str, Sequence[str]], int] | None = None
    broken_alone: bool = True
    things: tuple[str, str] = ("samples", "scenes")
    prompts_shown: int | None = 1
    columns: Callable[[Mapping[str, Any]], Sequence[Column]] = lambda _: ()
    detail: Callable[[Path, Mapping[str, Any]], SampleDetail] | None = None
    tables: Callable[[Path], Sequence[Block]] = lambda _: ()
    failures: Callable[[Path], Sequence[Block]] | None = None
    first: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    pairing: Callable[[], Pairing] | None = None


def known_kinds() -> tuple[str, ...]:
    """Return all names that :func:`get_kind` accepts, own ones first; imports nothing."""
    return tuple(dict.fromkeys([*KINDS, *find_plugins(GROUP)]))


def get_kind(name: str) -> RunKind:
    """Return the registry entry of a kind of run.

    Raises:
        RunError: there is none, or it cannot be imported.
    """
    known = known_kinds()
    if name not in known:
        raise RunError(
            f"'{name}' is no kind of run: expected one of {', '.join(known)}."
            + did_you_mean(name, known)
        )
    what = f"the kind of run '{name}'"
    entry = KINDS.get(name)
    if not entry:
        found = load_plugin(GROUP, name, what, RunError)
    else:
        try:
            found = _imported(entry)
        except (ImportError, AttributeError) as error:
            raise RunError(f"{what} ({entry}) cannot be imported: {error}") from error
    if not isinstance(found, RunKind):
        raise RunError(f"{what} is a {type(found).__name__}, no Kind")
    return found


def kind_of(run: Path | str) -> RunKind:
    """Return the kind of a run from its ``run.json``.

    Raises:
        RunError: the folder is no run, or one that this version does not know.
    """
    said = read_run(run)
    name = str(said.get("kind"))
    if name not in known_kinds():
        raise version_error(run, said, f"it is a '{name}'")
    return get_kind(name)


def read_run_of_kind(run: Path | str, *kinds: str) -> dict[str, Any]:
    """Read ``run.json`` of a run that must be of one of the given kinds.

    Raises:
        RunError: the folder is no run, or one of another kind: which, and which was expected.
    """
    said = read_run(run)
    if said.get("kind") not in kinds:
        there = [each for each in kinds if KINDS.get(each) or each in find_plugins(GROUP)]
        commands = [f"`navloom {get_kind(each).command}`" for each in there]
        raise RunError(
            f"{run} is a run of `navloom {kind_of(run).command}`: expected one of"
            f" {' or '.join(commands)}"
        )
    return said
