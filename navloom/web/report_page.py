"""Write ``report.html``: the pages of runs, of a study or of mends, as one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from navloom.evals.report.formatting import run_labels
from navloom.evals.report.report_files import SavedReport
from navloom.evals.run_kinds import CommandOutput
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.other_sources import ReportSource
from navloom.web.run_source import Source
from navloom.web.source_discovery import open_sources

NAME = "report.html"


def write_report_page(
    folders: Sequence[Path],
    out: Path,
    note: Callable[[str], None],
    *,
    shown: CommandOutput | None = None,
    licensed: bool = False,
) -> Path:
    """Write ``report.html``.

    It opens on the report of a study or of several runs, on the scores of one run, or on the
    comparison of two runs.

    Args:
        folders: folders of runs, of a study with its runs, or of mends.
        out: the existing folder to write to.
        note: called with lines about progress and about what is left out.
        shown: joint report of the runs by their kind, and details of some samples.
        licensed: whether to include data that scene licences restrict.

    Raises:
        RunError: a folder cannot be read, or nothing can be written.
    """
    shown = shown or CommandOutput()
    sources = open_sources([str(each) for each in folders], note)
    if shown.blocks and shown.together and len(folders) > 1:
        runs = dict(zip(run_labels(folders), folders, strict=True))
        said = SavedReport(title="Report", blocks=tuple(shown.blocks))
        sources.insert(0, ReportSource(folders[0].resolve().parent, said, runs))
    documents = Documents(sources, given=True, licensed=licensed, details=shown.details)
    write_bundle(documents, out / NAME, note, _first(sources, documents))
    return out / NAME


def _first(sources: Sequence[Source], documents: Documents) -> str:
    """Return the address of the first page; empty for the list of sources."""
    if isinstance(sources[0], ReportSource):
        return "#/source/0"
    if len(sources) == 1:
        tabs = [name for name, _ in sources[0].header().tabs]
        return f"#/source/0/{next(each for each in ('scores', 'agreement', *tabs) if each in tabs)}"
    two = documents.pairs() == [(0, 1)] and documents.can_compare(0, 1)
    return "#/compare/0/1" if two else ""
