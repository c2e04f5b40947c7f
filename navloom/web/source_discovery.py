"""Open what the command line names as sources: runs, folders of runs, datasets and homes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from navloom.errors import NavloomError, UsageError
from navloom.evals.people.study_folder import is_people_study
from navloom.evals.report.report_files import NAME
from navloom.web.run_source import RunSource, Source

_DEPTH, _MOST = 3, 500


def open_sources(
    named: Sequence[str], note: Callable[[str], None], scenes: Sequence[str] = ()
) -> list[Source]:
    """Open the sources that some names stand for.

    Args:
        named: folders of runs, studies or mends, or folders that hold these; dataset files; scene
            URIs.
        note: called with a line for each source that is skipped.
        scenes: specs of the scenes that datasets refer to.

    Raises:
        UsageError: no source is found; NavloomError: the only source is broken.
    """
    found: list[Source] = []
    folders = [each for name in named if Path(name).is_dir() for each in _folders_in(Path(name))]
    reports = [each for each in folders if not _is_run(each)]
    runs = [each for each in folders if _is_run(each)]
    others = [name for name in named if not Path(name).is_dir()]
    if len(runs) > _MOST:
        note(f"{len(runs)} runs: the newest {_MOST} are shown; name fewer folders to see others")
        runs = sorted(runs, key=lambda run: (run / "run.json").stat().st_mtime)[-_MOST:]
    for folder in (*reports, *runs):
        try:
            found.append(RunSource(folder) if _is_run(folder) else _report(folder))
        except NavloomError as error:
            if len(reports) + len(runs) + len(others) == 1:
                raise
            note(f"{folder} is passed over: {error}")
    for name in others:
        found += _other(name, scenes)
    if not found:
        said = " ".join(named)
        raise UsageError(
            f"{said}: no run is here (a folder with a run.json, up to {_DEPTH} levels down), no"
            " study, no dataset and no home: name what `--out` made, a .jsonl file, or a home such"
            " as home:4"
        )
    return found


def _is_run(folder: Path) -> bool:
    return (folder / "run.json").is_file()


def _folders_in(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """Yield the folders of runs, and of the studies that hold them, up to ``depth`` levels down."""
    if _is_run(folder):
        yield folder
        return
    if (folder / NAME).is_file() or is_people_study(folder):
        yield folder
    if depth:
        inside = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
        for each in inside:
            # A symbolic link may lead out of the named folder.
            if each.is_dir() and not each.is_symlink():
                yield from _folders_in(each, depth - 1)


def _report(folder: Path) -> Source:
    if is_people_study(folder):
        from navloom.web.study_source import StudySource

        return StudySource(folder)
    from navloom.web.other_sources import ReportSource

    return ReportSource(folder)


def _other(name: str, scenes: Sequence[str]) -> list[Source]:
    from navloom.web.other_sources import DatasetSource, home_sources

    if name.endswith(".jsonl"):
        return [DatasetSource(Path(name), scenes)]
    return home_sources(name)
