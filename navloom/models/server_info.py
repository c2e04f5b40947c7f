"""Information about a model server, as it reports it: kind, model and context length."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from navloom.models.model_spec import is_address, public_address

_SECONDS = 3.0
_MOST_BYTES = 1_000_000
_MOST_NAME = 80
_KINDS = {"llamacpp": "llama.cpp", "vllm": "vLLM"}
"""Values of ``owned_by`` in a server's list of models, with the server's name."""
HOLDS = {
    "vLLM": "holds tools, their choice and answers to their schemas, by most tool-call parsers",
    "llama.cpp": "holds an answer to its schema, but lets a model write prose where a tool is"
    " required",
}
"""How far each kind of server enforces tools and schemas, as tested."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Information that a server reported of itself.

    Attributes:
        address: its address, without secrets.
        kind: "vLLM", "llama.cpp", or None if it is another one or does not say.
        serves: its first model's name; None if it names none.
        context: tokens of that model's context, if reported.
        fault: why there is no information, if so.
    """

    address: str
    kind: str | None = None
    serves: str | None = None
    context: int | None = None
    fault: str | None = None


def ask_server(url: str, key: str = "") -> ServerInfo:
    """Return what a chat completions server reports of its models; nothing is raised.

    Args:
        url: its address, which ends in /v1.
        key: for its Authorization header; "" sends none.
    """
    # Imported late: they load ssl and email, which are not needed without a query.
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    where = public_address(url).rstrip("/")
    if not is_address(url):
        return ServerInfo(where, fault="no address, such as http://localhost:8000/v1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        asked = Request(f"{where}/models", headers=headers)  # noqa: S310
        # No proxy of the environment may answer in the server's place.
        with build_opener(ProxyHandler({}), Stay).open(asked, timeout=_SECONDS) as reply:
            text, server = reply.read(_MOST_BYTES), str(reply.headers.get("Server", ""))
        said = json.loads(text)
    except HTTPError as error:
        return ServerInfo(where, fault=f"HTTP {error.code} to a question for its models")
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(getattr(error, "reason", None) or error).split())[:200]
        return ServerInfo(where, fault=why or type(error).__name__)
    return _read(where, said, server)


def _read(where: str, said: Any, server: str) -> ServerInfo:
    listed = said.get("data") if isinstance(said, Mapping) else None
    first = listed[0] if isinstance(listed, list) and listed else {}
    about: Mapping[str, Any] = first if isinstance(first, Mapping) else {}
    meta = about.get("meta") if isinstance(about.get("meta"), Mapping) else {}
    found = about.get("max_model_len") or (meta or {}).get("n_ctx")
    kind = _KINDS.get(str(about.get("owned_by")))
    name = "".join(letter for letter in str(about.get("id") or "") if letter.isprintable())
    return ServerInfo(
        where,
        kind or ("llama.cpp" if server == "llama.cpp" else None),
        name[:_MOST_NAME] or None,
        found if isinstance(found, int) and not isinstance(found, bool) else None,
    )
