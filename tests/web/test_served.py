"""Who is answered, with what headers, and that no part of a path ever names a file."""

from __future__ import annotations

import base64
import json
import os
import shlex
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from navloom.cli.main import main
from navloom.errors import NavloomError
from navloom.evals.run_folder import read_run
from navloom.web.app import CSP, make_app, page_files
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from tests.web.conftest import TOKEN
from tests.web.one_file import PACK, documents_of

HERE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def client(documents: Documents) -> TestClient:
    app = make_app(documents, token=TOKEN, port=8765, hosts=["robots.example"])
    return TestClient(app, base_url=HERE, headers={"X-Navloom-Token": TOKEN})


def test_the_page_is_given_to_anyone_and_what_it_shows_to_nobody_without_the_token(
    client: TestClient,
) -> None:
    for path in ("/", "/static/base.js", "/static/style.css"):
        answer = client.get(path, headers={"X-Navloom-Token": ""})
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "set-cookie" not in answer.headers
    for path in ("/doc/list.json", "/doc/source/0.json", "/live", "/doc/nothing.json"):
        for token in ("", "x" * 31, TOKEN[:-1], TOKEN + "x"):
            answer = client.get(path, headers={"X-Navloom-Token": token})
            assert answer.status_code == 401, path
            assert "navloom view" in answer.json()["error"]


@pytest.mark.parametrize(
    "host", ["evil.example:8765", "127.0.0.1:8766", "127.0.0.1", "127.0.0.1.evil.example:8765", ""]
)
def test_a_name_that_is_not_ours_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/doc/list.json"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "--allow-host" in answer.json()["error"]


def test_names_that_are_ours_are_answered(client: TestClient) -> None:
    for host in ("localhost:8765", "[::1]:8765", "robots.example", "robots.example:8765"):
        assert client.get("/doc/list.json", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:9999"]
)
def test_a_foreign_page_is_refused(client: TestClient, origin: str) -> None:
    assert client.get("/doc/list.json", headers={"Origin": origin}).status_code == 403
    assert client.get("/doc/list.json", headers={"Origin": HERE}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: TestClient, method: str) -> None:
    assert client.request(method, "/doc/list.json").status_code == 405


def _escapes() -> list[str]:
    """Two hundred paths and ids that lead out, or would where a path named a file."""
    dots = ["..", "%2e%2e", "..%2f..", "%2e%2e%2f", "..%5c", "....//", "%252e%252e", ".%00."]
    ends = ["etc/passwd", "run.json", "samples.jsonl", ".lock", "proc/self/environ"]
    found = [f"{'/'.join([dot] * n)}/{end}" for dot in dots for n in (1, 4) for end in ends]
    found += [f"source/0/sample/{dot}/{end}" for dot in dots for end in ends]
    found += [
        f"source/{n}" for n in ("-1", "99", "1e3", "٣", "0x0", "00000000", " 0", "0 ", "a", "%00")
    ]
    found += [f"source/0/rows/{k}" for k in ("-1", "x", "1.5", "9" * 40)]
    found += [f"source/0/tab/{name}" for name in ("..", "__class__", "summary.json", "%2e")]
    found += [f"plan/{name}" for name in ("home:4", "/etc/passwd", "..", "0" * 16, "demo:flat")]
    found += [f"compare/{a}/{b}" for a, b in (("0", "99"), ("-1", "0"), ("0", "2"), ("..", ".."))]
    found += [f"compare/0/1/{name}" for name in ("..", "nobody", "%2e%2e%2fx", "\u202e")]
    return found + [f"{'a' * n}" for n in range(1, 64)]


async def test_no_path_leads_out(documents: Documents) -> None:
    """As raw as a socket brings them: clients tidy up what they send."""
    app = make_app(documents, token=TOKEN, port=8765)
    paths = _escapes()
    assert len(paths) >= 200
    for path in paths:
        for url in (f"/doc/{path}.json", f"/static/{path}", f"/{path}"):
            for told in (url, unquote(url)):
                status, body = await _asked(app, told)
                assert status in (404, 422), told
                assert len(body["error"]) < 500
                assert "\n" not in body["error"]
                assert "root:" not in body["error"]


async def _asked(app: Any, path: str) -> tuple[int, dict[str, str]]:
    headers = [(b"host", b"127.0.0.1:8765"), (b"x-navloom-token", TOKEN.encode())]
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
             "query_string": b"", "headers": headers, "scheme": "http", "http_version": "1.1",
             "root_path": "", "server": ("127.0.0.1", 8765)}  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body)


def test_only_files_of_the_page_are_served() -> None:
    assert all(name == "index.html" or name.startswith("static/") for name in page_files())
    size = sum(len(data) for data in page_files().values())
    assert size <= 250_000
    for name, data in page_files().items():
        if name.endswith(".js"):
            assert len(data.decode().splitlines()) < 400, name
            assert b"innerHTML" not in data
            assert b"eval(" not in data


