"""How a session comes by its workers, and lets go of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from navloom.errors import UsageError
from navloom.evals.call_scope import CallScope
from navloom.evals.run_folder import RunFolder
from navloom.evals.session import Job, Session
from navloom.evals.workers.crew import Crew
from navloom.evals.workers.pool import Pool
from navloom.models.local_gguf import free_memory, size_text
from navloom.models.registry import model_of


async def _open_pool(cluster: str | None, *, open_cluster: bool) -> Pool:
    """The pool that a session asks for.

    Args:
        cluster: ``ray`` or ``ray:ADDRESS``; None for processes of this machine.
        open_cluster: whether it may take work from anybody.

    Raises:
        RunError: it cannot be reached, or what it needs is not installed.
    """
    if cluster is None:
        from navloom.evals.workers.local_pool import LocalPool

        return LocalPool()
    from navloom.evals.workers.ray_pool import open_ray

    return await open_ray(cluster.partition(":")[2] or None, open_cluster=open_cluster)


def _check_memory(models: Sequence[str], places: int, note: Callable[[str], None]) -> None:
    """Say what models that run in each worker take together.

    Raises:
        UsageError: it is more than there is.
    """
    for name in dict.fromkeys(models):
        engine = getattr(model_of(name), "engine", None)
        if engine is None:
            continue
        each, free = engine.memory, free_memory()
        said = (
            f"{name} runs in each of {places} workers: about {size_text(each)} of memory each,"
            f" {size_text(each * places)} in all"
        )
        if free is not None and each * places > free:
            most = max(1, free // each)
            raise UsageError(f"{said}, and {size_text(free)} are free: --workers {most} fits")
        note(said)


@asynccontextmanager
async def hired(
    folder: RunFolder, job: Job, session: Session, scope: CallScope, most: int
) -> AsyncIterator[Crew | None]:
    """The workers that a session asks for, for as long as the block lasts; None: this process.

    Args:
        folder: the run's.
        job: the run's.
        session: what is asked for.
        scope: what stands around the session's calls.
        most: how many samples there are: more workers have nothing to do.

    Raises:
        RunError: there is no cluster, or it cannot be used.
    """
    places = min(session.places, most)
    if not places:
        yield None
        return
    models = job.plan.request.models
    if session.cluster is None:
        _check_memory(models, places, scope.display.note)
    pool = await _open_pool(session.cluster, open_cluster=session.open_cluster)
    try:
        crew = Crew(pool, places, folder, scope, session, models)
        try:
            yield crew
        finally:
            await crew.close()
    finally:
        await pool.close()
