"""``navloom view``: show runs, samples, datasets and homes in a browser, or write a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from navloom.cli import options
from navloom.cli.common import count_noun
from navloom.evals.option import Opt
from navloom.models.redaction import print_err, print_out
from navloom.plugins import find_plugins, load_plugin

if TYPE_CHECKING:
    from navloom.web.documents import Documents

app = options.CommandApp()


@app.command()
@options.with_options()
def view(
    paths: Annotated[
        tuple[str, ...],
        Opt(
            "What to look at: folders of runs, of studies, of mends, of many; datasets (.jsonl);"
            " homes such as home:4.",
            metavar="PATH",
            argument=True,
        ),
    ] = ("runs",),
    scenes: Annotated[
        tuple[str, ...],
        Opt(
            "Where a dataset's homes are: hm3d:DIR, a folder of scene.json. Several times.",
            metavar="SPEC",
            shown="the package and $NAVLOOM_DATA",
        ),
    ] = (),
    port: options.Port = 8765,
    host: options.Host = "127.0.0.1",
    no_open: options.NoOpen = False,
    bundle: Annotated[
        Path | None,
        Opt(
            "Write the pages to a folder for any static host and for file://, or to one file"
            " NAME.html, and end.",
            metavar="DIR|FILE.html",
        ),
    ] = None,
    with_licensed: options.WithLicensed = False,
    token: options.Token = None,
    allow_host: options.AllowHost = (),
) -> None:
    """Look at runs, samples, datasets and homes in a browser.

    What grows is followed as it grows; nothing is ever written to it. With --bundle the same pages
    are files to give to others.
    """
    from navloom.web.documents import Documents
    from navloom.web.page_server import ServerAddress, serve_pages
    from navloom.web.rating_service import RatingService
    from navloom.web.source_discovery import open_sources
    from navloom.web.study_source import StudySource
    from navloom.web.web_service import WebService

    sources = open_sources(paths, lambda line: print_err(f"navloom: {line}"), scenes)
    if bundle is not None:
        _write(Documents(sources, given=True, licensed=with_licensed), bundle)
        return
    count = count_noun(len(sources), "sources")
    place = ServerAddress(host, port, token, allow_host)
    studies = [each.path for each in sources if isinstance(each, StudySource)]
    rooms: list[WebService] = []
    if studies:
        people = RatingService(studies)
        rooms = [people]
        if "room" in find_plugins("navloom.walks"):
            rooms.append(load_plugin("navloom.walks", "room", "A study of walks")(people))
    serve_pages(Documents(sources), place, rooms=rooms, opens=not no_open, said=f"{count} at")


def _write(documents: Documents, target: Path) -> None:
    from navloom.files import check_writable
    from navloom.web.bundle import write_bundle

    check_writable(target, folder=target.suffix != ".html")
    size = write_bundle(documents, target, lambda line: print_err(f"navloom: {line}"))
    first = target if target.suffix == ".html" else target / "index.html"
    print_out(f"{first}: {count_noun(len(documents.sources), 'sources')}, {size / 1e6:.1f} MB")
