"""No key leaves: whole, cut, in pieces, or in the forms it travels in."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salva.core import secrets
from salva.core.secrets import cut, redact, redacted

AROUND = ["", "x", "sk-", "key: ", "\n"]
KEY = "sk-proj-Zq81xLmP0vT7uYc3RkWb5NfGh2JdSaE94"


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize("form", [KEY, quote(f"a/b {KEY}"), json.dumps({"key": KEY}), f"Bearer {KEY}!"])
def test_a_key_is_redacted_in_every_form(form: str) -> None:
    assert KEY not in redact(form)
    assert "[OPENAI_API_KEY]" in redact(form)


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "anna:"])
@pytest.mark.parametrize("after", ["", "x", "yz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_redacted_in_base64_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    key = "sk-\u00ff\u00fe>>>???~~~-0123456789-" + KEY[::-1]
    monkeypatch.setenv("OTHER_API_KEY", key)
    for secret in (KEY, key):
        text = encode(f"{before}{secret}{after}".encode()).decode()
        left = redact(f"Basic {text}.")
        pieces = {text[start : start + 8] for start in range(7, len(text) - 14)}
        assert not [piece for piece in pieces if piece in left]
        assert len(left.replace("[OPENAI_API_KEY]", "").replace("[OTHER_API_KEY]", "")) < 25, left


@given(
    start=st.integers(0, len(KEY) - 8),
    length=st.integers(8, len(KEY)),
    around=st.sampled_from(["", "x", "sk-", "key: ", "\n", KEY[:7], KEY[-7:]]),
)
def test_no_piece_of_eight_characters_is_left(start: int, length: int, around: str) -> None:
    text = redact(f"{around}{KEY[start : start + length]}{around}")
    assert not any(KEY[i : i + 8] in text for i in range(len(KEY) - 7))


SPELLED = {
    "hex": KEY.encode().hex(),
    "hex by bytes": KEY.encode().hex(" "),
    "hex as C writes it": "".join(f"\\x{byte:02X}" for byte in KEY.encode()),
    "hex as lists write it": ", ".join(map(hex, KEY.encode())),
    "hex backwards": KEY.encode().hex()[::-1],
    "backwards": KEY[::-1],
    "backwards, in hex": KEY[::-1].encode().hex(),
    "backwards, with dashes": "-".join(KEY[::-1]),
    "with blanks": " ".join(KEY),
    "in lines": "\n".join(KEY[at : at + 5] for at in range(0, len(KEY), 5)),
    "with nothing to be seen": "\u200b".join(KEY),
    "in capitals": KEY.upper(),
}


@pytest.mark.parametrize("spelling", SPELLED)
def test_a_long_key_is_redacted_however_it_is_spelled(spelling: str) -> None:
    left = redact(f"The key is <{SPELLED[spelling]}>, said the server.")
    assert left.startswith("The key is <")
    assert left.endswith(">, said the server.")
    assert "[OPENAI_API_KEY]" in left
    assert len(left) < 60


@given(
    start=st.integers(0, len(KEY) - 20),
    length=st.integers(20, len(KEY)),
    between=st.sampled_from(["", " ", "-", "::", "\n", "\u200b", ". "]),
    is_backwards=st.booleans(),
    is_hex=st.booleans(),
    before=st.sampled_from(["", "abc ", "0x", "\u00e4\u00f6 ", "f"]),
)
def test_no_long_piece_of_a_spelling_is_left(
    start: int, length: int, between: str, is_backwards: bool, is_hex: bool, before: str
) -> None:
    piece = KEY[start : start + length][:: -1 if is_backwards else 1]
    parts = [f"{byte:02x}" for byte in piece.encode()] if is_hex else list(piece)
    left = redact(f"{before}{between.join(parts)}")
    rest = "".join(character for character in left.replace("[OPENAI_API_KEY]", "") if character.isalnum())
    assert "[OPENAI_API_KEY]" in left
    assert len(rest) < 20, left


HEX_BETWEEN = ["", " ", ":", "x", " 0x", "0x", "\\x", "\\u00", "\\u", "0x00", "00", "h, ", ";&#x", "%"]
SIGNS = ["", " ", "-", "_", "::", "\n", ". ", "\u200b", "+/="]


def _as_hex(content: bytes, between: str) -> str:
    return between + between.join(f"{byte:02X}" for byte in content)


@given(
    key=st.sampled_from(["sk-proj-P0pKz81Lm0Qx7TwVh3NbR5ycD2eA", KEY, "a0-b1_c2.d3~e4-F5-Gg6_hH7-pP0-0p@qQs"]),
    start=st.integers(0, 20),
    length=st.integers(15, 36),
    spelling=st.sampled_from(["signs", "backwards", "hex", "base64", "base64 thrice"]),
    between=st.sampled_from(SIGNS),
    hex_between=st.sampled_from(HEX_BETWEEN),
    around=st.sampled_from(["", "7", "abc ", "0x1 2", "\u00e4 ", "00 ff", "1 "]),
    width=st.integers(3, 76),
)
@settings(max_examples=400)
def test_fifteen_characters_of_a_key_in_a_row_never_survive(
    key: str, start: int, length: int, spelling: str, between: str, hex_between: str, around: str, width: int
) -> None:
    piece = key[start : start + length]
    base64_text = base64.b64encode((piece * (3 if spelling.endswith("thrice") else 1)).encode()).decode()
    lines = f"{between}\n".join(base64_text[at : at + width] for at in range(0, len(base64_text), width))
    forms = {"signs": between.join(piece), "backwards": between.join(piece[::-1])}
    forms |= {"hex": _as_hex(piece.encode(), hex_between), "base64": lines, "base64 thrice": lines}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", key)
        left = redact(f"{around}{forms[spelling]}{around}")
    assert "[OPENAI_API_KEY]" in left
    rest = "".join(filter(str.isalnum, left.replace("[OPENAI_API_KEY]", "").replace(around, "")))
    # Fifteen of a key are nine letters and digits at least; base64 has one or two across what is side by side.
    assert len(rest) < 9, left


@pytest.mark.parametrize("between", [*HEX_BETWEEN, "0X"])
def test_hexadecimal_marks_are_told_from_a_zero_before_them(monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "P0p@0PPp0`Pp`pP0@q7Zr")
    assert redact(between.join(f"{byte:02x}" for byte in b"P0p@0PPp0`Pp`pP0")) == "[OPENAI_API_KEY]"


def test_a_log_of_megabytes_is_searched_at_once() -> None:
    log = (
        f"{'an answer of a judge with a reason, 0x12 at 3.14; ' * 40_000}{base64.encodebytes(bytes(500_000)).decode()}"
    )
    began = time.process_time()
    assert redact(log) == log
    assert time.process_time() - began < 2.0


def test_a_short_key_is_looked_for_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT_KEY", "fifteen-letters")
    assert redact("srettel-neetfif") == "srettel-neetfif"
    assert redact("fifteen-letters") == "[SHORT_KEY]"


def test_a_variable_that_the_user_names_holds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_WATCHED", {})
    monkeypatch.setenv("MY_SERVER", "correct-horse-battery")
    assert redact("correct-horse-battery") == "correct-horse-battery"
    secrets.watch("MY_SERVER")
    assert redact("correct-horse-battery") == "[MY_SERVER]"


def test_what_is_cut_is_redacted_first() -> None:
    assert "sk-proj-Z" not in cut(f"{'x' * 280} {KEY}", 300)
    assert len(cut("y" * 500, 300)) == 300


def test_basic_authentication_and_passwords_in_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A1111_API_KEY", "anna:correct-horse")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:battery-staple@host/v1?api_key=query-secret-1")
    header = base64.b64encode(b"anna:correct-horse").decode()
    text = redact(f"correct-horse {header} battery-staple query-secret-1 host")
    for secret in ("correct-horse", header, "battery-staple", "query-secret-1"):
        assert secret not in text
    assert "host" in text


def test_numbers_stay_numbers_and_innocent_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "12345678901234567890")
    value = redacted({"score": 0.12345678, "list": [1, 2.5, "a 123456789012"], KEY: None})
    assert value == {"score": 0.12345678, "list": [1, 2.5, "a [MY_TOKEN]"], "[OPENAI_API_KEY]": None}
    innocent = "a cat left of two dogs; the sky is blue"
    assert redact(innocent) == innocent


def test_what_holds_no_key_is_not_searched_for_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly every text that is stored is innocent, and thousands a second are."""
    searched: list[str] = []

    def search(text: str, _: object) -> str:
        searched.append(text)
        return text

    monkeypatch.setattr(secrets, "_less_pieces", search)
    innocent = "an answer of a judge with a reason " * 60
    assert redact(innocent) == innocent
    assert searched == []
    redact(f"{innocent}{KEY}")
    assert searched


@pytest.mark.parametrize("n_around", [0, 5, 500])
@pytest.mark.parametrize("secret", ["short-one", KEY, KEY[:8], KEY[11:19], KEY[-8:]])
def test_a_key_is_noticed_in_short_and_long_texts(monkeypatch: pytest.MonkeyPatch, secret: str, n_around: int) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "short-one")
    text = redact(f"{'.' * n_around}{secret}{'.' * n_around}")
    assert secret not in text
    assert text.count(".") == 2 * n_around


def test_a_key_counts_from_when_it_is_there_until_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATE_SECRET", "correct-horse")
    assert redacted(["correct-horse"]) == ["[LATE_SECRET]"]
    monkeypatch.setenv("LATE_SECRET", "battery-staple")
    assert redacted(["correct-horse", "battery-staple"]) == ["correct-horse", "[LATE_SECRET]"]
    monkeypatch.delenv("LATE_SECRET")
    assert redacted(["battery-staple"]) == ["battery-staple"]


def test_a_key_has_six_characters_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIX_TOKEN", "abc123")
    monkeypatch.setenv("FIVE_TOKEN", "zyx98")
    assert redact("abc123 zyx98") == "[SIX_TOKEN] zyx98"
