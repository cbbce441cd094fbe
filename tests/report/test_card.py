"""A run on a card: four lines whatever the run is, and markup in which nothing can run."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from report.fake_runs import FakeImages, random_run
from report.hostile import hostile_run

from salva.core.source import RunRecords
from salva.core.verdict import Outcome
from salva.report.card import card_html, card_lines
from salva.report.headline_text import headline_sentence
from salva.report.summary import summarise_records

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
    return Markup(card_html(summarise_records(records), images, "runs/mine"))


def test_four_lines_have_the_place_the_result_and_the_trust() -> None:
    records, _ = random_run(n_entities=3)
    summary = summarise_records(records)
    model = summary.by_model["painter"]
    lines = card_lines(summary, "runs/mine")
    assert lines[0] == "salva run runs/mine"
    assert lines[1].startswith("metalogic on painter: ")
    assert headline_sentence(summary, model) in lines[2]
    assert lines[3].startswith(f"trust {model.trust.status}")
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


def test_images_and_the_interval_are_inside() -> None:
    records, images = random_run(n_entities=3)
    made = card(records, images)
    sources = [attributes["src"] or "" for tag, attributes in made.elements if tag == "img"]
    assert sources[0].startswith("data:image/svg")
    assert sum(source.startswith("data:image/webp") for source in sources) == 6
    assert sum(map(len, sources)) < 200_000


def test_a_run_without_a_verdict_has_a_card_too() -> None:
    records, images = random_run(n_entities=3)
    empty = replace(records, verdicts=(), is_whole=False)
    made = card(empty, images)
    assert not [tag for tag, _ in made.elements if tag == "img"]
    assert len(card_lines(summarise_records(empty), "x")) == 4


def test_of_several_models_each_line_says_whose_it_is() -> None:
    records, _ = random_run(n_entities=3, models=("painter", "pocket"))
    broken = (
        replace(verdict, outcome=Outcome.ERROR, failure_types=(), failures=()) if verdict.model == "pocket" else verdict
        for verdict in records.verdicts
    )
    line = card_lines(summarise_records(replace(records, verdicts=tuple(broken))), "x")[3]
    first, second = line.split("; pocket: ")
    assert first.startswith("painter: trust ")
    assert "[few-decided]" in second
    assert "[few-decided]" not in first