def test_no_key_stands_in_a_document(
    client: TestClient, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "heuristic-canary-0123456789")
    row = documents.sources[0].rows()[0]
    before = row.cells
    row.cells = ["heuristic-canary-0123456789" for _ in before]
    try:
        said = [client.get(f"/doc/{path}.json").text for path in ("list", "source/0")]
    finally:
        row.cells = before
    assert all("canary" not in each for each in said)


def test_what_is_given_on_does_not_say_where_it_lay(runs: Path) -> None:
    given = Documents(open_sources([str(runs)], print), given=True)
    for path in list(given.paths()):
        assert str(runs) not in json.dumps(given.get(path)), path


def test_a_broken_line_is_a_row_and_a_note(runs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "broken"
    copy.mkdir()
    for file in ("run.json", "samples.jsonl", "errors.jsonl", "summary.json"):
        (copy / file).write_bytes((runs / "heuristic" / file).read_bytes())
    lines = (copy / "samples.jsonl").read_bytes().splitlines(keepends=True)
    torn, changed = (
        lines[-1][:-30],
        lines[1].replace(b'"ok"', b'"no"').replace(b"failed", b"fooled"),
    )
    (copy / "samples.jsonl").write_bytes(b"".join([lines[0], changed, *lines[2:-1], torn]))
    (source,) = open_sources([str(copy)], print)
    head = source.header()
    assert len(source.rows()) == len(lines) - 1
    assert [row.id for row in source.rows()][1] == "line-2"
    assert len(head.notes) == 1
    assert "line 2" in head.notes[0]
    with (copy / "samples.jsonl").open("ab") as file:
        file.write(lines[-1][-30:])
    assert len(source.rows()) == len(lines)


def test_a_run_is_never_written_to(runs: Path, documents: Documents) -> None:
    def state() -> dict[str, tuple[int, int]]:
        files = [each for each in runs.rglob("*") if each.is_file()]
        return {str(f): (f.stat().st_mtime_ns, f.stat().st_size) for f in files}

    before = state()
    fresh = Documents(documents.sources)
    for path in list(fresh.paths()):
        if not path.startswith(("plan", "compare")):
            json.dumps(fresh.get(path))
    assert state() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_run_opens(runs: Path, documents: Documents) -> None:
    folder = runs / "random"
    folder.chmod(0o500)
    try:
        assert documents.get("source/1/rows/0")
    finally:
        folder.chmod(0o700)


def test_a_summary_of_other_hands_is_one_line(runs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "touched"
    copy.mkdir()
    for file in ("run.json", "samples.jsonl", "errors.jsonl"):
        (copy / file).write_bytes((runs / "heuristic" / file).read_bytes())
    said = []
    for told in ('{"models": [3]}', '{"models": 3, "left": "x"}', "[]", '{"usage": 7}', "{"):
        (copy / "summary.json").write_text(told)
        documents = Documents(open_sources([str(copy)], print))
        assert documents.get("list")["rows"]
        try:
            documents.get("source/0/tab/cost")
        except NavloomError as error:
            said.append(str(error))
    assert len(said) == 2
    assert all("summary.json" in each and "\n" not in each for each in said)


def test_a_run_says_the_command_that_makes_it_again(documents: Documents, runs: Path) -> None:
    told = documents.get("source/0/tab/request")
    assert told[0]["title"] == "The command again"
    words = shlex.split(told[0]["text"])
    assert words[:4] == ["navloom", "eval", "scene", "demo:flat"]
    assert words[-2:] == ["--out", str(runs / "heuristic")]


def test_no_key_that_was_typed_stands_in_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "typed-canary-0123456789")
    out = tmp_path / "typed-canary-0123456789"
    said = ["eval", "scene", "demo:flat", "--n", "1", "--display", "none", "--out", str(out)]
    assert main(said) == 0
    command = read_run(out)["command"]
    assert command.startswith("navloom eval scene demo:flat")
    assert "canary-0123" not in command


def test_a_bundle_says_once_what_all_samples_share(runs: Path, tmp_path: Path) -> None:
    page, shown = tmp_path / "all.html", Documents(open_sources([str(runs / "heuristic")], print))
    write_bundle(shown, page, print)
    inside = [zlib.decompress(base64.b64decode(text)) for text in PACK.findall(page.read_text())]
    assert sum(b"What these scores mean" in text for text in inside) > 0
    told = sum(text.count(b"What these scores mean") for text in inside)
    assert told < len(shown.sources[0].rows())
    found = documents_of(page)
    for path in shown.paths():
        assert found[path] == json.loads(json.dumps(shown.get(path))), path
