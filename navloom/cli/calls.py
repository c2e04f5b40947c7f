"""``navloom calls``: show the model calls of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from navloom.cli.common import print_json, print_table
from navloom.cli.options import CommandApp, Json, RunFolder, with_options
from navloom.errors import RunError, UsageError, did_you_mean
from navloom.evals.option import Opt
from navloom.models.redaction import print_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from navloom.evals.call_log import CallCounts, LoggedCall
    from navloom.evals.report.formatting import Table

app = CommandApp()

_HEAD, _TAIL, _LEAST = 1200, 400, 600
"""Characters that a folded text keeps at its start and end, and those it must save at least."""
_NAMED = 200
"""Messages longer than this are not repeated if an earlier call had them."""


@app.command()
@with_options()
def calls(
    run: RunFolder,
    sample: Annotated[
        str | None, Opt("A sample's id: its calls are shown.", metavar="ID", argument=True)
    ] = None,
    call: Annotated[
        int | None, Opt("Show this one of the sample's calls, whole.", min=1, env="")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the model calls of a run: prompts, tools, schemas and replies, unchanged.

    Without ID, what the calls of each sample add up to: of every sitting and try, also of samples
    under way. Long texts are folded, and a message that an earlier call had, too, is named.
    """
    from navloom.evals.call_log import count_calls, has_call_log, read_calls
    from navloom.evals.run_folder import read_run

    read_run(run)
    if not has_call_log(run):
        raise RunError(f"{run} keeps no calls: it was made with --no-calls, or by navloom 0.1")
    if sample is None:
        if call is not None:
            raise UsageError("--call needs the ID of a sample before it")
        by_sample = count_calls(run)
        if as_json:
            print_json({name: each.record() for name, each in by_sample.items()})
        else:
            print_table(_table(run, by_sample))
        return
    found = read_calls(run, sample)
    if not found:
        hint = did_you_mean(sample, count_calls(run))
        raise UsageError(f"{run} keeps no calls of '{sample}'.{hint} `navloom calls {run}` lists.")
    if call is not None and call > len(found):
        raise UsageError(f"--call {call}: '{sample}' has {len(found)} calls")
    if as_json:
        records = [each.record() for each in found]
        print_json(records if call is None else records[call - 1])
        return
    shown = _Shown(whole=call is not None)
    for each in found if call is None else [found[call - 1]]:
        for line in shown.lines(each, len(found)):
            print_out(line)


def _table(run: Path, by_sample: dict[str, CallCounts]) -> Table:
    from navloom.evals.report.formatting import Table

    records = {name: each.record() for name, each in by_sample.items()}
    if len(records) > 1:
        costs = [each["usd"] for each in records.values()]
        whole = {key: sum(each[key] for each in records.values()) for key in _NUMBERS}
        whole |= {"usd": None if None in costs else sum(costs)}
        records[f"{len(records)} samples"] = whole
    rows = tuple((name, *_cells(each)) for name, each in records.items())
    return Table(f"Calls of {run}", "", ("sample", *_HEADS), rows)


_HEADS = ("calls", "cached", "errors", "retries", "tokens in", "out", "$", "seconds")
_NUMBERS = (*("calls", "cached", "errors", "retries", "input_tokens", "output_tokens", "seconds"),)


def _cells(record: dict[str, Any]) -> list[str]:
    from navloom.evals.call_log import format_dollars

    *whole, seconds = (record[key] for key in _NUMBERS)
    return [*(f"{each:,}" for each in whole), format_dollars(record["usd"]), f"{seconds:,.1f}"]


class _Shown:
    """Calls as text for a person, one after another.

    Args:
        whole: whether to show long texts in full.
    """

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self._first: dict[str, int] = {}
        """The first call that each text was shown in."""

    def lines(self, call: LoggedCall, of: int) -> Iterator[str]:
        """Yield the lines of a call."""
        from navloom.evals import call_log

        yield f"=== call {call.number} of {of}: {', '.join(call_log.describe_call(call))}"
        for name, form in (("tools", call.tools), ("schema", call.schema)):
            if form is not None and self.whole:
                yield f"--- {name}\n{call_log.as_json_text(form)}"
            elif form is not None:
                yield f"--- {name}: {', '.join(call_log.schema_names(form)) or 'without a name'}"
        for message in call.messages:
            name = str(message.get("role"))
            yield from self._part(name, call_log.message_as_text(message), call.number)
        if call.reply is not None:
            yield from self._part(
                "reply", call_log.message_as_text(call.reply), call.number, again=True
            )
        if call.error:
            yield f"--- error\n{call.error}"
        yield ""

    def _part(self, name: str, text: str, number: int, *, again: bool = False) -> Iterator[str]:
        before = self._first.setdefault(text, number)
        if before != number and not again and len(text) > _NAMED:
            yield f"--- {name}: {len(text):,} characters, as in call {before}"
            return
        yield f"--- {name}"
        yield text if self.whole else _folded(text, number)


def _folded(text: str, number: int) -> str:
    """Return a text unchanged, or only its beginning and end if it is long."""
    left = len(text) - _HEAD - _TAIL
    if left < _LEAST:
        return text
    fold = f"[… {left:,} characters; --call {number} shows all …]"
    return f"{text[:_HEAD]}\n{fold}\n{text[-_TAIL:]}"
