"""A browser over our pages: what it asked for, what it complained of, what axe finds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


class Watched:
    """A page of which everything that goes wrong is kept."""

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
        """Go there, and wait until nothing moves any more."""
        self.page.goto("about:blank")
        self.page.goto(address)
        self.settle()

    def settle(self) -> None:
        """Wait until the page's heading stands and no map is being drawn."""
        self.page.wait_for_selector("main h1")
        self.page.wait_for_function(
            "() => !document.body.innerText.includes('drawing the plan')", timeout=20_000
        )
        self.page.wait_for_timeout(150)

    def violations(self) -> list[str]:
        """What axe finds."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            f" {each['nodes'][0].get('failureSummary', '')[:200]}"
            for each in found
        ]

    @property
    def here(self) -> str:
        """The fragment of the address."""
        return str(self.page.evaluate("location.hash"))


@contextmanager
def browser() -> Iterator[Any]:
    """The system's Chromium."""
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
    """A page of its own, as a new visitor has it."""
    context = opened.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        yield Watched(context.new_page(), origin)
    finally:
        context.close()
