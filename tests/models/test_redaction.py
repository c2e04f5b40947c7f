"""Secrets: every form of one is found, nothing else is touched."""

from __future__ import annotations

import base64
import logging
import os
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from navloom.errors import UsageError
from navloom.models import redaction
from navloom.models.model_call import acall
from navloom.models.redaction import (
    load_keys,
    redact,
    redact_error,
    redact_logs,
    redact_value,
    redact_warnings,
    register_secret,
)
from navloom.models.scripted import ScriptedChatModel

CANARY = "sk-canary/Zebra+42 ~quince=="


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", {})
    monkeypatch.setenv("CANARY_API_KEY", CANARY)


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        quote(CANARY),
        quote(CANARY, safe=""),
        quote_plus(CANARY),
        quote(CANARY, safe="").replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"),
        base64.b64encode(CANARY.encode()).decode(),
        CANARY.encode().hex(),
        CANARY.encode().hex().upper(),
        CANARY[::-1],
        base64.urlsafe_b64encode(CANARY.encode()).decode().rstrip("="),
    ],
)
def test_every_form_is_taken_out(form: str) -> None:
    assert redact(f"bad key {form}, sorry") == "bad key <CANARY_API_KEY>, sorry"


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_base64_of_something_longer_tells_nothing(before: bytes, after: bytes) -> None:
    said = redact(base64.b64encode(before + CANARY.encode() + after).decode())
    assert "<CANARY_API_KEY>" in said
    left = base64.b64decode(said.split("<")[0] + "==") + base64.b64decode(
        "A" * (-len(said.split(">")[1]) % 4) + said.split(">")[1]
    )
    assert b"Zebra" not in left
    assert b"quince" not in left


def test_short_values_and_other_variables_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_TOKEN", "table")
    monkeypatch.setenv("SOMETHING_ELSE", "a longer ordinary value")
    register_secret("EMPTY")
    register_secret("cup")
    text = "a longer ordinary value on the table, EMPTY cup"
    assert redact(text) == text


def test_a_key_given_from_python_is_known() -> None:
    register_secret("given-from-python-1")
    assert redact("x given-from-python-1 y") == "x [key] y"


def test_records_are_cleaned_and_clean_ones_are_themselves() -> None:
    record = {"message": f"x {CANARY}", "usage": {"calls": 1}, "list": [CANARY, 2.5, None]}
    assert redact_value(record) == {
        "message": "x <CANARY_API_KEY>",
        "usage": {"calls": 1},
        "list": ["<CANARY_API_KEY>", 2.5, None],
    }
    clean = {"a": [1, "b"]}
    assert redact_value(clean) is clean


def test_exceptions_and_what_caused_them_lose_the_key() -> None:
    try:
        try:
            raise ValueError(f"inner {CANARY}", 3)
        except ValueError as inner:
            raise RuntimeError(f"outer {CANARY}") from inner
    except RuntimeError as caught:
        error = caught
    redact_error(error)
    assert str(error) == "outer <CANARY_API_KEY>"
    assert error.__cause__ is not None
    assert error.__cause__.args == ("inner <CANARY_API_KEY>", 3)


def test_logs_tell_no_key(caplog: pytest.LogCaptureFixture) -> None:
    before = logging.getLogRecordFactory()
    try:
        redact_logs()
        redact_logs()
        try:
            raise ValueError(CANARY)
        except ValueError:
            logging.getLogger("some.sdk").exception("sent %s", CANARY)
    finally:
        logging.setLogRecordFactory(before)
    assert "sent <CANARY_API_KEY>" in caplog.text
    assert "ValueError: <CANARY_API_KEY>" in caplog.text
    assert CANARY not in caplog.text


def test_keys_come_from_a_file_and_the_environment_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("A_API_KEY", "B_API_KEY", "C_API_KEY", "D_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("B_API_KEY", "from the shell")
    file = tmp_path / ".env"
    file.write_text(
        "# keys\nA_API_KEY=abc # mine\nexport C_API_KEY = 'd e'\nB_API_KEY=x\n"
        'OPENAI_BASE_URL=http://elsewhere\nDATABASE="two\nlines"\nD_API_KEY=\n'
    )
    assert load_keys(file) == ["A_API_KEY", "C_API_KEY"]
    assert (os.environ["A_API_KEY"], os.environ["C_API_KEY"]) == ("abc", "d e")
    assert os.environ["B_API_KEY"] == "from the shell"
    assert "OPENAI_BASE_URL" not in os.environ
    assert load_keys(tmp_path / "none") == []


@pytest.mark.parametrize("text", ["A_API_KEY='x\n", "A_API_KEY=x\n" * 10_000])
def test_a_file_of_keys_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / ".env"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"\.env"):
        load_keys(file)


def test_warnings_of_libraries_are_one_line_without_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    redact_warnings()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # catch_warnings puts its own back.
        redact_warnings()
        warnings.warn(f"expected int, got '{CANARY}'\x1b[2J\nand more {'x' * 900}", stacklevel=1)
    said = capsys.readouterr().err
    assert said.startswith("UserWarning: expected int, got '<CANARY_API_KEY>'")
    assert said.count("\n") == 1
    assert len(said) < 400
    assert "\x1b" not in said


@pytest.mark.parametrize("field", ["id", "name", "usage"])
async def test_a_server_that_repeats_a_key_anywhere_leaves_none(field: str) -> None:
    usage: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    if field == "usage":
        usage["input_token_details"] = {CANARY: 1}
    said = AIMessage("well", usage_metadata=usage)
    if field != "usage":
        said = said.model_copy(update={field: f"x-{CANARY}"})
    with ScriptedChatModel([said]) as model:
        reply = await acall(model, [HumanMessage("well?")])
    assert CANARY not in str(reply)
    assert "CANARY_API_KEY" in str(reply)


def test_a_key_with_a_nul_is_a_mistake_in_its_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A_API_KEY=12345678\nB_API_KEY=1234\x005678\n")
    with pytest.raises(UsageError, match=r"\.env:2: B_API_KEY holds a character that no key has"):
        load_keys(tmp_path / ".env")
