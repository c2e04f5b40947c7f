"""Output of blocks as markdown, as one terminal screen, and as ``report.json``.

A page draws the same blocks (:func:`navloom.evals.report.blocks.block_to_json`). ``report.json`` is
the report of a folder that is no single run: a study writes it beside its runs, and ``navloom
scenes mend`` beside the changed homes. It is read as untrusted: with size limits, validated by the
block classes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from navloom.errors import RunError
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, escape_markdown, format_number
from navloom.files import make_folder, open_file, write_run_file

_WIDTH, _ROWS = 80, 18
"""Columns and rows of a terminal screen."""


def blocks_to_markdown(blocks: Sequence[ui.Block]) -> str:
    """Return blocks as markdown, without scatter plots, maps and images.

    The title of a text in first position becomes the document's title.
    """
    parts = [*_parts(blocks)]
    if blocks and isinstance(blocks[0], ui.Prose) and blocks[0].title:
        parts[0] = parts[0].removeprefix("#")
    return "\n\n".join(parts) + "\n"


def _parts(blocks: Sequence[ui.Block], of: str = "") -> Iterator[str]:
    """Yield each block as markdown; ``of`` prefixes titles within a variant."""
    for each in blocks:
        if isinstance(each, ui.Columns):
            for column in each.columns:
                yield from _parts(column, of)
        elif isinstance(each, ui.Variants):
            for name, inner in each.variants:
                yield from _parts(inner, f"{of}{name}: ")
        elif isinstance(each, ui.Grid):
            yield each.table.markdown()
        elif isinstance(each, ui.Prose | ui.Transcript):
            heading = f"## {escape_markdown(of + each.title)}" if each.title else ""
            said = [each.text] if isinstance(each, ui.Prose) else _lines(each)
            yield "\n\n".join(filter(None, [heading, *map(escape_markdown, said), each.note]))
        elif isinstance(each, ui.Facts | ui.Bars):
            yield _table(each, of).markdown()


def _lines(said: ui.Transcript) -> list[str]:
    return [f"{each.who}: {each.text}" for each in said.said]


def _table(block: ui.Facts | ui.Bars, of: str) -> Table:
    """Return facts as a table with a row each, or bars with their segments as columns."""
    if isinstance(block, ui.Facts):
        rows = [(f.name, f"{f.value} ({f.note})" if f.note else f.value) for f in block.facts]
        return Table(of + block.title, block.note, ("", "value"), tuple(rows))
    names = dict.fromkeys(part.name for _, parts in block.bars for part in parts)
    counts = [(bar, {p.name: format_number(p.count) for p in parts}) for bar, parts in block.bars]
    cells = ((bar, *(held.get(name, "0") for name in names)) for bar, held in counts)
    return Table(of + block.title, block.note, (block.unit, *names), tuple(cells))


def write_markdown(folder: Path, blocks: Sequence[ui.Block]) -> Path:
    """Write ``report.md``; creates the folder if it is missing.

    Raises:
        RunError: it cannot be written.
    """
    make_folder(folder)
    return write_run_file(folder / "report.md", blocks_to_markdown(blocks).encode(errors="replace"))


def terminal_screen(blocks: Sequence[ui.Block]) -> list[str | Table]:
    """Return the content of one terminal screen: titled texts, and the first open table of each.

    Pale rows stay in the file. A table with more columns than rows is transposed.
    """
    shown: list[str | Table] = []
    due = True
    for at, each in enumerate(blocks):
        if isinstance(each, ui.Facts) and not at:
            text = ", ".join(f"{fact.name} {fact.value}" for fact in each.facts)
        elif isinstance(each, ui.Grid) and due and each.table.rows and not each.table.folded:
            shown.append(_on_screen(each.table))
            due = False
            continue
        elif isinstance(each, ui.Prose) and (each.title or not at):
            text = each.text
        else:
            continue
        paragraphs = [fill(part, _WIDTH) for part in (each.title, text) if part]
        shown.append("".join(f"{part}\n\n" for part in paragraphs))
        due = True
    return shown


def _on_screen(table: Table) -> Table:
    """Return a table for the terminal, without its note and the rows from other publications.

    A table with more columns than rows is transposed. Rows after the first ``_ROWS`` are cut, and
    a last row says how many.
    """
    lines = [table.header, *table.rows[: len(table.rows) - table.pale]]
    if len(lines) < len(table.header):
        columns = zip(*lines, strict=True)
        lines = [each for each in columns if set(each[1:]) != {NOTHING}]
    more = len(lines) - 1 - _ROWS
    rows = [*lines[1 : 1 + _ROWS], *([(f"{more} rows more in the file",)] if more > 0 else [])]
    return Table(table.title, "", lines[0], tuple(rows))


NAME = "report.json"
_VERSION = 1
_MOST_BYTES = 64 * 1024 * 1024
_MOST_BLOCKS, _MOST_DEEP, _MOST_TITLE = 2000, 4, 300
What = Literal["study", "mends"]
_KINDS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind)
    for kind in (
        ui.Bars,
        ui.Columns,
        ui.Facts,
        ui.Grid,
        ui.Picture,
        ui.Prose,
        ui.Scatter,
        ui.Transcript,
        ui.Variants,
    )
}
"""Blocks that such a file may hold; none needs a scene."""
_STUMBLES = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class SavedReport:
    """Content of a ``report.json``.

    Attributes:
        title: its heading.
        what: a study, or mends of a home.
        blocks: the blocks; an address ``run/NAME/...`` leads into the run in the subfolder NAME.
        scenes: URIs of scenes whose licence covers the private blocks.
    """

    title: str
    what: What = "study"
    blocks: tuple[ui.Block, ...]
    scenes: tuple[str, ...] = ()


def save_report(folder: Path, report: SavedReport) -> Path:
    """Write ``report.json`` into an existing folder.

    Raises:
        RunError: it cannot be written.
    """
    told = {
        "report_version": _VERSION,
        "title": report.title,
        "what": report.what,
        "scenes": list(report.scenes),
        "blocks": ui.block_to_json(report.blocks),
    }
    data = json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)
    return write_run_file(folder / NAME, data.encode(errors="backslashreplace") + b"\n")


def save_study(
    folder: Path,
    tables: Sequence[Table],
    *,
    runs: Sequence[str | None] = (),
    more: Sequence[ui.Block] = (),
) -> Path:
    """Write the ``report.json`` of a study.

    Args:
        folder: the study's folder, with its runs.
        tables: the result tables; the first one's title is the study's.
        runs: folder names of the runs in the rows of the first table, if rows are runs.
        more: further blocks below.

    Raises:
        RunError: it cannot be written.
    """
    to = [ui.run_address(name, "scores") if name else "" for name in runs]
    to += [""] * (len(tables[0].rows) - len(to)) if to else []
    first, *others = tables
    blocks: list[ui.Block] = [ui.Grid(first, to=tuple(to))]
    blocks += [*map(ui.Grid, others)]
    return save_report(folder, SavedReport(title=first.title, blocks=(*blocks, *more)))


def read_report(folder: Path) -> SavedReport:
    """Read a folder's ``report.json``.

    Raises:
        RunError: it cannot be read, is from another version, or is no valid report.
    """
    path = folder / NAME
    try:
        with open_file(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise RunError(f"{path} has over {_MOST_BYTES // 1024 // 1024} MB: it is no report of ours")
    try:
        told = json.loads(data, parse_constant=_no_number)
        version = told["report_version"]
        if version != _VERSION:
            raise RunError(
                f"{path} is of version {str(version)[:20]} and this Navloom reads {_VERSION}: make"
                " it anew, or look at it with the version that made it"
            )
        what, scenes = told["what"], told["scenes"]
        if what not in get_args(What) or not all(isinstance(each, str) for each in scenes):
            raise ValueError("what, or scenes")
        return SavedReport(
            title=str(told["title"])[:_MOST_TITLE],
            what=what,
            blocks=_BlockReader().blocks(told["blocks"], 0),
            scenes=tuple(scenes[:_MOST_BLOCKS]),
        )
    except _STUMBLES as error:
        why = " ".join(str(_first(error)).split())[:200]
        raise RunError(
            f"{path} has not the form of a report ({why}): it was made by another version or"
            " changed by other hands"
        ) from error


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False)[0]
        return f"{error.title}: {'.'.join(map(str, found['loc']))}: {found['msg']}"
    return repr(error)


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


class _BlockReader:
    """Reader of blocks from JSON, with limits on their number and depth."""

    def __init__(self) -> None:
        self._read = 0

    def blocks(self, records: Any, deep: int) -> tuple[ui.Block, ...]:
        if not isinstance(records, list):
            raise ValueError("blocks are a list")
        return tuple(self._block(each, deep) for each in records)

    def _block(self, record: Mapping[str, Any], deep: int) -> ui.Block:
        self._read += 1
        if self._read > _MOST_BLOCKS or deep > _MOST_DEEP:
            raise ValueError(f"over {_MOST_BLOCKS} blocks, or {_MOST_DEEP} in each other")
        name = record["block"]
        if name not in _KINDS:
            raise ValueError(f"no report holds a block '{str(name)[:40]}'")
        given = {key: value for key, value in record.items() if key != "block"}
        if name == "Picture":
            given["data"] = _image(given["data"])
        if name == "Columns":
            given["columns"] = [self.blocks(each, deep + 1) for each in given["columns"]]
        if name == "Variants":
            given["variants"] = [(name, self.blocks(v, deep + 1)) for name, v in given["variants"]]
        made: ui.Block = _KINDS[name].validate_python(given)
        return made


def _image(uri: Any) -> bytes:
    """Decode a data URI of an image; only JPEG and PNG are accepted."""
    kind, _, text = str(uri).partition(";base64,")
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("a picture that is no base64") from error
    begins = {"data:image/png": b"\x89PNG", "data:image/jpeg": b"\xff\xd8"}.get(kind)
    if begins is None or not data.startswith(begins):
        raise ValueError("a picture that is no JPEG and no PNG")
    return data
