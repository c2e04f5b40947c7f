"""How a run is gone through, as against what it is: none of it may change an outcome.

What a batch needs to know of a sample before it ran stands here too.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from navloom.errors import RunError, UsageError, did_you_mean
from navloom.evals.option import CALLS, LIMITS, PICKS, Opt, check_all
from navloom.evals.progress import Display, DisplayName, NoDisplay

if TYPE_CHECKING:
    from navloom.models.call import CallSettings
    from navloom.models.usage import Limits


class Stop:
    """A way to end a session early, from a signal, a test or another task of the same loop."""

    def __init__(self) -> None:
        self.requests = 0
        self._listeners: list[Callable[[int], None]] = []

    def request(self) -> None:
        """Ask once to finish the steps under way; ask twice to cut them short."""
        self.requests += 1
        for listener in self._listeners:
            listener(self.requests)

    def listen(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` with the number of requests at each one."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)

    @contextlib.contextmanager
    def at_signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM request a stop, where this thread may say so.

        Raises:
            KeyboardInterrupt: a second came before the loop had come to the first: at once.
        """
        import asyncio

        loop, asked = asyncio.get_running_loop(), itertools.count()

        def ask(number: int, frame: Any) -> None:
            del number, frame
            if next(asked) > self.requests:
                # The loop has not come to the request before this one: something blocks it.
                raise KeyboardInterrupt
            loop.call_soon_threadsafe(self.request)

        held = []
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                held.append((number, signal.signal(number, ask)))
            except ValueError:  # not the main thread
                break
        try:
            yield
        finally:
            for number, before in held:
                signal.signal(number, before or signal.SIG_DFL)


def _plain() -> CallSettings:
    from navloom.models.call import CallSettings

    return CallSettings()


