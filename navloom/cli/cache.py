"""``navloom cache``: show and prune the caches of model replies and of data made from homes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from navloom.cli.common import print_json
from navloom.cli.options import CommandApp, Json, with_options
from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.models.redaction import print_out

app = CommandApp("The replies of models, and what is made of homes, that are kept on disk.")

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_KEPT = {
    "homes": "{} generated homes",
    "meshes": "the meshes of {} scenes",
    "sights": "what is in sight of {} viewpoints",
    "light": "the light of {} homes",
    "habitat": "{} scenes for habitat",
    "bodies": "{} fields and graphs of bodies",
    "tables": "{} tables of who passes which links",
    "views": "{} indexes of runs",
}
Folder = Annotated[Path | None, Opt("The folder.", metavar="DIR", shown="the user's cache folder")]


@app.command()
@with_options()
def info(cache: Folder = None, as_json: Json = False) -> None:
    """Show the number, size and age of cached replies and of data generated for homes."""
    from navloom.disk_cache import REPLIES, STORES, cache_folder
    from navloom.models.response_cache import ResponseCache

    folder = cache_folder(cache)
    if folder.is_dir():
        ResponseCache(folder)  # refuses the folder of another version, or of something else
    sizes = {each.name: [entry.bytes for entry in each.entries(cache)] for each in STORES}
    replies = list(REPLIES.entries(cache))
    size, made = sum(each.bytes for each in replies), [each.used for each in replies]
    oldest, newest = min(made, default=None), max(made, default=None)
    if as_json:
        found = {"folder": str(folder), "entries": len(replies), "bytes": size}
        found |= {"oldest": oldest, "newest": newest}
        found |= {f"{name}_entries": len(each) for name, each in sizes.items()}
        found |= {f"{name}_bytes": sum(each) for name, each in sizes.items()}
        print_json(found)
        return
    print_out(f"{folder}: {len(replies)} replies, {_size(size)}")
    if oldest is not None and newest is not None:
        print_out(f"  the oldest of {_day(oldest)}, the newest of {_day(newest)}")
    for name, each in sizes.items():
        if each:
            print_out(f"  and {_KEPT[name].format(len(each))}, {_size(sum(each))}")


@app.command()
@with_options()
def prune(
    cache: Folder = None,
    older_than: Annotated[
        str | None, Opt("Only what is older than this: 12h, 30d, 8w.", metavar="AGE", shown="all")
    ] = None,
) -> None:
    """Delete cached replies and data generated for homes."""
    from navloom.disk_cache import REPLIES, STORES, cache_folder
    from navloom.models.response_cache import ResponseCache

    folder, age = cache_folder(cache), _seconds(older_than)
    if folder.is_dir():
        ResponseCache(folder)
    entries, size = REPLIES.prune(age, cache)
    print_out(f"{folder}: {entries} replies deleted, {_size(size)}")
    for each in STORES:
        entries, size = each.prune(age, cache)
        if entries:
            print_out(f"  and {_KEPT[each.name].format(entries)}, {_size(size)}")


def _seconds(age: str | None) -> float | None:
    if age is None:
        return None
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*([smhdw])", age.strip())
    if found is None:
        raise UsageError(f"--older-than {age}: expected a number and s, m, h, d or w, such as 30d")
    return float(found.group(1)) * _UNITS[found.group(2)]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def _day(seconds: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
