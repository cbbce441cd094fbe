"""Python in README and in the how-to about it runs as it is printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def run_page(page: Path, instead: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Everything a page's Python leaves behind, its blocks run one after the other.

    instead: what would take too long here, or a download, and what stands in its place.
    """
    text = page.read_text(encoding="utf-8")
    for printed, ours in (instead or {}).items():
        assert printed in text
        text = text.replace(printed, ours)
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks, f"{page.name} has no Python"
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    return names


def test_the_how_to_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    left = run_page(ROOT / "docs" / "how-to" / "use-from-python.md")
    assert set(left["run"].verdicts["model"]) == {"mine", "drawn"}
    assert len(list((tmp_path / "runs").iterdir())) == 4


def test_the_readme_gives_the_report_s_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    left = run_page(ROOT / "README.md", {'"paper"': "20"})
    rates = left["leading"].groupby("label.law")["is_fail"].mean()
    table = left["run"].summary.by_model[0].table("by law")
    law, rate = table.columns.index("law"), table.columns.index("rate")
    shown = {row[law]: row[rate] for row in table.rows if row[law] in rates.index}
    assert len(shown) == len(rates) == 5
    assert {name: pytest.approx(value) for name, value in shown.items()} == rates.to_dict()
    assert 0 < rates.mean() < 1
