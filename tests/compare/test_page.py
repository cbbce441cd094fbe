"""The page of a comparison: images of both models, and strangers' words that stay words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from compare.fake_entrants import cases, number, store
from report.hostile import BREAKOUT, EVERYTHING, SCRIPT

from salva.compare.comparing import compare_runs
from salva.compare.page import MAX_FLIPS, comparison_page
from salva.compare.words import sentence_of
from salva.core.case import Case


def some(case: Case, repeat: int) -> bool:
    return number(case) < 1


def more(case: Case, repeat: int) -> bool:
    return number(case) < 3


def test_it_shows_the_decision_and_every_flip_with_both_sides(tmp_path: Path) -> None:
    of = cases(4)
    runs = [store(tmp_path / name, {name: rule}, of, has_pictures=True) for name, rule in (("v1", some), ("v2", more))]
    compared = compare_runs(runs)
    page = comparison_page(compared)
    assert f"{sentence_of(compared.comparisons[0])}." in page
    assert page.count('<article class="exhibit') == 8
    assert page.count("<img src=") == 8 * 4
    card = page[page.index('<article class="exhibit') :]
    assert card.index("<h3>v1 ") < card.index("<h3>v2 ")
    assert "got worse" in card
    assert '<option value="worse">' not in page  # all flipped one way: nothing to choose
    assert re.search(r"script-src &#39;sha256-", page)
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_three_models_have_a_table_and_a_section_each(tmp_path: Path) -> None:
    run = store(tmp_path / "all", {"old": some, "new": more, "other": some}, cases(4))
    page = comparison_page(compare_runs([run]))
    assert page.count('<section class="model">') == 2
    assert "boards" in page


def test_bars_are_exact_and_groups_without_one_are_named(tmp_path: Path) -> None:
    of = cases(3)
    of = [*of[:6], *(replace(case, category="few", labels={}) for case in of[6:9])]
    runs = [store(tmp_path / name, {name: rule}, of) for name, rule in (("v1", some), ("v2", more))]
    page = comparison_page(compare_runs(runs))
    assert "a difference takes five cases: few." in page
    assert "66.67" in page
    assert "66.70" not in page


def test_the_same_twice_and_nothing_decided_make_a_page_too(tmp_path: Path) -> None:
    run, none = store(tmp_path / "a", {"m": some}), store(tmp_path / "b", {"m": lambda _case, _repeat: None})
    for other in (run, none):
        page = comparison_page(compare_runs([run, other]))
        assert page.rstrip().endswith("</html>")
        assert '<article class="exhibit' not in page


def test_a_page_holds_no_more_images_than_it_can(tmp_path: Path) -> None:
    of = cases(30)
    runs = [
        store(tmp_path / "a", {"m": lambda _c, _r: False}, of),
        store(tmp_path / "b", {"m": lambda _c, _r: True}, of),
    ]
    page = comparison_page(compare_runs(runs))
    assert page.count('<article class="exhibit') == MAX_FLIPS
    assert f"{MAX_FLIPS} of 120 are in this file" in page


def test_hostile_words_are_shown_and_never_markup(tmp_path: Path) -> None:
    def spoilt(case: Case) -> Case:
        prompts = tuple(replace(prompt, text=EVERYTHING) for prompt in case.prompts)
        return replace(case, prompts=prompts, labels={**case.labels, "law": BREAKOUT, "modifier": SCRIPT})

    of = [spoilt(case) for case in cases(4)]
    runs = [store(tmp_path / "a", {BREAKOUT: some}, of), store(tmp_path / "b", {SCRIPT: more}, of)]
    page = comparison_page(compare_runs(runs))
    assert page.count("<script>") == 1
    assert "<img src=x" not in page
    assert "<svg onload" not in page
