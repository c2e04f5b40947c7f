"""Every option that commands share, once, and how a command takes some of them.

A flag, its keyword in Python and its environment variable share one name: ``--max-connections``,
``max_connections=``, ``NAVLOOM_MAX_CONNECTIONS``. A command names the options it takes, in the
order of its help, and is called with what was typed. Only light imports here, as in every file of
commands: ``navloom --help`` reads them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

PICKS, CALLS, LIMITS = "Which samples", "Calling models", "Limits"
"""Where options that most commands share stand in the help: after the command's own."""
HEURISTIC = "builtin/heuristic"
_SAME = object()


@dataclass(frozen=True)
class Option:
    """An option of a command, or an argument.

    Attributes:
        name: the keyword that the command is called with.
        kind: the type of the value.
        default: ``...`` where one must be given.
        words: what the help says.
        flag: None for an argument.
        more: what else typer is told.
    """

    name: str
    kind: Any
    default: Any
    words: str
    flag: str | None
    more: Mapping[str, Any]

    def but(
        self, words: str = "", *, kind: Any = None, default: Any = _SAME, **more: Any
    ) -> Option:
        """The same option as one command has it: other words, another default, other bounds."""
        return replace(
            self,
            words=words or self.words,
            kind=kind or self.kind,
            default=self.default if default is _SAME else default,
            more={**self.more, **more},
        )

    @property
    def info(self) -> Any:
        """As typer has it, for ``Annotated``."""
        if self.flag is None:
            return typer.Argument(help=self.words, **self.more)
        variable = self.flag.split("/")[0].lstrip("-").upper().replace("-", "_")
        more = {"envvar": f"NAVLOOM_{variable}", **self.more}
        return typer.Option(self.flag, help=self.words, **more)

    @property
    def parameter(self) -> inspect.Parameter:
        """As a command's signature has it."""
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if self.default is ... else self.default,
            annotation=Annotated[self.kind, self.info],
        )


def option(
    name: str, kind: Any, default: Any, words: str, *, flag: str | None = None, **more: Any
) -> Option:
    """An option with the flag and the environment variable of its name.

    Args:
        name: of the keyword.
        kind: of the value.
        default: ``...`` where one must be given.
        words: what the help says.
        flag: where it is not ``--name``.
        more: what else typer is told; ``envvar=None`` for no variable.
    """
    return Option(name, kind, default, words, flag or f"--{name.replace('_', '-')}", more)


def argument(name: str, kind: Any, metavar: str, words: str, **more: Any) -> Option:
    """An argument; one must be given unless ``but(default=...)`` says otherwise."""
    return Option(name, kind, ..., words, None, {"metavar": metavar, **more})


