"""Which results are shown, what is said of each image, and what is drawn over it."""

from __future__ import annotations

from dataclasses import replace

from report.fake_runs import ASKED, FakeImages, make_case, make_verdict

from salva.core.observation import Detection, TextSpan
from salva.core.result import Result
from salva.core.source import Seen
from salva.core.verdict import Failure, Outcome
from salva.report.gallery import ExhibitMaker, Thumbnail, _overlays, make_gallery
from salva.report.summary import ModelSummary, Summary
from salva.results.rates import FailureRate

BOX = (0.1, 0.1, 0.4, 0.2)
EVERYWHERE = (0.0, 0.0, 1.0, 1.0)


def test_texts_without_a_place_of_their_own_are_named_together() -> None:
    spans = [("stop", EVERYWHERE), ("42", EVERYWHERE), ("exit", BOX)]
    texts = tuple(TextSpan(text=text, score=1.0, box=box) for text, box in spans)
    drawn = _overlays(Seen(texts=texts), [], Thumbnail("", 100, 100))
    assert [(one.label, one.width) for one in drawn] == [("“stop” “42”", 100.0), ("“exit”", 30.0)]


def test_a_name_that_was_put_in_place_of_another_is_shown_with_it() -> None:
    boxes = (Detection(label="cat", score=0.93, box=BOX, raw="kitten"), Detection(label="dog", score=0.5, box=BOX))
    drawn = _overlays(Seen(boxes=boxes), [], Thumbnail("", 100, 100))
    assert [one.label for one in drawn] == ["cat (kitten) 93", "dog 50"]


def failing(name: str, *failures: Failure, scores: dict[str, float] | None = None) -> Result:
    verdict = make_verdict(name, Outcome.FAIL, failures=failures, scores=scores, images={"a": "1", "b": "2"})
    return Result(case=make_case(name), repeat=0, model="m", outcome=Outcome.FAIL, check="truth", verdict=verdict)


def of(role: str, text: str) -> Failure:
    return Failure(failure_type="entity-omission", role=role, message=text)


def test_the_clearest_case_leads_and_comes_last_in_the_list() -> None:
    both, half = failing("both", of("a", "no cat"), of("b", "no cat")), failing("half", of("b", "no dog"))
    results = (both, half, failing("also-half", of("a", "no cow")))
    model = ModelSummary(model="m", rate=FailureRate(), all_results=results)
    gallery = make_gallery(Summary(run="r", suite="s", by_model={"m": model}, asked=ASKED), FakeImages())
    assert gallery.featured is not None
    assert gallery.featured.case.case_id == "half"
    assert [exhibit.case.case_id for exhibit in gallery.exhibits] == ["both", "also-half", "half"]


def test_an_image_in_which_another_check_found_something_is_not_called_right() -> None:
    result = failing("one", of("b", "no cat"), scores={"right_a": 1.0, "right_b": 1.0})
    veto = make_verdict("one", Outcome.FAIL, failures=(of("b", "no dog"), of("a", "no cow")), check="other")
    first, second = ExhibitMaker(ASKED, FakeImages()).exhibit(replace(result, vetoes=(veto,))).shots
    assert [one.message for one in first.failures] == ["no cow"]
    assert [one.message for one in second.failures] == ["no cat"]
    assert [one.message for one in second.also] == ["no dog"]
    assert not first.is_right
    assert not second.is_right