@dataclass(frozen=True, kw_only=True)
class Session:
    """One sitting over a run; another may go on with other values, and the run is the same.

    From Python no reply is kept and nothing is shown unless told.

    Attributes:
        settings: what else stands around each model call, such as `on_retry`.
        stop: to end early from another thread or a test; it serves once.
    """

    limit: Annotated[
        int | None,
        Opt(
            "Run only the first so many samples; without it the rest of the run follows.",
            min=1,
            panel=PICKS,
        ),
    ] = None
    sample_id: Annotated[
        tuple[str, ...], Opt("Run only this sample; may be given several times.", metavar="ID")
    ] = ()
    retry: Annotated[bool, Opt("Try the samples that ended in an error again.")] = False
    go_back: Annotated[
        Literal["step", "reply", "start"],
        Opt(
            "Where a retry begins: at a sample's last good step, before the model's last reply, or"
            " at its start. What is asked again is asked of the model, not of the cache. Anything"
            " but step is a retry."
        ),
    ] = "step"
    max_connections: Annotated[
        int,
        Opt(
            "Samples under way at once, of all workers. Changes the speed, never the outcome.",
            panel=CALLS,
            min=1,
            max=1000,
        ),
    ] = 8
    workers: Annotated[
        int | None,
        Opt(
            "Carry samples out in so many processes, beside this one. Changes the speed, never the"
            " outcome.",
            panel=CALLS,
            min=1,
            max=256,
        ),
    ] = None
    cluster: Annotated[
        str | None,
        Opt(
            "Have workers on a cluster: ray, of this machine alone, or ray:ADDRESS, such as"
            " ray:10.0.0.5:6379.",
            metavar="ray:ADDRESS",
        ),
    ] = None
    open_cluster: Annotated[
        bool, Opt("Use a cluster that takes work from anybody who reaches it, without a token.")
    ] = False
    max_retries: Annotated[
        int | None,
        Opt(
            "Further attempts at a call that failed, where trying again may help.",
            panel=CALLS,
            min=0,
            max=100,
            shown="3",
        ),
    ] = None
    attempt_timeout: Annotated[
        float | None,
        Opt(
            "Seconds that one attempt at a call may take.",
            min=0.1,
            max=600,
            shown="600",
            metavar="SECONDS",
        ),
    ] = None
    cache: Annotated[
        Path | None,
        Opt(
            "Where replies of remote models are kept; runs share them: a folder of the user's own.",
            metavar="DIR",
            shown="yours",
        ),
    ] = None
    no_cache: Annotated[bool, Opt("Keep and use no replies.")] = False
    no_calls: Annotated[
        bool,
        Opt(
            "Keep no calls in the run's folder: prompts, tools, schemas and replies as they were"
            " sent and came, which `navloom calls` shows."
        ),
    ] = False
    display: Annotated[
        Display,
        Opt("Progress on stderr; plain where that is no terminal.", kind=DisplayName, shown="rich"),
    ] = field(default_factory=NoDisplay)
    token_limit: Annotated[
        int | None,
        Opt(
            "Tokens that the whole run may use, in and out. Reaching it ends the session with exit"
            " code 2; the same command with a higher limit goes on.",
            panel=LIMITS,
            min=1,
        ),
    ] = None
    time_limit: Annotated[
        float | None,
        Opt(
            "Seconds that this session may take; samples under way finish their step.",
            min=0.000001,
            metavar="SECONDS",
        ),
    ] = None
    cost_limit: Annotated[
        float | None,
        Opt(
            "US dollars that the whole run may cost; overshot by one call a sample under way at"
            " most.",
            min=0.000001,
            metavar="DOLLARS",
        ),
    ] = None
    allow_address: Annotated[
        tuple[str, ...],
        Opt(
            "Let models that a file names send calls to this address, such as http://gpu1:8000; it"
            " is remembered. May be given several times.",
            metavar="ORIGIN",
            panel=CALLS,
        ),
    ] = ()
    settings: CallSettings = field(default_factory=_plain)
    stop: Stop | None = None

    def __post_init__(self) -> None:
        check_all(self)
        self._check_workers()
        if self.go_back != "step":
            object.__setattr__(self, "retry", True)
        told: dict[str, Any] = {}
        if self.no_cache or self.go_back != "step":
            told["cache"] = None
        elif self.cache is not None and self.settings.cache is None:
            from navloom.disk_cache import cache_folder
            from navloom.models.cache import ResponseCache

            told["cache"] = ResponseCache(cache_folder(self.cache), note=self.display.note)
        for name in ("max_retries", "attempt_timeout"):
            if getattr(self, name) is not None:
                told[name] = getattr(self, name)
        object.__setattr__(self, "settings", replace(self.settings, **told))
        if self.allow_address:
            from navloom.models.spec import allow

            allow(self.allow_address)

    def _check_workers(self) -> None:
        """Refuse what workers cannot be.

        Raises:
            UsageError: so it is.
        """
        if self.cluster is not None:
            kind, colon, address = self.cluster.partition(":")
            if kind != "ray" or (colon and not address.strip()):
                raise UsageError(
                    f"--cluster {self.cluster}: expected ray, for a cluster of this machine alone,"
                    " or ray:ADDRESS, such as ray:10.0.0.5:6379"
                )
            if self.workers is None:
                raise UsageError("--cluster needs --workers N: how many there are to be")
        for name in ("gate", "on_call", "on_words"):
            if self.workers is not None and getattr(self.settings, name) is not None:
                raise UsageError(f"settings.{name} is asked in this process: leave out workers")
        if self.open_cluster and self.cluster is None:
            raise UsageError("--open-cluster says what --cluster may be, and there is none")

    @property
    def places(self) -> int:
        """Workers that can have anything to do; 0 where this process does all."""
        return min(self.workers or 0, self.max_connections)

    @property
    def limits(self) -> Limits:
        """When to end; a later session with higher ones goes on."""
        from navloom.models.usage import Limits

        return Limits(
            token_limit=self.token_limit, time_limit=self.time_limit, cost_limit=self.cost_limit
        )

    @property
    def picks(self) -> bool:
        """Whether it is about some of the samples only."""
        return self.limit is not None or bool(self.sample_id)

    def picked(self, samples: Sequence[Sample]) -> set[str]:
        """The ids of the samples of a run that this session is about.

        Raises:
            UsageError: a sample is not in the run.
        """
        return select(samples, limit=self.limit, ids=self.sample_id)

    def check_models(self, *names: str | None) -> None:
        """Say what is wrong with a model before a folder is made for it.

        Raises:
            ModelError: it cannot be named or used, or a limit of cost needs a price nobody knows.
        """
        from navloom.models.registry import model_of

        for name in dict.fromkeys(names):
            if name is not None:
                model_of(name)
                self.limits.check_price(name)


_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}")


def is_id(name: str) -> bool:
    """Whether a name is safe as a file's, and so as a sample's id."""
    return _SAFE_ID.fullmatch(name) is not None


