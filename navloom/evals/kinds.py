"""Kinds of runs by name: what each is made of (:mod:`navloom.evals.runner` carries them out).

An entry is a :class:`Kind`, named here as ``module:NAME`` and imported when it is first asked for;
it is light, and says with :func:`later` where its functions are: whoever looks at a run of it in a
browser imports no agent and no model.
A package adds a kind in its own pyproject.toml, and with it a command, ``navloom NAME``:

    [project.entry-points."navloom.kinds"]
    mine = "my_package.runs:MINE"

``navloom retry``, ``report``, ``export`` and ``--dry-run`` find all they need in the entry.
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
from navloom.evals.report.blocks import Block, Column, Detail, Pairing
from navloom.evals.request import Request
from navloom.evals.run_folder import made_by_another, read_run
from navloom.evals.session import Job, Sample
from navloom.models.spec import read_spec
from navloom.plugins import plugin, plugins

GROUP = "navloom.kinds"
KINDS = {
    "single": "navloom.evals.our_kinds:SINGLE",
    "collab": "navloom.evals.our_kinds:COLLAB",
    "direct": "navloom.evals.our_kinds:DIRECT",
    "team": "",
    "navigate": "navloom.evals.our_kinds:NAVIGATE",
    "capnav": "navloom.evals.our_kinds:CAPNAV",
    "capnav_tasks": "navloom.evals.our_kinds:CAPNAV_TASKS",
    "captions": "navloom.evals.our_kinds:CAPTIONS",
    "judge_reasoning": "navloom.evals.our_kinds:JUDGE_REASONING",
    "judge_trace": "navloom.evals.our_kinds:JUDGE_TRACE",
    "judge_failures": "navloom.evals.our_kinds:JUDGE_FAILURES",
    "judge_prefer": "navloom.evals.our_kinds:JUDGE_PREFER",
    "calibrate_reasoning": "navloom.evals.our_kinds:CALIBRATE_REASONING",
    "calibrate_injections": "navloom.evals.our_kinds:CALIBRATE_INJECTIONS",
    "calibrate_trace": "navloom.evals.our_kinds:CALIBRATE_TRACE",
    "calibrate_prefer": "navloom.evals.our_kinds:CALIBRATE_PREFER",
}
"""``run.json``'s kind -> ``module:NAME`` of its entry; "" where ``navloom-worlds`` has it."""
OURS = frozenset(KINDS)
Note = Callable[[str], None]
REPLY_TOKENS = 4096
"""Tokens of the longest reply that is reckoned with; open models are held to it."""
RESULT_TOKENS = 500
"""Tokens of a tool's answer, or of a message that sends an answer back, at most."""


@dataclass(kw_only=True)
class Plan:
    """What a run is to do, worked out from its request before a folder is touched.

    Attributes:
        request: what was asked.
        samples: all of the run, in order; a round may add to them.
        record: what ``run.json`` keeps beside the request's own words: its files, by content.
        notes: what a person must know before it begins.
        limited: what the first so many of the samples are, in words, where that is to be known.
        files: small files of the run's folder that are written before it begins, by name.
    """

    request: Any
    samples: list[Sample]
    record: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    limited: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """What a command shows of runs.

    Attributes:
        blocks: what a person sees: in a terminal, and on a page of several runs.
        whole: whether a terminal shows all of them, as markdown, and not one screen.
        together: whether a page has the blocks as a report of several runs.
        notes: what is said on stderr beside them.
        lines: what is said on stderr, also where a program reads.
        record: the same for programs.
        files: what was written.
        details: what a page shows of some samples in place of :attr:`Kind.detail`, with pictures
            that were made for it, by run and id.
    """

    blocks: Sequence[Block] = ()
    whole: bool = False
    together: bool = True
    notes: Sequence[str] = ()
    lines: Sequence[str] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Path] = ()
    details: Mapping[tuple[Path, str], Detail] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Calls:
    """How often a sample calls a model, and how much it sends.

    Attributes:
        most: calls at most that each send the first prompts again.
        beside: further calls at most, of a judge or an oracle.
        least: calls at least.
        each: tokens that each of ``most`` sends at most beside the first prompts.
        in_all: tokens that all calls send at most beside that.
        rounds: how often all this is done at most.
        begin: what a sample asks first, each as a graph and its input, where that is more than its
            job's; given the job, the sample and the context.
    """

    most: int
    beside: int = 0
    least: int = 1
    each: float = 0
    in_all: float = 0
    rounds: int = 1
    begin: Callable[[Any, Sample, Any], Awaitable[list[tuple[Any, Any]]]] | None = None

    @classmethod
    def of_asks(cls, model: str, reasks: int, *, questions: int = 1) -> Calls:
        """Of samples that each ask a few questions that do not build on each other.

        Args:
            model: whom.
            reasks: how often a reply is sent back at most.
            questions: how many a sample asks at most; one at least.
        """
        return cls(most=questions * (1 + reasks), each=reasks * reply_tokens(model))


def reply_tokens(model: str) -> int:
    """Tokens of the longest reply that is reckoned with: what the name says, if it does."""
    said = read_spec(model).options.get("max_tokens")
    return said if isinstance(said, int) else REPLY_TOKENS


