"""The HTML report in a real Chromium: filters work, and hostile text stays text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from report.fake_runs import FakeImages, make_case, make_verdict, random_run
from report.hostile import EVERYTHING, hostile_run
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from salva.core.case import Case, Prompt
from salva.core.printable import printable
from salva.core.source import QuestionAnswer, RunRecords, Seen
from salva.core.verdict import Failure, Outcome, Verdict
from salva.report.html import render_html


def _open(browser: webdriver.Chrome, path: Path, page: str) -> None:
    path.write_text(page, "utf-8")
    browser.get(path.as_uri())


@cache
def _page(limit: int, **of: Any) -> str:
    """The report of a random run: drawn once for all who look at it."""
    records, images = random_run(**of)
    return render_html(records, images, limit=limit)


def _console(browser: webdriver.Chrome) -> list[object]:
    return list(browser.get_log("browser"))  # type: ignore[no-untyped-call]  # selenium has no types here


def _shown(browser: webdriver.Chrome) -> list[str]:
    cards = browser.find_elements(By.CSS_SELECTOR, "article.exhibit:not([hidden])")
    return [card.find_element(By.CSS_SELECTOR, ".copy code").text for card in cards]


def _run(*verdicts: Verdict, cases: tuple[Case, ...]) -> RunRecords:
    primaries = {verdict.case_id: verdict.check for verdict in verdicts}
    return RunRecords(cases=cases, verdicts=verdicts, primaries=primaries, is_whole=True)


def test_filters_pages_boxes_and_search(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path / "report.html", _page(80))
    assert not _console(browser), "the page's own policy must not stop its own style or script"
    first = _shown(browser)
    assert len(first) == 6
    browser.find_element(By.CSS_SELECTOR, "#pager [data-step='1']").click()
    assert len(_shown(browser)) == 6
    assert not set(first) & set(_shown(browser))
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='label:law']")).select_by_value("de-morgan")
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='label:modifier']")).select_by_value("x")
    assert _shown(browser)
    assert all("de-morgan-x" in name for name in _shown(browser))
    browser.find_element(By.ID, "search").send_keys("banana")
    assert all("banana" in name for name in _shown(browser))
    browser.find_element(By.ID, "reset").click()
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='failure_type']")).select_by_value(
        "optical-character"
    )
    chips = browser.find_elements(By.CSS_SELECTOR, "article.exhibit:not([hidden]) .chips")
    assert chips
    assert all("optical-character" in chip.text for chip in chips)
    overlay = browser.find_element(By.CSS_SELECTOR, ".featured svg.boxes")
    assert overlay.is_displayed()
    browser.execute_script("document.getElementById('boxes').click()")
    assert not overlay.is_displayed()


def _mark(browser: webdriver.Chrome, *tags: str) -> WebElement:
    """The first mark of a chart, as shown at this width, that chooses by these tags."""
    marks = browser.find_elements(By.CSS_SELECTOR, ".chart .mark")
    mark = next(
        mark for mark in marks if mark.get_dom_attribute("data-tags") == "\n".join(tags) and mark.is_displayed()
    )
    # Not under the bar that stays at the top of the page.
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    return mark


def _chosen(browser: webdriver.Chrome, name: str) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, f"select[data-filter='{name}']").get_property("value"))


def test_a_heat_cell_chooses_its_counterexamples(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path / "report.html", _page(80))
    _mark(browser, "label:law\tcomplement", "label:modifier\ty").click()
    assert _shown(browser)
    assert all("complement-y" in name for name in _shown(browser))
    assert (_chosen(browser, "label:law"), _chosen(browser, "label:modifier")) == ("complement", "y")
    _mark(browser, "label:modifier\tor").click()
    assert (_chosen(browser, "label:law"), _chosen(browser, "label:modifier")) == ("", "or"), "a sum chooses less"
    assert all("-or-" in name for name in _shown(browser))
    assert len(browser.find_elements(By.CSS_SELECTOR, ".mark.chosen")) == 1


def test_a_bar_is_reached_and_chosen_by_keyboard(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path / "report.html", _page(80))
    for key in (Keys.ENTER, Keys.SPACE):
        browser.find_element(By.ID, "reset").click()
        error = _mark(browser, "failure_type\toptical-character")
        browser.execute_script("arguments[0].focus()", error)
        assert browser.switch_to.active_element == error
        outline = "return getComputedStyle(arguments[0].querySelector('rect')).stroke"
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        assert browser.switch_to.active_element != error
        assert browser.execute_script(outline, browser.switch_to.active_element) != "none", "the focus can be seen"
        ActionChains(browser).send_keys(Keys.TAB).send_keys(key).perform()
        assert _chosen(browser, "failure_type") == "optical-character"
    chips = browser.find_elements(By.CSS_SELECTOR, "article.exhibit:not([hidden]) .chips")
    assert chips
    assert all("optical-character" in chip.text for chip in chips)


def test_what_no_list_offers_is_chosen_all_the_same_and_can_be_undone(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    """A suite of one's own: categories have no list, and a category may have no counterexample in the file."""
    cases = tuple(make_case(f"case-{n}", suite="mine", category=("plain", "fancy", "fine")[n % 3]) for n in range(9))
    verdicts = tuple(
        make_verdict(case.case_id, Outcome.PASS if case.category == "fine" else Outcome.FAIL) for case in cases
    )
    _open(browser, tmp_path / "report.html", render_html(_run(*verdicts, cases=cases), FakeImages()))
    counter = browser.find_element(By.ID, "counter")
    _mark(browser, "category\tfancy").click()
    assert sorted(_shown(browser)) == ["case-1", "case-4", "case-7"]
    assert counter.text == "3 of 6 match, category fancy"
    _mark(browser, "category\tfine").click()
    assert _shown(browser) == []
    browser.find_element(By.ID, "reset").click()
    assert len(_shown(browser)) == 6


