"""A run on a card: four lines whatever the run is, and markup in which nothing can run."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from report.fake_runs import FakeImages, random_run
from report.hostile import hostile_run

from salva.core.source import RunRecords
from salva.core.table import KeyFigure
from salva.core.verdict import Outcome
from salva.report.card import card_html, card_lines
from salva.report.lead import sentence_of
from salva.report.summary import ModelSummary, summarise_records

HARMLESS = {"div", "img", "b", "i"}


class Markup(HTMLParser):
    """The elements and attributes of a fragment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def card(records: RunRecords, images: FakeImages) -> Markup:
    return Markup(card_html(summarise_records(records), records, images, "runs/mine"))


def test_four_lines_say_where_what_and_how_it_came_out() -> None:
    records, _ = random_run(n_entities=3)
    lines = card_lines(summarise_records(records), "runs/mine")
    assert lines[0] == "salva run runs/mine"
    assert lines[1].startswith("metalogic on ")
    assert " % (95 %: " in lines[2]
    assert "FAIL" in lines[3]
    assert not any("\n" in line for line in lines)


def test_words_that_mean_harm_stay_words() -> None:
    records, images = hostile_run()
    made = card(records, images)
    assert {tag for tag, _ in made.elements} <= HARMLESS
    for tag, attributes in made.elements:
        assert attributes.keys() <= {"style", "src", "alt", "width"}, (tag, attributes)
        assert (attributes.get("src") or "data:image/").startswith("data:image/")
        assert "<" not in (attributes.get("style") or "")
    assert "<script>window.hacked = 1</script>" in "".join(made.words), "shown as it is"
    lines = card_lines(summarise_records(records), "a\nb\x1b[31m")
    assert not any(letter in "".join(lines) for letter in "\n\x1b\u2028\u2029\u0085")


def test_pictures_and_the_chart_are_inside() -> None:
    records, images = random_run(n_entities=3)
    made = card(records, images)
    sources = [attributes["src"] or "" for tag, attributes in made.elements if tag == "img"]
    assert sources[0].startswith("data:image/svg")
    assert 2 <= sum(source.startswith("data:image/webp") for source in sources) <= 6
    assert sum(map(len, sources)) < 200_000


def test_a_run_without_a_verdict_has_a_card_too() -> None:
    records, images = random_run(n_entities=3)
    empty = RunRecords(cases=records.cases, verdicts=(), asked=records.asked, name="x")
    assert "no decided pairs" in card_lines(summarise_records(empty), "x")[2]
    assert card(empty, images).elements


def test_two_figures_of_a_suites_own_stand_alone_and_one_beside_a_rate() -> None:
    records, _ = random_run(n_entities=3)
    summary = summarise_records(records)
    (model,) = summary.by_model
    figures = (KeyFigure(title="kappa", value=0.5), KeyFigure(title="mean", value=0.25), KeyFigure(title="x", value=1))
    led = replace(model, key_figures=figures, leading=replace(model.leading, rate=None))

    def line(shown: ModelSummary) -> str:
        return card_lines(replace(summary, by_model=(shown,)), "x")[2]

    assert line(led).startswith("kappa 0.500, ")
    assert " % (95 %: " in line(led)
    assert "mean" not in line(led)
    assert line(replace(led, outcomes=dict.fromkeys(led.outcomes, 0))) == "kappa 0.500, mean 0.250"
    assert line(replace(model, key_figures=figures)) == line(model)


def test_of_several_models_a_warning_says_whose_it_is() -> None:
    records, _ = random_run(n_entities=3, models=("good", "bad"))
    flawed = [
        replace(verdict, outcome=Outcome.ERROR, failure_types=(), reason="not painted")
        if verdict.model == "bad"
        else verdict
        for verdict in records.verdicts
    ]
    line = card_lines(summarise_records(replace(records, verdicts=tuple(flawed))), "x")[3]
    assert "; bad: the oracle is partial: none of " in line
    assert "; good: the oracle" not in line


def test_the_mean_over_one_category_is_called_none() -> None:
    records, _ = random_run(n_entities=3)
    one = {case.case_id for case in records.cases if case.category == records.cases[0].category}
    alone = replace(
        records,
        cases=tuple(case for case in records.cases if case.case_id in one),
        verdicts=tuple(verdict for verdict in records.verdicts if verdict.case_id in one),
    )
    summary = summarise_records(alone)
    assert "averaged over" not in card_lines(summary, "x")[2]
    assert "averaged over" not in sentence_of(summary.by_model[0].leading, "pairs")
    assert "averaged over 20 categories" in card_lines(summarise_records(records), "x")[2]
