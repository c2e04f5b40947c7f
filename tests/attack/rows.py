"""All attacks, in the order of the table in docs/testing.md."""

from __future__ import annotations

from tests.attack import inputs, keys, mutations, replies, touched, words
from tests.attack.attack import Attack

ATTACKS: tuple[Attack, ...] = (
    *keys.ATTACKS,
    *replies.ATTACKS,
    *words.ATTACKS,
    *inputs.ATTACKS,
    *touched.ATTACKS,
    *mutations.ATTACKS,
)
