"""Write the pages without a server: a folder for any static host and for file://, or one file.

Documents are stored deflated in packs. The hash of a document's path gives its pack, so a page
needs no list. A pack is a script, since pages at file:// can load nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from navloom.errors import NavloomError, RunError
from navloom.files import join_some, make_folder, write_run_file
from navloom.web.app import page_files
from navloom.web.documents import MOST_COMPARED, Documents, WithheldError

_PACK = 400_000
"""Approximate size of a pack in bytes of JSON; one click inflates one pack."""
_MARK = ".navloom-bundle"
_SAME = "same"
_SAID_EVERY_S = 10.0
_MOST_NAMED = 5


def pack_index(path: str, packs: int) -> int:
    """Return the number of a document's pack: FNV-1a of its path, as the page computes it."""
    number = 0x811C9DC5
    for byte in path.encode():
        number = ((number ^ byte) * 0x01000193) & 0xFFFFFFFF
    return number % packs


def _documents(documents: Documents, note: Callable[[str], None]) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    whole = sum(len(source.rows()) for source in documents.sources)
    told, samples = monotonic(), 0
    same = _Same()
    # The needed plans are known only after all samples: `paths` gives them last.
    for path in documents.paths():
        try:
            found = documents.get(path)
        except WithheldError as error:
            found = {"error": str(error)}
        except NavloomError as error:
            found = {"error": documents.with_relative_paths(str(error))}
            # Runs that cannot be compared are no fault: nobody asked for the comparison.
            if not path.startswith("compare/"):
                note(f"{path}: {error}")
        made[path] = _encoded(same.taken_out(found))
        samples += "/sample/" in path
        if monotonic() - told > _SAID_EVERY_S:
            told = monotonic()
            note(f"{samples:,} of {whole:,} samples are pages")
    made[_SAME] = _encoded(same.blocks)
    return made