def test_what_is_chosen_stands_in_the_address_and_comes_back_with_it(browser: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    _open(browser, path, _page(80))
    assert "#" not in browser.current_url
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='failure_type']")).select_by_value(
        "entity-omission"
    )
    browser.find_element(By.ID, "search").send_keys("cat")
    browser.execute_script("document.getElementById('boxes').click()")
    browser.find_element(By.CSS_SELECTOR, "#pager [data-step='1']").click()
    chosen, address = _shown(browser), browser.current_url
    assert chosen
    assert browser.execute_script("return scrollY"), "the page of the list that was asked for is in sight"
    browser.find_element(By.CSS_SELECTOR, "nav a[href='#tables']").click()
    assert browser.current_url == address, "a section does not take the place of what is chosen"
    browser.refresh()
    assert _shown(browser) == chosen
    browser.get("about:blank")
    browser.get(address)
    assert _shown(browser) == chosen
    assert _chosen(browser, "failure_type") == "entity-omission"
    assert browser.find_element(By.ID, "search").get_property("value") == "cat"
    assert not browser.find_element(By.CSS_SELECTOR, ".featured svg.boxes").is_displayed()
    browser.find_element(By.ID, "reset").click()
    assert len(_shown(browser)) == 6
    browser.get("about:blank")
    browser.get(f"{path.as_uri()}#category=nothing-of-the-kind&search=%3Cscript%3E&page=x")
    assert _shown(browser) == []
    assert "category nothing-of-the-kind" in browser.find_element(By.ID, "counter").text
    assert not _console(browser)


@pytest.mark.parametrize("models", [("painter",), ("painter", "other")])
def test_every_case_has_a_link_that_opens_it(
    browser: webdriver.Chrome, tmp_path: Path, models: tuple[str, ...]
) -> None:
    path = tmp_path / "report.html"
    _open(browser, path, _page(80, n_entities=3, models=models))
    cards = browser.find_elements(By.CSS_SELECTOR, "article.exhibit")
    anchors = [str(card.get_dom_attribute("id")) for card in cards]
    assert len(set(anchors)) == len(anchors) > 20
    last = cards[-1]
    assert not last.is_displayed(), "it is on a later page of the list"
    assert last.find_element(By.CSS_SELECTOR, ".copy a").get_dom_attribute("href") == f"#{anchors[-1]}"
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='label:law']")).select_by_index(1)
    browser.get("about:blank")
    browser.get(f"{path.as_uri()}#{anchors[-1]}")
    opened = browser.find_element(By.ID, anchors[-1])
    assert opened.is_displayed()
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", opened)
    bars = (
        "return Math.max(...[...document.querySelectorAll('nav, .filters')].map(e => e.getBoundingClientRect().bottom))"
    )
    assert browser.execute_script(bars) <= top < browser.execute_script("return innerHeight"), "in sight, under no bar"
    # From one case to another, as a link in a mail would; and one that is not in this file is told.
    browser.execute_script(f"location.hash = {anchors[0]!r}")
    WebDriverWait(browser, 10).until(lambda _: browser.find_element(By.ID, anchors[0]).is_displayed())
    browser.execute_script("location.hash = 'case-of-another-run'")
    counter = browser.find_element(By.ID, "counter")
    WebDriverWait(browser, 10).until(lambda _: counter.text == f"of-another-run is not among the {len(cards)} here")
    assert not _console(browser)


