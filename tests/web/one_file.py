"""Read the documents that a single-file page contains."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

PACK = re.compile(r'<script type="text/plain" id="pack-\d+">([^<]*)</script>')


def documents_of(page: Path) -> dict[str, Any]:
    """Return every document of a page, by its path."""
    found: dict[str, Any] = {}
    for text in PACK.findall(page.read_text()):
        found.update(json.loads(zlib.decompress(base64.b64decode(text))))
    same = found.pop("same")
    for told in found.values():
        if isinstance(told, dict) and "blocks" in told:
            told["blocks"] = [
                same[each["same"]] if "same" in each else each for each in told["blocks"]
            ]
    return found


def said_in(page: Path, start: str = "") -> str:
    """Return the text of all documents whose paths have a prefix."""
    found = documents_of(page)
    return json.dumps(
        {path: told for path, told in found.items() if path.startswith(start)}, ensure_ascii=False
    )


def opens_on(page: Path) -> str:
    """Return the address that a page opens on."""
    found = re.search(r"Navloom\.offline = (\{[^\n]*\});", page.read_text())
    assert found is not None
    return str(json.loads(found[1])["first"])