def later(where: str) -> Callable[..., Any]:
    """A function, ``module:name``, whose module is imported when it is called."""
    return partial(_called, where)


def later_all(*modules: str) -> dict[str, Any]:
    """Functions for the fields of a kind, imported when they are called.

    Args:
        modules: ``module:name name field=name``, a name alone where the field has it too.
    """
    found = {}
    for each in modules:
        module, _, names = each.partition(":")
        for said in names.split():
            field_name, _, name = said.rpartition("=")
            found[field_name or name] = later(f"{module}:{name}")
    return found


def _called(where: str, *given: Any) -> Any:
    return _imported(where)(*given)


def _imported(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of run.

    Attributes:
        name: in ``run.json``.
        command: what makes such a run, after ``navloom``.
        words: what it does, as the help of a generated command says it.
        request: what one is asked to be.
        plan: a request, the run's folder (None where nobody will be called) and a way to say a line
            -> what it will do. All that is wrong with a request is said here.
        job: a plan -> how each sample is done.
        dry: a plan -> how often a sample calls a model.
        more: a plan and the run's folder, when all its samples have ended well: whether another
            round has samples, which it adds to the plan. None where a plan has all from the start.
        finish: a plan and the run's folder, at the end of each session: writes what else the folder
            holds, and gives what ``summary.json`` has besides.
        ended: a run's folder and totals -> what its command shows at the end.
        report: folders of runs and one to write to -> what ``navloom report`` shows; None where the
            command that makes a run shows its tables once more, and tries again what broke.
        export: a folder, a file, a form and conditions on lines -> how many lines were written;
            None where a run is no dataset.
        broken_alone: whether a retry is about what broke alone, and not about what is left too.
        things: what its samples and its scenes are called.
        prompts_shown: how many prompts of a dry run are shown; None for all.
        columns: what ``run.json`` says of a run -> what its lines have of their own in a table.
        detail: a run's folder and one of its lines -> what is looked at of that sample; None where
            the line itself is all there is.
        tables: a run's folder -> what is seen of it as a whole: its scores. A grown run has it made
            anew.
        failures: a run's folder -> what went wrong in it, how often, where and when; None where
            scores tell all there is.
        first: what ``summary.json`` says -> the one score that a list of runs shows; None: none.
        pairing: how two runs' samples are held against each other; None where they are not.
    """

    name: str
    command: str
    words: str = ""
    request: type[Request]
    plan: Callable[[Any, Path | None, Note], Plan]
    job: Callable[[Any], Job]
    dry: Callable[[Any], Calls]
    more: Callable[[Any, Path], bool] | None = None
    finish: Callable[[Any, Path], dict[str, Any] | Awaitable[dict[str, Any]]] = lambda _, __: {}
    ended: Callable[[Path, Summary], Shown] = lambda _, __: Shown()
    report: Callable[[list[Path], Path | None], Shown] | None = None
    export: Callable[[Path, Path, str, Sequence[str]], int] | None = None
    broken_alone: bool = True
    things: tuple[str, str] = ("samples", "scenes")
    prompts_shown: int | None = 1
    columns: Callable[[Mapping[str, Any]], Sequence[Column]] = lambda _: ()
    detail: Callable[[Path, Mapping[str, Any]], Detail] | None = None
    tables: Callable[[Path], Sequence[Block]] = lambda _: ()
    failures: Callable[[Path], Sequence[Block]] | None = None
    first: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    pairing: Callable[[], Pairing] | None = None


def known_kinds() -> tuple[str, ...]:
    """The names that :func:`get_kind` takes, our own first; nothing is imported."""
    return tuple(dict.fromkeys([*KINDS, *plugins(GROUP)]))


def get_kind(name: str) -> Kind:
    """The entry of a kind of run.

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
        found = plugin(GROUP, name, what, RunError)
    else:
        try:
            found = _imported(entry)
        except (ImportError, AttributeError) as error:
            raise RunError(f"{what} ({entry}) cannot be imported: {error}") from error
    if not isinstance(found, Kind):
        raise RunError(f"{what} is a {type(found).__name__}, no Kind")
    return found


def kind_of(run: Path | str) -> Kind:
    """The kind of a run, by its ``run.json``.

    Raises:
        RunError: the folder is no run, or one that this version does not know.
    """
    said = read_run(run)
    name = str(said.get("kind"))
    if name not in known_kinds():
        raise made_by_another(run, said, f"it is a '{name}'")
    return get_kind(name)


def read_run_of(run: Path | str, *kinds: str) -> dict[str, Any]:
    """What ``run.json`` says of a run that must be of one of some kinds.

    Raises:
        RunError: the folder is no run, or one of another kind: which, and which was expected.
    """
    said = read_run(run)
    if said.get("kind") not in kinds:
        there = [each for each in kinds if KINDS.get(each) or each in plugins(GROUP)]
        commands = [f"`navloom {get_kind(each).command}`" for each in there]
        raise RunError(
            f"{run} is a run of `navloom {kind_of(run).command}`: expected one of"
            f" {' or '.join(commands)}"
        )
    return said