def test_with_several_models_a_mark_chooses_its_model_too(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path / "report.html", _page(200, n_entities=3, models=("painter", "other")))
    second = browser.find_elements(By.CSS_SELECTOR, "section.model")[1]
    tags = "label:law\tde-morgan\nlabel:modifier\tand"
    marks = second.find_elements(By.CSS_SELECTOR, ".roomy .mark")
    next(mark for mark in marks if mark.get_dom_attribute("data-tags") == tags).click()
    assert (_chosen(browser, "model"), _chosen(browser, "label:law")) == ("other", "de-morgan")
    cards = browser.find_elements(By.CSS_SELECTOR, "article.exhibit:not([hidden])")
    assert cards
    for card in cards:
        sides = card.find_elements(By.CSS_SELECTOR, "section[data-side]")
        assert any("model\tother" in str(side.get_dom_attribute("data-side")).split("\n") for side in sides)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_take_the_colours_of_the_theme(browser: webdriver.Chrome, tmp_path: Path, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    _open(browser, tmp_path / "report.html", _page(2, n_entities=2))
    computed = "return getComputedStyle(document.querySelector('.chart .roomy text')).fill"
    red, green, blue = map(int, re.findall(r"\d+", browser.execute_script(computed))[:3])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert (red + green + blue > 3 * 128) is (theme == "dark")


@pytest.mark.parametrize(("width", "kind"), [(390, "narrow"), (700, "roomy"), (1280, "roomy")])
def test_each_width_has_its_drawing_with_words_one_can_read(
    browser: webdriver.Chrome, tmp_path: Path, width: int, kind: str
) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    _open(browser, tmp_path / "report.html", _page(2, n_entities=2))
    browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    shown = [svg for svg in browser.find_elements(By.CSS_SELECTOR, ".chart svg") if svg.is_displayed()]
    kinds = {str(svg.get_dom_attribute("class")) for svg in shown}
    heights = browser.execute_script(
        "return [...document.querySelectorAll('.chart text')].map(text => text.getBoundingClientRect().height)"
    )
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert kind in kinds
    assert len(shown) == len(browser.find_elements(By.CSS_SELECTOR, ".chart"))
    assert min(height for height in heights if height) >= 10, "letters of about 9 pixels at least"


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_the_page_never_scrolls_sideways(browser: webdriver.Chrome, tmp_path: Path, width: int) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    _open(browser, tmp_path / "report.html", _page(10))
    found = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found <= width


def test_hostile_text_is_shown_and_never_run(browser: webdriver.Chrome, tmp_path: Path) -> None:
    records, images = hostile_run()
    _open(browser, tmp_path / "report.html", render_html(records, images))
    assert browser.execute_script("return window.hacked") is None
    assert not _console(browser), "nothing was even tried"
    card = browser.find_element(By.CSS_SELECTOR, "article.exhibit")
    shown = browser.execute_script("return arguments[0].textContent", card.find_element(By.TAG_NAME, "q"))
    assert shown == printable(EVERYTHING)
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 1
    browser.find_element(By.ID, "search").send_keys("<script>")
    assert _shown(browser) == ["case-1"]


def test_what_the_judge_was_asked_can_be_read_under_narrow_pictures(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Three pictures stand beside each other; a long answer must not squeeze its question to a letter a line."""
    prompts = tuple(Prompt(role=role, text=f"Four slices of bacon for one egg, {role}") for role in ("a", "pv", "pi"))
    case = Case(case_id="sv-1", suite="mine", category="counting", prompts=prompts, checks=("semantic-effect",))
    answered = QuestionAnswer(question="One slice of bacon for four eggs.", answer="objects 47.5, checks 25")
    failure = Failure(failure_type="insensitive", role="", message="the picture hardly changes")
    verdict = make_verdict(
        "sv-1",
        Outcome.FAIL,
        check="semantic-effect",
        errors=("insensitive",),
        failures=(failure,),
        images={"a": "1", "pv": "2", "pi": "3"},
    )
    images = FakeImages(seen_in={name: Seen(answers=(answered,)) for name in "123"})
    _open(browser, tmp_path / "report.html", render_html(_run(verdict, cases=(case,)), images))
    browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    questions = browser.find_elements(By.CSS_SELECTOR, "#gallery .answers dt")
    assert len(questions) == 3
    assert all(question.size["width"] > 100 for question in questions)
    assert browser.find_element(By.CSS_SELECTOR, "#gallery .say").text == "the picture hardly changes"


def test_a_picture_by_itself_fills_its_card_and_nothing_there_is_a_pair(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    prompts = (Prompt(role="a", text="two dogs"),)
    case = Case(case_id="p-1", suite="prompts", category="formulas", prompts=prompts, checks=("truth",))
    failure = Failure(failure_type="entity-omission", role="a", message="1 dog where the prompt asks for 2")
    verdict = make_verdict(
        "p-1", Outcome.FAIL, check="truth", errors=("entity-omission",), failures=(failure,), images={"a": "1"}
    )
    page = render_html(_run(verdict, cases=(case,)), FakeImages())
    assert "1 of 1 case" in page
    assert "of 1 pair" not in page
    _open(browser, tmp_path / "report.html", page)
    card = browser.find_element(By.CSS_SELECTOR, "#gallery .exhibit")
    assert browser.find_element(By.CSS_SELECTOR, "#gallery .frame").size["width"] > 0.8 * card.size["width"]


def test_several_models_side_by_side_and_only_where_they_differ(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, tmp_path / "report.html", _page(120, n_entities=3, models=("painter", "other")))
    assert not _console(browser)

    def cards(*, what: str = "") -> list[WebElement]:
        return browser.find_elements(By.CSS_SELECTOR, f"article.lineup:not([hidden]) {what}".strip())

    everyone = browser.find_elements(By.CSS_SELECTOR, "article.lineup")
    alike = [card for card in everyone if not card.get_dom_attribute("data-tags")]
    assert alike
    assert len(alike) < len(everyone)
    assert len(cards(what="section.side")) == 2 * len(cards())
    browser.find_element(By.ID, "switch").click()
    assert cards()
    assert {card.get_dom_attribute("data-tags") for card in cards()} == {"differs\tyes"}
    counter = browser.find_element(By.ID, "counter").text
    assert counter == f"{len(everyone) - len(alike)} of {len(everyone)} match"
    # One side must answer to all that is chosen: this model, and this error of this very model.
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='model']")).select_by_value("other")
    Select(browser.find_element(By.CSS_SELECTOR, "select[data-filter='failure_type']")).select_by_value("x-misposition")
    for card in cards():
        (side,) = card.find_elements(By.CSS_SELECTOR, "section[data-side]")
        tags = str(side.get_dom_attribute("data-side")).split("\n")
        assert "model\tother" in tags
        assert "failure_type\tx-misposition" in tags
    browser.find_element(By.ID, "reset").click()
    assert not browser.find_element(By.ID, "switch").is_selected()
    assert browser.find_element(By.ID, "counter").text == f"{len(everyone)} shown here"
    _mark(browser, "label:law\tcomplement", "model\tother").click()
    assert (_chosen(browser, "model"), _chosen(browser, "label:law")) == ("other", "complement")


@pytest.mark.parametrize("width", [390, 1280])
def test_several_models_fit_a_telephone(browser: webdriver.Chrome, tmp_path: Path, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        _open(
            browser,
            tmp_path / "report.html",
            _page(12, n_entities=2, models=("painter", "a-model/with-a-long-name@revision", "third")),
        )
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
