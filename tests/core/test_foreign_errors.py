"""What components raise, in words that name them and keep no secret."""

from __future__ import annotations

import json
import re
import traceback

import pytest

from salva.core.foreign_errors import describe_error, one_line, plugin_errors, translate_errors
from salva.errors import BackendError, PluginError, UsageError


def test_whoever_breaks_is_named_with_its_own_words_and_its_cause() -> None:
    cause = KeyError("modifier")
    with pytest.raises(PluginError) as caught, plugin_errors("the suite 'mine'", "broke off"):
        raise cause
    pattern = r"the suite 'mine' .*KeyError: 'modifier' \(in test_foreign_errors.py line \d+\)\. \[component-failed\]"
    assert re.fullmatch(pattern, str(caught.value)), "the line of their own code"
    assert caught.value.__cause__ is cause


def test_our_own_errors_and_interrupts_go_through() -> None:
    with pytest.raises(UsageError, match="as it is"), plugin_errors("the suite 'mine'", "broke off"):
        raise UsageError("as it is")
    with pytest.raises(KeyboardInterrupt), plugin_errors("the suite 'mine'", "broke off"):
        raise KeyboardInterrupt


def test_a_long_message_is_cut_to_one_line() -> None:
    assert one_line(ValueError("a\n" + "b" * 400)) == "a " + "b" * 298
    assert one_line(ValueError("a\tb"), most=2) == "a "


def test_nothing_happens_where_nothing_breaks() -> None:
    with plugin_errors("the suite 'mine'", "broke off"):
        pass


def test_a_secret_is_neither_told_nor_printed_with_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "s3cret-value")
    with pytest.raises(PluginError) as caught, plugin_errors("the model 'm'", "failed"):
        raise RuntimeError("no answer") from OSError("cannot reach https://host/?key=s3cret-value")
    printed = "".join(traceback.format_exception(caught.value))
    assert "s3cret-value" not in printed
    assert str(caught.value).startswith(
        "the model 'm' failed: RuntimeError: no answer (in test_foreign_errors.py line "
    )
    assert describe_error(ValueError("s3cret-value")) == "ValueError: [PLANTED_TOKEN]"


def test_what_a_library_raises_is_translated_and_some_of_it_left_as_it_is() -> None:
    def translate(error: Exception) -> Exception:
        return error if isinstance(error, MemoryError) else BackendError(f"it said {error}")

    with pytest.raises(BackendError, match="it said no"), translate_errors(translate):
        raise ValueError("no")
    with pytest.raises(MemoryError) as caught, translate_errors(translate):
        raise MemoryError("too large")
    assert caught.value.__cause__ is None


def test_a_line_of_a_library_is_nobodys_own() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # from where this file called it
    assert describe_error(error).endswith("(char 1)")