def check_id(name: str) -> str:
    """Return a sample id if it is safe as a file name.

    Raises:
        RunError: it is empty, too long, starts with a dot or holds a slash, a colon or a space.
    """
    if not is_id(name):
        raise RunError(
            f"{name!r} cannot be a sample id: use letters, digits and . _ + = @ -,"
            " a letter or digit first, at most 200"
        )
    return name


def make_id(scene: str, attempt: int) -> str:
    """The id of an attempt in a scene, safe as a file name.

    ``make_id("hm3d:00006-HkseAnWCgqk", 3)`` is ``"hm3d-00006-HkseAnWCgqk-00003"``; ids of one scene
    sort by attempt. Scenes whose URIs differ in nothing but characters that a file
    name may not hold would share ids: the caller gives URIs as ``Scene.uri`` has them.
    """
    return check_id(f"{re.sub(r'[^A-Za-z0-9._+=@]+', '-', scene).strip('-.')}-{attempt:05d}")


def sample_seed(run_seed: int, sample_id: str) -> int:
    """A sample's seed, from the run's seed and the sample's id alone.

    Returns:
        An integer below 2**48, the same on every machine and in any order of samples.
    """
    digest = blake2b(f"{run_seed}:{sample_id}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a run, before it ran.

    Attributes:
        id: unique in the run, safe as a file name.
        seed: of everything random in it; see ``run.sample_seed``.
        scene: the URI of its scene.
        attempt: which attempt in that scene it is, from 0.
        columns: further columns of its line that are known beforehand, however it ends.
        epoch: which of several tries at one thing; a cached reply of one is not that of another.
    """

    id: str
    seed: int
    scene: str
    attempt: int = 0
    columns: Mapping[str, Any] = field(default_factory=dict)
    epoch: int = 0

    def __post_init__(self) -> None:
        check_id(self.id)

    @classmethod
    def of(cls, run_seed: int, name: str, scene: str, attempt: int = 0, /, **more: Any) -> Sample:
        """A sample whose seed follows from the run's and its id; ``more`` are its columns."""
        return cls(name, sample_seed(run_seed, name), scene, attempt, more)


@dataclass(frozen=True)
class Job(ABC):
    """What a batch does with each sample; a kind of run says how by its own.

    Attributes:
        plan: what the run is to do (:class:`navloom.evals.kinds.Plan`).
    """

    plan: Any

    @property
    def model(self) -> str:
        """``provider/name`` of the model whose price a limit of cost needs."""
        return str(self.plan.request.models[0])

    @property
    def graph(self) -> Any:
        """The agent's module, with ``build_graph`` and ``Context``.

        A job without one has its own :meth:`build` and :meth:`context`.
        """
        raise NotImplementedError

    def build(self, checkpointer: Any) -> Any:
        """The compiled graph, with this checkpointer."""
        return self.graph.build_graph(checkpointer)

    @abstractmethod
    def input(self, sample: Sample) -> dict[str, Any]:
        """What the graph is called with."""

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The graph's context; scenes load here, when their sample's turn has come.

        Args:
            sample: whose.
            model: stands in for all models of the job, in a dry run.
        """
        del sample
        return self.settings(model)

    def settings(self, model: Any = None, **own: Any) -> Any:
        """The graph's context, its fields as the request has them.

        Args:
            model: stands in for the request's.
            own: fields that the request does not have, or in another form.
        """
        from navloom.models.registry import model_of

        asked, kind = self.plan.request, self.graph.Context
        if "model" not in own:
            own["model"] = model or model_of(asked.model)
        for name in (each.name for each in fields(kind)):
            if name not in own and hasattr(asked, name):
                own[name] = getattr(asked, name)
        return kind(**own)

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a finished sample's line that its state decides.

        At least ``status`` (``"ok"`` or ``"failed"``), and ``reason``, ``message``, ``result``.
        """
        del sample
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


def select(
    samples: Sequence[Sample], *, limit: int | None = None, ids: Iterable[str] | None = None
) -> set[str]:
    """The ids that ``--limit`` and ``--sample-id`` leave of a run.

    Args:
        samples: all samples of the run, in its order.
        limit: keep the first so many.
        ids: keep these; with ``limit``, the first so many of these.

    Raises:
        UsageError: an id is not in the run.
    """
    wanted = set(ids or ())
    known = {sample.id for sample in samples}
    for name in sorted(wanted - known):
        hint = did_you_mean(name, known) or f" Ids are such as '{min(known)}'."
        raise UsageError(f"no sample '{name}' in this run.{hint}")
    kept = [sample.id for sample in samples if not wanted or sample.id in wanted]
    return set(kept[:limit])
