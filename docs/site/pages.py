"""Build the documentation site: ``python docs/site/pages.py OUT``, which ``make docs`` runs.

The pages of ``docs`` are used unchanged, so GitHub shows them too. The build adds README,
CONTRIBUTING and CHANGELOG, an API page for each subpackage, and the pages that the commands of
``real-runs.md`` write. A module is public if its package defines ``__all__``, or if a page names
it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
DOCS = HERE.parent
ROOT = DOCS.parent
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PACKAGES = {"navloom": ROOT / "navloom", "navloom_worlds": ROOT / "worlds" / "navloom_worlds"}
ROOMS = {
    f"{name}.{each.parent.name}"
    for name, folder in PACKAGES.items()
    for each in folder.glob("*/__init__.py")
} - {"navloom.cli", "navloom_worlds.cli"}
_NAMED = re.compile(r"\bnavloom(?:_worlds)?(?:[./]\w+)*")
_IMPORTED = re.compile(r"^from (navloom[\w.]*) import (.+)$", re.MULTILINE)
_TO_CODE = re.compile(
    r"\]\((?:\.\./)+(?:worlds/)?(navloom(?:_worlds)?/[\w/]+?)(?:/__init__)?\.py\)"
)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_BUNDLE = re.compile(r"--bundle (\S+)")


def lay_out(into: Path) -> None:
    """Write all sources of the site into a folder."""
    shutil.copytree(DOCS, into, ignore=shutil.ignore_patterns(HERE.name))
    for name in BESIDE:
        shutil.copyfile(ROOT / name, into / name)
    changes = into / "CHANGELOG.md"  # it contains every word and would come first in the search
    changes.write_text("---\nnosearch: true\n---\n\n" + changes.read_text("utf-8"), "utf-8")
    texts = []
    for page in sorted(into.rglob("*.md")):
        text = page.read_text("utf-8")
        texts.append(text)
        page.write_text(for_site(text), "utf-8")
    shown = sorted(_public("\n".join(texts)))
    (into / "api").mkdir()
    for room in ROOMS:
        page = names_page(room, [m for m in shown if f"{m}.".startswith(f"{room}.")])
        name = room.removeprefix("navloom.")
        (into / "api" / f"{name}.rst").write_text(page, "utf-8")
    for name in PACKAGES:
        (into / "api" / f"{name}.rst").write_text(names_page(name, [name]), "utf-8")


def for_site(text: str) -> str:
    """Rewrite a page's links to code and to files outside ``docs`` to their places on the site."""
    text = text.replace("](docs/", "](").replace("](../README.md", "](README.md")
    text = _TO_CODE.sub(lambda code: f"](#{code[1].replace('/', '.')})", text)
    return _COMMANDS.sub(_with_link, text)


def _with_link(block: re.Match[str]) -> str:
    bundles = _BUNDLE.findall(block[1])
    shown = [where for where in bundles if where.startswith("runs/shown/")]
    link = '<a class="shown" href="{}/index.html">Click through it</a>'
    links = [link.format(where.removeprefix("runs/")) for where in shown]
    return "\n\n".join([block[0], *links]) + "\n"


def _public(text: str) -> Iterator[str]:
    """Yield the modules that ``__all__`` makes public or a text names, and all subpackages."""
    named = {word.replace("/", ".") for word in _NAMED.findall(text)}
    for start, names in _IMPORTED.findall(text):
        named.update(f"{start}.{each.split()[0]}" for each in names.split(","))
    files = [(each, top.parent) for top in PACKAGES.values() for each in top.rglob("*.py")]
    for file, top in files:
        module = ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
        listed = file.stem == "__init__" and "\n__all__ = " in file.read_text("utf-8")
        inner = any(name.startswith(f"{module}.") for name in named) and file.stem != "__init__"
        if listed or inner or module in named or module in ROOMS:
            yield module


def names_page(title: str, modules: list[str]) -> str:
    """Return the API page of some modules as reStructuredText.

    A package without ``__all__`` shows its docstring only.
    """
    loaded = {module: import_module(module) for module in modules}
    packages = {module: each for module, each in loaded.items() if hasattr(each, "__path__")}
    given_on = {name for each in packages.values() for name in getattr(each, "__all__", ())}
    parts = [title, "=" * len(title), ""]
    for module in modules:
        if module != title:
            parts += [module, "-" * len(module), ""]
        parts += [f".. automodule:: {module}"]
        if module not in packages:
            parts += [f"   :exclude-members: {', '.join(sorted(given_on))}"]
        elif hasattr(packages[module], "__all__"):
            parts += ["   :imported-members:"]
        else:
            parts += ["   :no-members:"]
        parts += [""]
    return "\n".join(parts)


def run_commands(page: Path, folder: Path) -> None:
    """Run the commands of a page in a folder, as a reader would, without any user settings."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NAVLOOM_")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{ROOT / 'worlds'}"
    for block in _COMMANDS.finditer(page.read_text("utf-8")):
        for line in block[1].splitlines():
            print(line, flush=True)
            command = [sys.executable, "-m", *line.split()]
            done = subprocess.run(  # noqa: S603
                command, cwd=folder, env=environment, capture_output=True
            )
            if done.returncode:
                raise SystemExit(f"{page.name}: {line}\n{done.stderr.decode(errors='replace')}")


def main(out: Path) -> int:
    """Build the site and return Sphinx's exit status."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        lay_out(work / "pages")
        quiet = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(work / "trees")]
        status = build_main([*quiet, "-b", "html", str(work / "pages"), str(out)])
        if status == 0:
            run_commands(DOCS / "real-runs.md", work)
            shutil.copytree(work / "runs" / "shown", out / "shown")
            print(f"open {out / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