def _encoded(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")


class _Same:
    """Folded tables that many samples share, such as definitions of scores; stored once.

    From the second sample on, a document refers to the table by ``{"same": 0}``, and the page fills
    it in. Deflate would not remove such copies: its window is 32 kB, and a sample is longer.
    """

    def __init__(self) -> None:
        self.blocks: list[Any] = []
        self._numbers: dict[bytes, int | None] = {}

    def taken_out(self, found: Any) -> Any:
        """Return a document with each repeated folded table replaced by a reference."""
        if not isinstance(found, dict) or not isinstance(found.get("blocks"), list):
            return found
        return {**found, "blocks": [self._block(each) for each in found["blocks"]]}

    def _block(self, block: Any) -> Any:
        if not block.get("table", {}).get("folded"):
            return block
        key = hashlib.blake2b(_encoded(block), digest_size=16).digest()
        if key not in self._numbers:
            self._numbers[key] = None
            return block
        number = self._numbers[key]
        if number is None:
            number = self._numbers[key] = len(self.blocks)
            self.blocks.append(block)
        return {"same": number}


def _say_left_out(documents: Documents, note: Callable[[str], None]) -> None:
    if scenes := sorted(documents.kept_back):
        note(
            f"plans, captions, prompts and pictures of {join_some(scenes, _MOST_NAMED)} are"
            " left out: their licences do not let them be given on. --with-licensed of `navloom"
            " view --bundle` and `navloom report` keeps them in"
        )
    if (pairs := len(documents.pairs())) > MOST_COMPARED:
        note(f"{MOST_COMPARED} of {pairs} comparisons are kept: name fewer runs to have others")


def _packs(made: dict[str, bytes]) -> Iterator[str]:
    count = max(1, round(sum(map(len, made.values())) / _PACK))
    inside: list[list[str]] = [[] for _ in range(count)]
    for path in made:
        inside[pack_index(path, count)].append(path)
    for paths in inside:
        body = b",".join(json.dumps(path).encode() + b":" + made.pop(path) for path in paths)
        yield base64.b64encode(zlib.compress(b"{" + body + b"}", 9)).decode()


def write_bundle(
    documents: Documents, target: Path, note: Callable[[str], None], first: str = ""
) -> int:
    """Write the pages and all documents to a folder or to one file.

    Args:
        documents: the documents to write.
        target: a folder (new, empty, or an earlier bundle), or one file, ``NAME.html``.
        note: called with lines about documents that could not be made, about data left out for a
            licence, and about progress.
        first: the address to open first, such as ``#/source/0/scores``; empty: the list.

    Returns:
        The number of bytes written.

    Raises:
        RunError: it cannot be written, or the folder holds other files.
    """
    packs = list(_packs(_documents(documents, note)))
    _say_left_out(documents, note)
    offline = _told_offline(packs, first)
    if target.suffix == ".html":
        page = _one_file(packs, offline)
        write_run_file(target, page)
        return len(page)
    if target.is_dir() and any(target.iterdir()) and not (target / _MARK).exists():
        raise RunError(f"{target} holds other files: give --bundle a new folder, or NAME.html")
    for each in (target, target / "static", target / "doc"):
        make_folder(each)
    files = page_files()
    files["index.html"] = _offline(files["index.html"].decode()).encode()
    files["doc/packs.js"] = offline.encode()
    for n, text in enumerate(packs):
        files[f"doc/pack-{n}.js"] = f'Navloom.give({n}, "{text}");\n'.encode()
    for old in (target / "doc").glob("pack-*.js"):
        if f"doc/{old.name}" not in files:
            old.unlink()
    for name, data in files.items():
        write_run_file(target / name, data)
    (target / _MARK).touch()
    return sum(map(len, files.values()))


def one_file_page(documents: Mapping[str, Any], first: str, **more: Any) -> bytes:
    """Return the page with some documents as one HTML file.

    Args:
        documents: JSON values by their paths.
        first: the address to open first.
        more: further settings for the page.
    """
    packs = list(_packs({path: _encoded(made) for path, made in documents.items()}))
    return _one_file(packs, _told_offline(packs, first, **more))


def _told_offline(packs: Sequence[str], first: str, **more: Any) -> str:
    told = {"packs": len(packs), "first": first, **more}
    return f"Navloom.offline = {json.dumps(told)};\n"


_POLICY = '<meta http-equiv="Content-Security-Policy" content="{}">'
_SELF = (
    "default-src 'none'; script-src {}; style-src {}; img-src {}blob: data:; base-uri 'none';"
    " form-action 'none'"
)


def _offline(page: str) -> str:
    policy = _POLICY.format(_SELF.format("'self'", "'self'", "'self' "))
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}', 1)
    base = '<script defer src="static/base.js"></script>'
    return page.replace(base, f'{base}\n<script defer src="doc/packs.js"></script>', 1)


def _one_file(packs: list[str], offline: str) -> bytes:
    """Return the page with everything inline; the policy allows it by its hash alone."""
    files = {name: data.decode() for name, data in page_files().items()}
    page = files["index.html"]
    scripts = [line.split('"')[1] for line in page.splitlines() if line.startswith("<script")]
    styles = [line.split('"')[3] for line in page.splitlines() if 'rel="stylesheet"' in line]
    code = "\n".join([files[scripts[0]], offline, *(files[each] for each in scripts[1:])])
    look = "\n".join(files[each] for each in styles)
    policy = _POLICY.format(_SELF.format(_hash(code), _hash(look), ""))
    lines = ["<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">', policy,
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             "<title>Navloom</title>", '<link rel="icon" href="data:,">',
             f"<style>{look}</style>", "</head>", "<body>"]  # fmt: skip
    lines += [f'<script type="text/plain" id="pack-{n}">{p}</script>' for n, p in enumerate(packs)]
    lines += [f"<script>{code}</script>", "</body>", "</html>", ""]
    return "\n".join(lines).encode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
