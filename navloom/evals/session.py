"""Execution settings of a run (concurrency, limits, display), its samples and its jobs.

None of the settings may change a result. Samples and jobs are defined here as well.
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
from navloom.evals.option import CALLS, LIMITS, PICKS, Opt, check_options
from navloom.evals.progress import DisplayName, ProgressDisplay, SilentDisplay

if TYPE_CHECKING:
    from navloom.models.model_call import CallSettings
    from navloom.models.usage import UsageLimits


class StopSignal:
    """A request to end a session early, from a signal, a test or another task of the same loop."""

    def __init__(self) -> None:
        self.requests = 0
        self._listeners: list[Callable[[int], None]] = []

    def request(self) -> None:
        """Request a stop: once to finish the current steps, twice to cancel them."""
        self.requests += 1
        for listener in self._listeners:
            listener(self.requests)

    def listen(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` at each request, with the number of requests."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[int], None]) -> None:
        """Remove a listener."""
        self._listeners.remove(listener)

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Request a stop at SIGINT and SIGTERM while the block lasts, in the main thread.

        Raises:
            KeyboardInterrupt: a second signal came before the loop handled the first.
        """
        import asyncio

        loop, asked = asyncio.get_running_loop(), itertools.count()

        def ask(number: int, frame: Any) -> None:
            del number, frame
            if next(asked) > self.requests:
                # The loop has not handled the previous request: something blocks it.
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
    from navloom.models.model_call import CallSettings

    return CallSettings()


@dataclass(frozen=True, kw_only=True)
class Session:
    """Execution settings of one session of a run; they never change its results.

    By default, in Python, no replies are cached and no progress is shown.

    Attributes:
        settings: further settings of each model call, such as `on_retry`.
        stop: ends the session early, from another thread or a test; usable once.
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
        ProgressDisplay,
        Opt("Progress on stderr; plain where that is no terminal.", kind=DisplayName, shown="rich"),
    ] = field(default_factory=SilentDisplay)
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
    stop: StopSignal | None = None

    def __post_init__(self) -> None:
        check_options(self)
        self._check_workers()
        if self.go_back != "step":
            object.__setattr__(self, "retry", True)
        told: dict[str, Any] = {}
        if self.no_cache or self.go_back != "step":
            told["cache"] = None
        elif self.cache is not None and self.settings.cache is None:
            from navloom.disk_cache import cache_folder
            from navloom.models.response_cache import ResponseCache

            told["cache"] = ResponseCache(cache_folder(self.cache), note=self.display.note)
        for name in ("max_retries", "attempt_timeout"):
            if getattr(self, name) is not None:
                told[name] = getattr(self, name)
        object.__setattr__(self, "settings", replace(self.settings, **told))
        if self.allow_address:
            from navloom.models.model_spec import allow_origins

            allow_origins(self.allow_address)

    def _check_workers(self) -> None:
        """Check the options of workers and cluster.

        Raises:
            UsageError: they are invalid or do not fit together.
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
        """The number of workers that can be busy; 0 without workers."""
        return min(self.workers or 0, self.max_connections)

    @property
    def limits(self) -> UsageLimits:
        """The limits that end the session; a later session with higher ones resumes the run."""
        from navloom.models.usage import UsageLimits

        return UsageLimits(
            token_limit=self.token_limit, time_limit=self.time_limit, cost_limit=self.cost_limit
        )

    @property
    def is_partial(self) -> bool:
        """True if the session runs only some of the samples."""
        return self.limit is not None or bool(self.sample_id)

    def picked(self, samples: Sequence[Sample]) -> set[str]:
        """Return the ids of the samples that this session runs.

        Raises:
            UsageError: a sample is not in the run.
        """
        return select_samples(samples, limit=self.limit, ids=self.sample_id)

    def check_models(self, *names: str | None) -> None:
        """Check that models can be used, before a folder is made.

        Raises:
            ModelError: a name is invalid or the model unusable, or a cost limit lacks its price.
        """
        from navloom.models.model_registry import resolve_model

        for name in dict.fromkeys(names):
            if name is not None:
                resolve_model(name)
                self.limits.check_price(name)


_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}")


