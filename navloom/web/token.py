"""What a page must know to be answered: one of this user's, so that links work after a restart."""

from __future__ import annotations

import contextlib
import os
import re
import secrets

from navloom.disk_cache import TOKEN_FILE, cache_folder
from navloom.errors import UsageError
from navloom.models.secrets import remember

_SOUND = re.compile(r"[A-Za-z0-9_-]{16,200}")


def sound_token(token: str) -> str:
    """A token that was given, where it can stand in an address.

    Raises:
        UsageError: it is short, long, or holds other characters; it is not repeated.
    """
    if not _SOUND.fullmatch(token):
        raise UsageError("--token: expected 16 to 200 letters, digits, - and _")
    remember(token, "token")
    return token


def kept_token() -> str:
    """This user's token, made where there is none; one for this process where it cannot be kept."""
    path = cache_folder() / TOKEN_FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="ascii").strip()
        # What others could read is no secret any more.
        if _SOUND.fullmatch(kept) and not path.stat().st_mode & 0o077:
            return sound_token(kept)
    made = secrets.token_urlsafe(24)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(made)
    return sound_token(made)