def takes(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its options, in the order of its help.

    The command is called with each by its name; with the `typer.Context`, where it has a parameter
    ``context``; and with a session, where it has one and `with_session` stands above.
    """

    def give(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        parameters = [each.parameter for each in options]
        for name, kind in (("context", typer.Context), ("session", Any)):
            if name in own:
                parameters.insert(
                    0, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
                )
        # Typer reads a command's options from here.
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return give


SPEC = argument(
    "spec",
    str,
    "SPEC",
    "Which homes: demo:, demo:NAME, hm3d:DIR, hm3d:DIR/ID, mp3d:DIR, mp3d:DIR/SCAN, capnav:DIR, a"
    " scene.json or a folder of them. Without DIR, hm3d:ID and mp3d:SCAN look in $NAVLOOM_DATA.",
)
SCENE = argument("scene", str, "URI", "One home: demo:flat, hm3d:DIR/ID, a scene.json, ...")
RUN = argument("run", Path, "RUN", "The folder of a run, as --out made it.")
OUT = option(
    "out",
    Path,
    ...,
    "The run's folder. The same command on the same folder goes on where it stopped.",
)
OUT_OR_DEFAULT = OUT.but(
    kind=Path | None,
    default=None,
    show_default="runs/NAME-HASH, the hash being that of what is asked",
)
MODEL = option(
    "model",
    str,
    HEURISTIC,
    "The model that thinks: builtin/heuristic needs no key; see `navloom models`. Options may"
    " follow: openai/gpt-4o-mini,temperature=0,max_tokens=500.",
    metavar="PROVIDER/NAME",
)
MODEL_ROLE = option(
    "model_role",
    list[str] | None,
    None,
    "The model of one role, in place of --model; may be given several times.",
    metavar="ROLE=PROVIDER/NAME",
)
SEED = option(
    "seed",
    int,
    0,
    "Seed of everything random; each sample's own seed is a hash of this and its id.",
)
N = option("n", int, 20, "Attempts in all, spread evenly over homes.", min=1)
CONSTRAIN = option(
    "constrain",
    bool,
    True,
    "List the home's names in the schema that the model is held to.",
    flag="--constrain/--no-constrain",
)
COMPACT = option(
    "compact",
    bool,
    False,
    "For small models: show the home in one line a room and ask for one choice at a time; paths and"
    " sentences are filled in, and checked like any.",
)
MAX_TURNS = option("max_turns", int, 12, "Model calls a task at most.", min=1)
MAX_REPAIRS = option(
    "max_reasks", int, 3, "How often a wrong answer is sent back with what is wrong.", min=0
)
MAX_REASKS = option(
    "max_reasks",
    int,
    1,
    "How often an answer that cannot be read is asked for again.",
    min=0,
    max=100,
)
FRAMES = option("frames", int, 16, "Frames of a video, evenly spaced.", min=1)
DATA = option(
    "data",
    Path | None,
    None,
    "The dataset's folder, laid out as docs/real-data.md says.",
    metavar="DIR",
    envvar="NAVLOOM_DATA_DIR",
)
SPLIT = option("split", str | None, None, "Which part of the dataset.")
CAPTIONS = option(
    "captions",
    Path | None,
    None,
    "A run of `navloom caption`, or a file of it: its captions go before the home's own.",
    metavar="RUN",
)
BACKEND = option("backend", str, "graph", "The simulator it moves in.")
DRY_RUN = option(
    "dry_run",
    bool,
    False,
    "Show prompts, count the calls and bound the cost; call nobody, write nothing.",
    envvar=None,
)
JSON = option(
    "as_json", bool, False, "Print the result as JSON on stdout, for programs.", flag="--json"
)
DISPLAY = option(
    "display",
    Literal["rich", "plain", "none"] | None,
    None,
    "Progress on stderr; unless told, rich on a terminal and plain elsewhere.",
    show_default=False,
)

LIMIT = option(
    "limit",
    int | None,
    None,
    "Run only the first so many samples; without it the rest of the run follows.",
    min=1,
    rich_help_panel=PICKS,
)
SAMPLE_ID = option(
    "sample_id",
    list[str] | None,
    None,
    "Run only this sample; may be given several times.",
    rich_help_panel=PICKS,
)
RETRY = option(
    "retry",
    bool,
    False,
    "Try the samples that ended in an error again.",
    envvar=None,
    rich_help_panel=PICKS,
)
MAX_CONNECTIONS = option(
    "max_connections",
    int,
    8,
    "Samples under way at once. Changes the speed, never the outcome.",
    min=1,
    max=1000,
    rich_help_panel=CALLS,
)
MAX_RETRIES = option(
    "max_retries",
    int | None,
    None,
    "Further attempts at a call that failed, where trying again may help.",
    min=0,
    max=100,
    show_default="3",
    rich_help_panel=CALLS,
)
ATTEMPT_TIMEOUT = option(
    "attempt_timeout",
    float | None,
    None,
    "Seconds that one attempt at a call may take.",
    min=0.1,
    max=600,
    show_default="600",
    rich_help_panel=CALLS,
)
TOKEN_LIMIT = option(
    "token_limit",
    int | None,
    None,
    "Tokens that the whole run may use, in and out. Reaching it ends the session with exit code 2;"
    " the same command with a higher limit goes on.",
    min=1,
    rich_help_panel=LIMITS,
)
TIME_LIMIT = option(
    "time_limit",
    float | None,
    None,
    "Seconds that this session may take; samples under way finish their step.",
    min=0.001,
    rich_help_panel=LIMITS,
)
COST_LIMIT = option(
    "cost_limit",
    float | None,
    None,
    "US dollars that the whole run may cost; overshot by one call a sample under way at most.",
    min=0.000001,
    rich_help_panel=LIMITS,
)
CACHE = option(
    "cache",
    Path | None,
    None,
    "Where replies of remote models are kept; runs share them.",
    metavar="DIR",
    show_default="the user's cache folder",
    rich_help_panel=CALLS,
)
NO_CACHE = option("no_cache", bool, False, "Keep and use no replies.", rich_help_panel=CALLS)
