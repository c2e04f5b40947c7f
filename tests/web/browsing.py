"""Browser over our pages: record requests and errors, and check accessibility with axe."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from navloom.web.documents import Documents

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


class Watched:
    """A page that records everything that goes wrong."""

    def __init__(self, page: Any, origin: str) -> None:
        self.page, self.origin = page, origin
        self.wrong: list[str] = []
        page.on("console", lambda said: self.wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._asked)

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        parts = urlsplit(request.url)
        beyond = parts.scheme in ("http", "https", "ws") and not request.url.startswith(self.origin)
        if beyond:
            self.wrong.append(f"asked beyond the server: {request.url}")

    def open(self, address: str) -> None:
        """Open an address and wait until the page is complete."""
        self.page.goto("about:blank")
        self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        """Wait until the page has its heading and no map is being drawn."""
        self.page.wait_for_selector("main h1")
        self.page.wait_for_function(
            "() => !document.body.innerText.includes('drawing the plan')", timeout=20_000
        )
        self.page.wait_for_timeout(150)

    def violations(self, *rules: str) -> list[str]:
        """Return the accessibility violations that axe finds, by all rules or by some."""
        from axe_playwright_python.sync_playwright import Axe

        options = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else None
        found = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            f" {each['nodes'][0].get('failureSummary', '')[:200]}"
            for each in found
        ]

    @property
    def here(self) -> str:
        """Fragment of the address."""
        return str(self.page.evaluate("location.hash"))


@contextmanager
def browser() -> Iterator[Any]:
    """Start the system's Chromium and yield it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def page_of(
    opened: Any, origin: str, *, width: int = 1280, scheme: str = "light"
) -> Iterator[Watched]:
    """Open a page in a new context, as a new visitor does, and yield it."""
    context = opened.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        yield Watched(context.new_page(), origin)
    finally:
        context.close()


def addresses(documents: Documents, *, of: int | None = None) -> list[str]:
    """Return the address of one page of each kind.

    Args:
        documents: the documents.
        of: use only the first so many sources, except for comparisons; by default all.
    """
    found = ["/?all=1"]
    pairs: dict[str, list[int]] = {}
    for n, source in enumerate(documents.sources):
        head, rows = source.header(), source.rows()
        if head.pairs:
            pairs.setdefault(head.pairs, []).append(n)
        if of is not None and n >= of:
            continue
        found.append(f"/source/{n}")
        found += [f"/source/{n}/{name}" for name, _ in head.tabs]
        found += [f"/source/{n}/sample/{quote(row.id, safe='')}?step=2&calls=1" for row in rows[:1]]
    for a, b in (held[:2] for held in pairs.values() if len(held) > 1):
        row = documents.sources[a].rows()[0]
        found += [f"/compare/{a}/{b}", f"/compare/{a}/{b}/{quote(row.id, safe='')}"]
    return found


@contextmanager
def static_host(folder: Path) -> Iterator[str]:
    """Serve a folder like any static host, without range requests, and yield its address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
