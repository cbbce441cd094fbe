"""Shares of cases: how they are written, and that together they are all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.shard import Shard
from salva.errors import UsageError


@pytest.mark.parametrize(
    "text", ["", "3", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1 / 2", "a/b", "01/2", "¹/2", "1/" + "9" * 9]
)
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--shard .*\[option-invalid\]"):
        Shard.parse(text)


@given(st.integers(1, 50), st.integers(0, 10_000))
def test_every_position_is_in_one_share(n: int, position: int) -> None:
    holders = [index for index in range(1, n + 1) if Shard.parse(f"{index}/{n}").holds(position)]
    assert len(holders) == 1


@given(st.integers(1, 999))
def test_writing_undoes_reading(n: int) -> None:
    shard = Shard(index=(n + 1) // 2, n=n)
    assert Shard.parse(str(shard)) == shard
