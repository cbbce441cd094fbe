"""The page of a comparison in a real Chromium: flips can be chosen, themes and widths hold, hostile text stays text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compare.fake_entrants import cases, number, store
from report.hostile import BREAKOUT, EVERYTHING, SCRIPT
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from salva.compare.comparing import compare_runs
from salva.compare.page import comparison_page
from salva.core.case import Case


def some(case: Case, repeat: int) -> bool:
    return number(case) < 2


def others(case: Case, repeat: int) -> bool:
    return 1 <= number(case) < 4


def _open(browser: webdriver.Chrome, folder: Path, of: list[Case], names: tuple[str, str] = ("old", "new")) -> None:
    rules = zip(names, (some, others), strict=True)
    runs = [store(folder / f"v{place}", {name: rule}, of) for place, (name, rule) in enumerate(rules)]
    path = folder / "comparison.html"
    path.write_text(comparison_page(compare_runs(runs)), "utf-8")
    browser.get(path.as_uri())


def _n_shown(browser: webdriver.Chrome) -> int:
    return len(browser.find_elements(By.CSS_SELECTOR, "article.exhibit:not([hidden])"))


def test_flips_are_chosen_by_direction_and_law(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path, cases(4))
    assert _n_shown(browser) == 10  # a page of twelve
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='got']")).select_by_value("better")
    assert _n_shown(browser) == 4
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='label:law']")).select_by_value("associative")
    assert _n_shown(browser) == 2
    assert not browser.get_log("browser")  # type: ignore[no-untyped-call]  # selenium has no types here


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes_and_widths(browser: webdriver.Chrome, tmp_path: Path, width: int, theme: str) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    _open(browser, tmp_path, cases(4))
    found = browser.execute_script("return document.documentElement.scrollWidth")
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found <= width
    bright = sum(int(part) for part in paper.removeprefix("rgb(").rstrip(")").split(","))
    assert (bright > 3 * 128) is (theme == "light")


def test_hostile_text_is_shown_and_never_run(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def spoilt(case: Case) -> Case:
        prompts = tuple(replace(prompt, text=EVERYTHING) for prompt in case.prompts)
        return replace(case, prompts=prompts, labels={**case.labels, "law": BREAKOUT}, category=SCRIPT + case.category)

    _open(browser, tmp_path, [spoilt(case) for case in cases(4)], (BREAKOUT, SCRIPT))
    assert browser.execute_script("return window.hacked") is None
    assert not browser.get_log("browser")  # type: ignore[no-untyped-call]  # as above
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 1
