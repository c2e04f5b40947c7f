"""``navloom doctor``: check the installation; one line for each finding, with what to do."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from navloom.cli.common import print_json
from navloom.cli.options import CommandApp, Json, with_options
from navloom.models.redaction import print_out

if TYPE_CHECKING:
    from navloom.models.model_spec import Provider

app = CommandApp()

_LEAST_SQLITE = (3, 24, 0)
_LEAST_FREE_GB = 1.0


@dataclass(frozen=True)
class DoctorCheck:
    """Result of one check.

    Attributes:
        what: the name of the checked part.
        state: ``ok``; ``missing`` if an optional part is not available; ``broken`` if Navloom
            cannot work.
        found: the result in words.
        todo: what to do about it; empty if it is ok.
    """

    what: str
    state: str
    found: str
    todo: str = ""


@app.command("doctor")
@with_options()
def doctor(as_json: Json = False) -> None:
    """Check Python, packages, data, disk and keys, and say what to do about what is missing."""
    found = list(run_checks(Path.cwd()))
    if as_json:
        print_json([asdict(finding) for finding in found])
    else:
        width = max(len(finding.what) for finding in found)
        for finding in found:
            todo = f"  -> {finding.todo}" if finding.todo else ""
            print_out(f"{finding.state:7}  {finding.what:{width}}  {finding.found}{todo}")
    if any(finding.state == "broken" for finding in found):
        raise typer.Exit(1)


def run_checks(folder: Path) -> Iterator[DoctorCheck]:
    """Run all checks and yield the result of each.

    Args:
        folder: the folder that runs would be written to.
    """
    # An older Python cannot install Navloom at all.
    yield DoctorCheck("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield from _packages()
    if sqlite3.sqlite_version_info >= _LEAST_SQLITE:
        yield DoctorCheck("sqlite", "ok", sqlite3.sqlite_version)
    else:
        yield DoctorCheck("sqlite", "broken", sqlite3.sqlite_version, "needs 3.24 or newer")
    yield _writable(folder)
    free = shutil.disk_usage(folder).free / 1e9
    if free >= _LEAST_FREE_GB:
        yield DoctorCheck("free disk", "ok", f"{free:.0f} GB")
    else:
        short = "a large run may need 1 GB: free some"
        yield DoctorCheck("free disk", "missing", f"{free:.2f} GB", short)
    yield from _data()
    yield from _providers()
    yield _habitat()
    from navloom.cli.serve import find_vllm

    if where := find_vllm():
        yield DoctorCheck("navloom serve", "ok", where)
    else:
        todo = "only to serve models here, with a GPU: pip install 'navloom[vllm]'"
        yield DoctorCheck("navloom serve", "missing", "vllm is not installed", todo)


def _habitat() -> DoctorCheck:
    """Check whether habitat_sim is installed and renders."""
    from navloom.errors import SimulatorError
    from navloom.sim.registry import backend_module

    what = "--backend habitat"
    try:
        habitat = backend_module("habitat")
    except SimulatorError as error:
        return DoctorCheck(
            what, "missing", "navloom-worlds is not here", f"only if you need it: {error}"
        )
    if why := habitat.missing_reason():
        return DoctorCheck(
            what, "missing", "habitat_sim is not here", f"only if you need it: {why}"
        )
    try:
        return DoctorCheck(what, "ok", f"habitat_sim {habitat.check()}, and it draws")
    except SimulatorError as error:
        return DoctorCheck(what, "missing", "habitat_sim does not draw", str(error))


def _packages() -> Iterator[DoctorCheck]:
    """Check Navloom and its requirements, by its metadata, then each extra."""
    from packaging.requirements import Requirement

    lines = [Requirement(line) for line in requires("navloom") or ()]
    world = requires("navloom-worlds") or () if _version("navloom-worlds") else ()
    needed = [
        line.name
        for line in (*lines, *map(Requirement, world))
        if line.marker is None or line.marker.evaluate()
    ]
    for name in dict.fromkeys(("navloom", *needed)):
        if found := _version(name):
            yield DoctorCheck(name, "ok", found)
        else:
            yield DoctorCheck(name, "broken", "not installed", f"pip install '{name}'")
    for extra in metadata("navloom").get_all("Provides-Extra") or ():
        names = [
            line.name
            for line in lines
            if line.marker is not None
            and line.marker.evaluate({"extra": extra})
            and not line.marker.evaluate()
        ]
        lacking = [name for name in names if not _version(name)]
        if lacking:
            todo = f"only if you need it: pip install 'navloom[{extra}]'"
            yield DoctorCheck(f"[{extra}]", "missing", ", ".join(lacking), todo)
        else:
            yield DoctorCheck(f"[{extra}]", "ok", ", ".join(names))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _writable(folder: Path) -> DoctorCheck:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return DoctorCheck("write access", "ok", str(folder))
    except OSError as error:
        return DoctorCheck(
            "write access", "missing", f"{folder}: {error.strerror}", "give --out a folder of yours"
        )


def _data() -> Iterator[DoctorCheck]:
    where = os.environ.get("NAVLOOM_DATA")
    if not where:
        todo = "for real homes: export NAVLOOM_DATA=FOLDER, see docs/real-data.md; demo: needs none"
        yield DoctorCheck("NAVLOOM_DATA", "missing", "not set", todo)
        return
    folder = Path(where)
    if not folder.is_dir():
        yield DoctorCheck("NAVLOOM_DATA", "missing", f"{where} is no folder", "point it to one")
        return
    yield DoctorCheck("NAVLOOM_DATA", "ok", where)
    from navloom.errors import NavloomError
    from navloom.scenes.scene_uri import FORMATS, list_scenes

    for scheme, known in FORMATS.items():
        if known.data is None:
            continue
        try:
            count = len(list_scenes(f"{scheme}:"))
        except NavloomError as error:
            yield DoctorCheck(f"  {scheme}:", "missing", str(error), "see docs/real-data.md")
        else:
            yield DoctorCheck(f"  {scheme}:", "ok", f"{count} scenes in {folder / known.data}")


def _providers() -> Iterator[DoctorCheck]:
    from navloom.models.model_registry import list_providers

    for provider in list_providers():
        what, lacking = f"{provider.name}/", provider.missing_setup()
        if provider.fault:
            todo = "mend or uninstall the package; nothing else is touched"
            yield DoctorCheck(what, "missing", provider.fault, todo)
        elif provider.package:
            yield from _packaged(provider)
        elif provider.needs is None:
            yield DoctorCheck(what, "ok", "needs no key")
        elif lacking:
            todo = f"to use it: export {provider.needs}=..."
            yield DoctorCheck(what, "missing", f"{provider.needs} is not set", todo)
        else:
            yield DoctorCheck(what, "ok", f"{provider.needs} is set")
        if provider.speaks and os.environ.get(f"{provider.speaks}_BASE_URL", "").strip():
            yield _server(provider.speaks)


def _server(prefix: str) -> DoctorCheck:
    """Check the model server at an address from the environment."""
    from navloom.models.server_info import HOLDS, ask_server

    variable, key = f"{prefix}_BASE_URL", os.environ.get(f"{prefix}_API_KEY", "").strip()
    found, what = ask_server(os.environ[variable].strip(), key), f"  {variable}"
    if found.fault:
        todo = f"start the server, or mend {variable} (it ends in /v1)"
        return DoctorCheck(what, "missing", f"no answer at {found.address}: {found.fault}", todo)
    told = [found.kind or "a server of another kind", f"at {found.address}"]
    told += [f"with {found.serves}"] if found.serves else []
    told += [f"and a context of {found.context} tokens"] if found.context else []
    holds = HOLDS.get(found.kind or "", "how far it holds a model to schemas is not known")
    todo = {
        "vLLM": "",
        "llama.cpp": "for tools run the file as local/PATH.gguf, which holds both; --compact"
        " needs none",
    }.get(found.kind or "", "try it, as docs/models.md says")
    state = "missing" if found.kind == "llama.cpp" else "ok"
    return DoctorCheck(what, state, f"{' '.join(told)}: {holds}", todo)


def _packaged(provider: Provider) -> Iterator[DoctorCheck]:
    lacking = provider.missing_setup()
    if lacking:
        yield DoctorCheck(f"{provider.name}/", "missing", "not ready", f"to use it: {lacking}")
        return
    yield DoctorCheck(f"{provider.name}/", "ok", f"{provider.package} is installed")
    for model in provider.beside:
        what, lacking = f"{provider.name}/{model}", provider.missing_setup(model)
        if lacking:
            yield DoctorCheck(
                what, "missing", "its package is not installed", f"to use it: {lacking}"
            )
        else:
            yield DoctorCheck(what, "ok", "is here")