def is_sample_id(name: str) -> bool:
    """Check whether a name is a valid sample id, and so safe as a file name."""
    return _SAFE_ID.fullmatch(name) is not None


def check_sample_id(name: str) -> str:
    """Return a sample id if it is safe as a file name.

    Raises:
        RunError: it is empty, too long, starts with a dot or holds a slash, a colon or a space.
    """
    if not is_sample_id(name):
        raise RunError(
            f"{name!r} cannot be a sample id: use letters, digits and . _ + = @ -,"
            " a letter or digit first, at most 200"
        )
    return name


def attempt_id(scene: str, attempt: int) -> str:
    """Return the id of an attempt in a scene, safe as a file name.

    ``attempt_id("hm3d:00006-HkseAnWCgqk", 3)`` is ``"hm3d-00006-HkseAnWCgqk-00003"``; ids of one
    scene sort by attempt. URIs that differ only in characters that a file name cannot hold would
    share ids, so pass ``Scene.uri``.
    """
    return check_sample_id(f"{re.sub(r'[^A-Za-z0-9._+=@]+', '-', scene).strip('-.')}-{attempt:05d}")


def sample_seed(run_seed: int, sample_id: str) -> int:
    """Return a sample's seed, from the run's seed and the sample's id alone.

    Returns:
        An integer below 2**48, the same on every machine and in any order of samples.
    """
    digest = blake2b(f"{run_seed}:{sample_id}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a run, before it is executed.

    Attributes:
        id: unique in the run, safe as a file name.
        seed: seed of everything random in it; see `sample_seed`.
        scene: the URI of its scene.
        attempt: number of the attempt in that scene, from 0.
        columns: further columns of its line that do not depend on the outcome.
        epoch: number of a repetition of one task; epochs do not share cached replies.
    """

    id: str
    seed: int
    scene: str
    attempt: int = 0
    columns: Mapping[str, Any] = field(default_factory=dict)
    epoch: int = 0

    def __post_init__(self) -> None:
        check_sample_id(self.id)

    @classmethod
    def of(cls, run_seed: int, name: str, scene: str, attempt: int = 0, /, **more: Any) -> Sample:
        """Make a sample whose seed follows from the run's seed and its id; ``more`` are columns."""
        return cls(name, sample_seed(run_seed, name), scene, attempt, more)


@dataclass(frozen=True)
class Job(ABC):
    """Base class of jobs, which run each sample of one kind of run.

    Attributes:
        plan: the plan of the run (:class:`navloom.evals.run_kinds.RunPlan`).
    """

    plan: Any

    @property
    def model(self) -> str:
        """``provider/name`` of the model whose price a cost limit needs."""
        return str(self.plan.request.models[0])

    @property
    def graph(self) -> Any:
        """The agent's module, with ``build_graph`` and ``Context``.

        A job without one overrides :meth:`build` and :meth:`context`.
        """
        raise NotImplementedError

    def build(self, checkpointer: Any) -> Any:
        """Return the compiled graph with a checkpointer."""
        return self.graph.build_graph(checkpointer)

    @abstractmethod
    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input."""

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; it loads the sample's scene when the sample starts.

        Args:
            sample: the sample.
            model: replaces all models of the job in a dry run.
        """
        del sample
        return self.settings(model)

    def settings(self, model: Any = None, **own: Any) -> Any:
        """Return the graph's context with fields from the request.

        Args:
            model: replaces the request's model.
            own: fields that the request lacks or has in another form.
        """
        from navloom.models.model_registry import resolve_model

        asked, kind = self.plan.request, self.graph.Context
        if "model" not in own:
            own["model"] = model or resolve_model(asked.model)
        for name in (each.name for each in fields(kind)):
            if name not in own and hasattr(asked, name):
                own[name] = getattr(asked, name)
        return kind(**own)

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a finished sample's line that depend on the final state.

        They include ``status`` (``"ok"`` or ``"failed"``), ``reason``, ``message``, ``result``.
        """
        del sample
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


def select_samples(
    samples: Sequence[Sample], *, limit: int | None = None, ids: Iterable[str] | None = None
) -> set[str]:
    """Return the ids that ``--limit`` and ``--sample-id`` select.

    Args:
        samples: all samples of the run, in its order.
        limit: select at most this many, the first ones.
        ids: select only these.

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
