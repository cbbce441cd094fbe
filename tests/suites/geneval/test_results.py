"""ResultLine lines: ours come back equal, the published program's are read, and what is wrong with one is said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.messages import code_of
from salva.suites.geneval.files import asked_in
from salva.suites.geneval.published import SeenBox
from salva.suites.geneval.results import ResultLine, ResultPlace, line_of, picture_path, placed, result_in

METADATA: dict[str, Json] = {
    "tag": "single_object",
    "include": [{"class": "cow", "count": 1}],
    "prompt": "a photo of a cow",
}
LINE: dict[str, Json] = {
    "filename": "out/00001/samples/0002.png",
    "tag": "single_object",
    "prompt": "a photo of a cow",
    "correct": False,
    "reason": "expected cow>=1, found 0",
    "metadata": json.dumps(METADATA),
    "details": json.dumps({"dog": [[1, 2.5, 30, 40, 0.75]]}),
}

_BOXES = st.lists(
    st.builds(
        SeenBox,
        name=st.sampled_from(("cow", "dog")),
        score=st.floats(0, 1),
        box=st.tuples(*(st.floats(0, 2000) for _ in range(4))),
    )
)


@given(_BOXES, st.booleans(), st.text(), st.text())
def test_a_line_comes_back_equal(boxes: list[SeenBox], is_right: bool, reason: str, model: str) -> None:
    by_class = tuple(sorted(boxes, key=lambda box: [one.name for one in boxes].index(box.name)))
    result = ResultLine(
        filename=picture_path(7, 3),
        asked=asked_in(METADATA),
        is_right=is_right,
        reason=reason,
        boxes=by_class,
        rule="rl-strict",
        seen_by=("eye", "reader"),
        model=model,
    )
    assert result_in(json.loads(line_of(result))) == result


def test_a_line_of_the_published_program() -> None:
    result = result_in(LINE)
    assert (result.is_right, result.reason, result.rule) == (False, "expected cow>=1, found 0", "published")
    assert result.boxes == (SeenBox(name="dog", score=0.75, box=(1, 2.5, 30, 40)),)
    assert list(json.loads(line_of(result)))[:7] == list(LINE)


@pytest.mark.parametrize(
    ("details", "boxes"),
    [
        ("{half", None),
        ("[]", None),
        (None, None),
        ({"dog": [[1, 2, 3]]}, None),
        ({"dog": [[1, 2, 3, 4, "x"]]}, None),
        ({"dog": 3}, None),
        ("{}", ()),
        ('{"dog": [[1, 2, 3, 4, NaN]]}', None),
    ],
)
def test_details_that_are_none(details: Json, boxes: object) -> None:
    assert result_in({**LINE, "details": details}).boxes == boxes


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"correct": None}, "correct"),
        ({"correct": "maybe"}, "correct"),
        ({"metadata": "{half"}, "metadata"),
        ({"metadata": 3}, "metadata"),
        ({"metadata": "{}"}, "prompt"),
        ({"prompt": "a photo of a dog"}, "prompt"),
    ],
)
def test_an_invalid_line_is_refused_with_its_field(change: dict[str, Json], name: str) -> None:
    with pytest.raises(UsageError) as error:
        result_in({**LINE, **change})
    assert code_of(error.value) == "option-invalid"
    assert str(error.value).startswith(f"{name} is ")


@pytest.mark.parametrize(
    ("filename", "parts"),
    [
        ("sdxl/00012/samples/0003.png", ResultPlace(model="sdxl", number=12, sample=3)),
        ("/data/my model/7/samples/00001.jpg", ResultPlace(model="my model", number=7, sample=1)),
        ("C:\\out\\sdxl\\00012\\samples\\3.png", ResultPlace(model="sdxl", number=12, sample=3)),
        ("00012/samples/grid.png", ResultPlace(number=12)),
        ("./00012/samples/0000.png", ResultPlace(number=12, sample=0)),
        ("elsewhere/x.png", ResultPlace()),
        ("", ResultPlace()),
    ],
)
def test_what_a_file_name_says(filename: str, parts: ResultPlace) -> None:
    assert placed(filename) == parts
