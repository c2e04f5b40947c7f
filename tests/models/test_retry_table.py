"""The table of what is tried again, row by row, without a server: a status, its headers, a kind."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import Any

import pytest

from navloom.errors import ModelError, ModelRefusedError, StoppedError
from navloom.models.call_failure import (
    CallFailure,
    RetryPolicy,
    classify_failure,
    model_error,
    refused_ability,
)
from navloom.models.model_call import with_retries


class Answer:
    def __init__(self, **headers: str) -> None:
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class StatusError(Exception):
    def __init__(self, status: Any, text: str = "no", **headers: str) -> None:
        super().__init__(text)
        self.status_code, self.response = status, Answer(**headers)


@pytest.mark.parametrize(
    ("status", "kind", "kind_if_it_asks_to_wait"),
    [
        (400, "final", "final"), (401, "final", "final"), (404, "final", "final"),
        (408, "timeout", "timeout"), (409, "timeout", "timeout"), (410, "final", "final"),
        (429, "rate", "rate"), (499, "final", "final"), (500, "server", "overloaded"),
        (503, "server", "overloaded"), (528, "server", "overloaded"),
        (529, "overloaded", "overloaded"), (530, "server", "overloaded"),
    ],
)  # fmt: skip
def test_a_status_has_its_row(status: int, kind: Any, kind_if_it_asks_to_wait: Any) -> None:
    assert classify_failure(StatusError(status)) == CallFailure(kind, "no", status)
    asked = CallFailure(kind_if_it_asks_to_wait, "no", status, 7.0)
    assert classify_failure(StatusError(status, retry_after="7")) == asked


@pytest.mark.parametrize("status", [200, 399, "500", None])
def test_what_is_no_status_of_a_failure_is_none(status: Any) -> None:
    assert classify_failure(StatusError(status)) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "0"}, 0.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after_ms": "soon", "retry_after": "9"}, 9.0),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": formatdate(0, usegmt=True)}, 0.0),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    failure = classify_failure(StatusError(429, **headers))
    assert failure is not None
    assert failure.retry_after == seconds


def test_words_are_one_line_of_300_characters_at_most() -> None:
    for text, said in (
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 299 + "…"),
        ("two\n  lines", "two lines"),
    ):
        failure = classify_failure(StatusError(400, text))
        assert failure is not None
        assert failure.text == said


def test_what_is_no_status_is_told_by_its_kind() -> None:
    assert classify_failure(TimeoutError()) == CallFailure("timeout", "no answer in time")
    assert classify_failure(TimeoutError("30 s")) == CallFailure("timeout", "30 s")
    assert classify_failure(ConnectionError("refused")) == CallFailure("connection", "refused")
    unread = CallFailure("garbled", "ValueError: half a reply")
    assert classify_failure(ValueError("half a reply")) == unread
    assert classify_failure(ValueError("half a reply"), remote=False) is None
    assert classify_failure(RuntimeError("a defect")) is None
    deep = ConnectionError("outer")
    deep.__cause__ = OSError("name or service not known")
    assert classify_failure(deep) == CallFailure("connection", "name or service not known")


@pytest.mark.parametrize(
    ("errors", "calls"),
    [
        ([StatusError(500)] * 9, 2),
        ([StatusError(500, text) for text in "aabb"], 2),
        ([StatusError(500, text) for text in "abcdef"], 4),
        ([StatusError(500, "image input is not supported - hint: the mmproj")] * 9, 1),
        ([StatusError(500, "image input is not supported", retry_after="0.1")] * 9, 1),
        ([StatusError(529)] * 9, 4),
        ([StatusError(429)] * 9, 4),
        ([StatusError(400)] * 9, 1),
        ([ValueError("x")] * 9, 2),
        ([TimeoutError()] * 9, 4),
        ([StatusError(429, retry_after="0.3")] * 9, 1),
        ([StatusError(429, retry_after="0.2"), StatusError(400)], 2),
    ],
)
async def test_how_often_a_failure_is_tried(errors: list[Exception], calls: int) -> None:
    left = iter(errors)
    made = 0

    async def call() -> None:
        nonlocal made
        made += 1
        raise next(left)

    policy = RetryPolicy(attempts=4, first_wait=0.001, longest_wait=0.002, longest_asked=0.2)
    with pytest.raises(type(errors[0])):
        await with_retries(call, policy)
    assert made == calls


async def test_nothing_is_tried_again_once_the_session_ends() -> None:
    made, over = 0, False

    async def call() -> None:
        nonlocal made
        made += 1
        raise TimeoutError

    def told(_: object) -> None:
        nonlocal over
        over = True

    with pytest.raises(StoppedError):
        await with_retries(call, RetryPolicy(), stopping=lambda: True)
    assert made == 1
    # A wait that has begun is cut short, too.
    waits = RetryPolicy(first_wait=3600.0, longest_wait=3600.0)
    async with asyncio.timeout(30):
        with pytest.raises(StoppedError):
            await with_retries(call, waits, on_retry=told, stopping=lambda: over)
    assert made == 2
    # What would not be tried again anyway is said as it is.
    with pytest.raises(ModelError):
        await with_retries(refused, RetryPolicy(), stopping=lambda: True)


async def refused() -> None:
    raise ModelError("no")


def line_of(failure: CallFailure, attempts: int = 1, **policy: Any) -> str:
    return str(model_error(None, "openai/m", failure, RetryPolicy(**policy), attempts))


@pytest.mark.parametrize(
    ("asked", "longest", "said"),
    [
        (300.0, 300.0, "the server has too much to do"),
        (301.0, 300.0, "asks to wait 301 s, longer than 300 s"),
        (86_400.0, 1.0, "asks to wait 86400 s, longer than 1 s"),
        (86_401.0, 1.0, "asks to wait more than a day"),
        (None, 0.0, "the server has too much to do"),
    ],
)
def test_a_line_says_how_long_a_server_asks_to_wait(
    asked: float | None, longest: float, said: str
) -> None:
    assert said in line_of(CallFailure("rate", "no", 429, asked), longest_asked=longest)


@pytest.mark.parametrize(
    ("name", "seconds", "said"),
    [
        ("openai/m", 599.0, "no answer within 599 s; raise the attempt timeout"),
        ("openai/m", 600.0, ",max_tokens=1024 behind the model's name, or give it longer, by"
         " ,attempt_timeout=1200"),
        ("openai/m,max_tokens=501", 600.0, ",max_tokens=250 behind"),
        ("openai/m,max_tokens=2", 600.0, ",max_tokens=1 behind"),
        ("openai/m,max_tokens=1", 600.0, ",max_tokens=1024 behind"),
    ],
)  # fmt: skip
def test_no_answer_in_time_says_what_to_change(name: str, seconds: float, said: str) -> None:
    failure, policy = CallFailure("timeout", "no"), RetryPolicy(attempt_timeout=seconds)
    assert said in str(model_error(None, name, failure, policy, 1))


@pytest.mark.parametrize(
    ("failure", "attempts", "ends"),
    [
        (CallFailure("server", "boom", 500), 1, "(HTTP 500: boom)"),
        (CallFailure("server", "boom", 500), 2, "(HTTP 500, 2 attempts: boom)"),
        (CallFailure("garbled", "boom"), 4, "(garbled, 4 attempts: boom)"),
    ],
)
def test_a_line_says_how_often_it_was_tried(failure: CallFailure, attempts: int, ends: str) -> None:
    assert line_of(failure, attempts).endswith(ends)


@pytest.mark.parametrize(
    ("failure", "refused"),
    [
        (CallFailure("quota", "no", 429), True),
        (CallFailure("final", "no", 401), True),
        (CallFailure("final", "image input is not supported", 400), True),
        (CallFailure("final", "image input is not supported", 418), False),
        (CallFailure("server", "no", 500), False),
    ],
)
def test_what_every_further_call_would_end_in_is_a_refusal(
    failure: CallFailure, refused: bool
) -> None:
    made = model_error(None, "openai/m", failure, RetryPolicy(), 1)
    assert isinstance(made, ModelRefusedError) == refused


def test_a_servers_words_are_one_bounded_line() -> None:
    whole = classify_failure(StatusError(400, " a\n b "))
    assert whole is not None
    assert whole.text == "a b"
    cut = classify_failure(StatusError(400, "x" * 5_000))
    assert cut is not None
    assert cut.text == "x" * (len(cut.text) - 1) + "…"
    fits = classify_failure(StatusError(400, "x" * len(cut.text)))
    assert fits is not None
    assert fits.text == "x" * len(cut.text)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "the key was refused; check the API key"),
        (402, "the request was refused"),
        (403, "the key was refused"),
        (404, "no such model at its server; check the model's name and its base URL"),
        (405, "the request was refused"),
    ],
)
def test_a_refusal_says_what_to_check_and_a_name_or_key_is_not_asked_again(
    status: int, says: str
) -> None:
    made = model_error(None, "openai/m", CallFailure("final", "no", status), RetryPolicy(), 1)
    assert says in str(made)
    assert isinstance(made, ModelRefusedError) == (status in (401, 403, 404))


def test_an_address_behind_the_name_is_what_to_check_and_a_key_stays_a_key() -> None:
    name = "openai/m,base_url=http://localhost:1/v1"
    for failure, says in (
        (CallFailure("connection", "no"), "check base_url behind the model's name"),
        (CallFailure("final", "no", 401), "check the API key"),
    ):
        assert says in str(model_error(None, name, failure, RetryPolicy(), 1))


@pytest.mark.parametrize(
    ("status", "images"),
    [
        (399, False), (400, True), (401, False), (403, False), (404, True), (405, False),
        (421, False), (422, True), (423, False), (499, False), (500, True), (501, True),
        (502, False), (None, False),
    ],
)  # fmt: skip
def test_five_statuses_may_refuse_images(status: int | None, images: bool) -> None:
    assert (refused_ability(status, "image input is not supported") == "images") is images


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "busy"}}, "busy"),
        ({"message": "busy"}, "busy"),
        ({"error": {"message": 7}}, "no"),
        ({"error": "busy"}, "no"),
        ({"error": ["busy"]}, "no"),
        ("busy", "no"),
    ],
)
def test_a_servers_words_are_read_from_its_body(body: Any, said: str) -> None:
    error = StatusError(500)
    error.body = body  # type: ignore[attr-defined]
    failure = classify_failure(error)
    assert failure is not None
    assert failure.text == said


@pytest.mark.parametrize(
    ("base", "module", "name", "kind"),
    [
        (TimeoutError, "mine", "Slow", "timeout"),
        (Exception, "mine", "SlowTimeoutError", "timeout"),
        (Exception, "mine", "SlowConnectionError", "connection"),
        (Exception, "httpx._exceptions", "ReadError", "connection"),
        (Exception, "openai.errors", "Odd", "garbled"),
        (Exception, "mine", "Odd", None),
    ],
)
def test_an_error_is_known_by_its_kind_its_name_or_where_it_is_from(
    base: type[Exception], module: str, name: str, kind: str | None
) -> None:
    failure = classify_failure(type(name, (base,), {"__module__": module})("no"))
    assert (failure and failure.kind) == kind
