"""``navloom retry``: go on with a run, and try what ended in an error again."""

# ruff: noqa: ARG001  typer reads the options from the signature, the session from the context
from __future__ import annotations

import typer

from navloom.cli.common import (
    DisplayOption,
    JsonOption,
    MaxConnectionsOption,
    RunArgument,
    end_session,
)
from navloom.cli.session import (
    AttemptTimeoutOption,
    CacheOption,
    CostLimitOption,
    MaxRetriesOption,
    NoCacheOption,
    TimeLimitOption,
    TokenLimitOption,
    limits_of,
    settings_of,
)

__all__ = ["app"]

app = typer.Typer()


@app.command()
def retry(
    context: typer.Context,
    run: RunArgument,
    max_connections: MaxConnectionsOption = 8,
    max_retries: MaxRetriesOption = None,
    attempt_timeout: AttemptTimeoutOption = None,
    token_limit: TokenLimitOption = None,
    time_limit: TimeLimitOption = None,
    cost_limit: CostLimitOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    display: DisplayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run of `navloom synth`: errors are tried again, what is finished is kept.

    What the run is stands in its run.json. Each sample goes on from its last good step.
    """
    from navloom.evals.progress import make_display
    from navloom.evals.synth import SynthRequest, synthesise

    request = SynthRequest.read(run)
    shown = make_display(display)
    summary = synthesise(
        request,
        run,
        max_connections=max_connections,
        display=shown,
        retry=True,
        settings=settings_of(context.params, shown.note),
        limits=limits_of(context.params),
    )
    end_session(summary, run, as_json=as_json)
