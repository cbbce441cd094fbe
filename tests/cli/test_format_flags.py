"""Formats of export and import: listed from the registry, their options as flags, mistakes named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner
from report.fake_runs import random_run, store_run

from salva import registry
from salva.cli.main import salva
from salva.core.exchange import ExportCount
from salva.core.options import option
from salva.core.source import RunSource
from salva.errors import UsageError


class Counted:
    """A file: how many verdicts there are."""

    version: ClassVar[str] = "1"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What can be chosen."""

        times: int = option(1, "How often to count each.")
        loud: bool = option(False, "Whether to shout.")

    def __init__(self, options: Options) -> None:
        self._options = options

    def write(self, source: RunSource, out: Path) -> ExportCount:
        n = len(source.records.verdicts) * self._options.times
        out.write_text(f"{n}{'!' if self._options.loud else ''}")
        return ExportCount(n=n, what="counts")


def _export(*arguments: str) -> str:
    done = CliRunner().invoke(salva, ["export", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_format_of_a_plugin_is_listed_and_its_options_are_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What `salva export` offers is read when the command is loaded, so the command is loaded anew.
    import importlib

    from salva.cli import export_command

    registered = {**registry.BUILT_IN, "exporter": {"counted": registry.BuiltIn(source=f"{__name__}:Counted")}}
    try:
        with monkeypatch.context() as patch:
            patch.setattr(registry, "BUILT_IN", registered)
            importlib.reload(export_command)
            records, images = random_run(n_entities=2)
            store_run(tmp_path / "run", records, images)
            out = tmp_path / "n.txt"
            told = _export(str(tmp_path / "run"), "--as", "counted", "-o", str(out), "--times", "2", "--loud")
            assert told == f"{2 * len(records.verdicts)} counts in {out}\n"
            assert out.read_text() == f"{2 * len(records.verdicts)}!"
            shown = _export("--help")
            assert "A file: how many verdicts there are." in shown
            assert "counted: how often to count each." in shown
    finally:
        importlib.reload(export_command)


def test_every_format_stands_in_the_help_with_what_it_is() -> None:
    shown = " ".join(_export("--help").split())
    for entry in registry.entries("exporter"):
        sentence = entry.summary or (registry.load("exporter", entry.name).__doc__ or "").partition("\n")[0]
        assert f"{entry.name} {sentence}" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--as", "cvs", "-o", "x"], "no export format named 'cvs'.*Did you mean 'csv'"),
        (["--as", "csv", "-o", "x", "--min-score", "0.5"], r"\[flag-unrelated\]"),
        (["--as", "sft", "-o", "x", "--filter", "none", "--max-asymmetry", "0.2"], "nowhere"),
    ],
)
def test_a_mistake_in_an_export_is_named(arguments: list[str], complaint: str) -> None:
    done = CliRunner().invoke(salva, ["export", "nowhere", *arguments])
    assert done.exception is not None
    with pytest.raises(Exception, match=complaint):
        raise done.exception


def test_a_mistake_in_an_import_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("x\n1\n")
    given = [str(tmp_path / "r.csv"), "--out", str(tmp_path / "run")]
    for arguments, complaint in (
        (["--as", "rating"], "no import format named 'rating'.*Did you mean 'ratings'"),
        (["--as", "tifa-lite", "--rater", "who"], r"\[flag-unrelated\]"),
        (["--as", "ratings", "--scale", "cosine"], r"\[flag-unrelated\]"),
    ):
        done = CliRunner().invoke(salva, ["import", *given, *arguments])
        assert isinstance(done.exception, UsageError)
        with pytest.raises(UsageError, match=complaint):
            raise done.exception


def test_an_installed_format_can_be_a_loose_class_by_its_methods() -> None:
    entry = registry.add_loose_plugin(f"{__file__}:Counted")
    assert (entry.role, entry.name) == ("exporter", "counted")
