"""Strict parsing of replies: unambiguous ones are read, all others are a problem, and no number is guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.protocols import Query
from salva.judges.prompts import judge_prompt
from salva.judges.replies import ParsedReply, read_reply
from salva.judges.rubrics import RUBRICS

SCORE = Query(role="judge", kind="score", text="a cat on a mat")
GRADE = Query(role="judge", kind="grade", text="", questions=("is it a cat?", "is it red?"))
YES_NO = Query(role="judge", kind="answer", text="is it a cat?", choices=("yes", "no"))
COUNT = Query(role="judge", kind="answer", text="how many?", choices=("none", "one", "two", "more than two"))
FREE = Query(role="judge", kind="answer", text="what is it?")
PLAIN = '{"objects": 40, "relations": 35}'
IN_WORDS = "Relevance (0-50 points): [[35]], Object Accuracy (0-50 points): [[40]]"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("I'm sorry, I can't help with that.", "no rating"),
        ("40 and 35", "no rating"),
        ("[[35]] [[40]]", "after none of"),
        ("Relevance: [[35]]", "Object Accuracy"),
        ("Relevance: [[35]], Object Accuracy: [[51]]", "from 0 to 50"),
        ("Relevance: [[35]], Object Accuracy: [[-4]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[40/100]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[40-45]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[forty]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[４０]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[٤٠]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[number]]", "no number"),
        ("Relevance: [[35]], Object Accuracy: [[40]], Relevance: [[36]]", "rated twice"),
        ("Relevance: [[35]], Object Accuracy: [[40]], Total: [[76]]", "total is 76"),
        ("Irrelevance: [[35]], Object Accuracy: [[40]]", "after none of"),
        ('{"objects": 40}', "instead of objects, relations"),
        ('{"objects": 40, "relations": 35, "total": 80}', "total is 80"),
        ('{"objects": "40 points", "relations": 35}', "no number"),
        ('{"objects": true, "relations": 35}', "no number"),
        ('{"objects": null, "relations": 35}', "no number"),
        ('{"objects": NaN, "relations": 35}', "no number"),
        ('{"objects": 1e999, "relations": 35}', "no number"),
        ('{"objects": -1, "relations": 35}', "from 0 to 50"),
        ('{"objects": 40, "objects": 10, "relations": 35}', "a name twice"),
        ('{"objects": 40, "relations": 35', "begins like JSON"),
        ("{" * 100_000, "opening braces"),
        (f"<think>{IN_WORDS}", "thoughts"),
        (f"<think>a</think><think>{IN_WORDS}", "thoughts"),
        (f"<think>{IN_WORDS}</think>", "empty"),
    ],
)
def test_problems_of_scores(reply: str, text: str) -> None:
    read = read_reply(SCORE, reply)
    assert text in read.problem
    assert (read.text, read.scores) == ("", {})


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        IN_WORDS,
        "Object Accuracy (0-50 points): [[40]], Relevance (0-50 points): [[35]]",
        "The cat is there; 2 of 3 things fit.\n\nRelevance: [[35]]\nObject Accuracy: [[40]]",
        "**Relevance (0-50 points):** [[35]]\n**Object Accuracy (0-50 points):** [[40.0]]",
        "relevance = [[ 35 ]] object accuracy = [[ 40 ]]",
        '{"relations": 35.0, "objects": 40}',
        f"Here is my judgement:\n\n{PLAIN}",
        f"{PLAIN}\n\nLet me know if you need more.",
        f"The cat {{a tabby}} sits there. {PLAIN}",
        f"Both things are there, 2 of 2.\n```json\n{PLAIN}\n```\nThat is all.",
        f"```JSON\n{PLAIN}\n```",
        f"```Json\n{PLAIN}```",
        f"```\n{PLAIN}\n```",
        f"``` json\r\n{PLAIN}\r\n```",
        f"~~~json\n{PLAIN}\n~~~",
        f"[{PLAIN}]",
        f"**{PLAIN}**",
        f"Answer: {PLAIN}.",
        f"\ufeff{PLAIN}",
        PLAIN.replace(" ", "\r\n"),
        PLAIN.replace("40", '"40"'),
        PLAIN.replace("40", '"40.0"').replace("35", '" 35 "'),
        PLAIN.replace("40", "4e1"),
        '{"objects": 40, "relations": 35, "total": 75}',
        '{"objects": 40, "relations": 35, "Total Score": "75"}',
        '{"objects": 40, "relations": 35, "overall": "good"}',
        '{"objects": 40, "relations": 35, "confidence": 0.9}',
        '{"objects": 40, "relations": 35, "notes": ["no mat", {"seen": "cat"}]}',
        '{"explanation": "I would say {\\"objects\\": 10}", "objects": 40, "relations": 35}',
        '{"explanation": "[[50]]", "objects": 40, "relations": 35}',
        '{"reasoning": null, "relations": 35, "objects": 40, "sum": 75}',
        IN_WORDS.replace(": ", "：", 1).replace(": ", " ：", 1),
        IN_WORDS.replace("(0-50 points)", "（0-50 points）"),
        IN_WORDS.replace(", ", "\r\n"),
        f"{IN_WORDS}, Total: [[75]]",
        f"{IN_WORDS}\nTotal Score (0-100 points): [[75]]",
        f"{IN_WORDS}\n**Overall:** [[75.0]]",
        f"Total (0-100): [[75]]\n{IN_WORDS}",
        f"{IN_WORDS}\nTotal: 75",
        f"```\n{IN_WORDS}\n```",
        f"```text\r\n{IN_WORDS}\r\n```",
        f"The cat {{left}} is fine. {IN_WORDS}",
        f"Explanation: there is one cat. {IN_WORDS}. Done.",
        f"<think>{PLAIN}</think>\r\nSo: {PLAIN}",
        "RELEVANCE: [[35]]\r\nOBJECT ACCURACY: [[40]]",
        "- Relevance: [[35]]\n- Object Accuracy: [[40]]",
        "1. Relevance = [[35]]; 2. Object Accuracy = [[40]]",
        "关系（0-50分）：[[35]]，物体：[[40]]，总分：[[75]]",
        "Relevance score: [[35/50]]\nObject Accuracy score: [[ 40 / 50 ]]",
        '{"objects": "40/50", "relations": "35", "total": "75/100"}',
        "Relevance： 35, Object Accuracy： 40",
        "Relevance: [35], Object Accuracy: [40]",
        "Relevance is 35. Object Accuracy is 40.",
        "There are 2 cats.\n\n1. Relevance: 35/50\n2. Object Accuracy: 40/50",
        "1. Relevance = 35; 2. Object Accuracy = 40",
        "**Relevance:** 35 / 50\n**Object Accuracy:** 40 out of 50\n**Total:** 75/100",
        "- **Relevance (0-50 points)**: 35 points\n- **Object Accuracy (0-50 points)**: 40 points",
        "### Relevance (max 50): 35\nThe cat is there.\n### Object Accuracy (max 50): 40 - all of it.",
        "Relevance and object accuracy are good.\n3 dogs.\nRelevance: 35 (fine)\nObject Accuracy: 40.",
        "| Criterion | Score (0-50) |\n|---|---|\n| Relevance | 35/50 |\n| **Object Accuracy** | **40/50** |",
        "| Relevance (0-50) | Object Accuracy (0-50) | Total |\n|:--|--:|---|\n| 35 | 40 | 75/100 |\n\nThat is all.",
        "Relevance | Object Accuracy\n--- | ---\n35 | 40",
        "物体：40/50\n关系：35/50",
        "物体准确性（0-50分）：40分，关系（0-50分）：35分。",
        "| 项目 | 分数 |\n|---|---|\n| 物体分数 | 40 |\n| 关系分数 | 35 |\n| 总分 | 75 |",
    ],
)
def test_unambiguous_replies_are_read(reply: str) -> None:
    assert read_reply(SCORE, reply) == ParsedReply(scores={"objects": 40.0, "relations": 35.0})


@pytest.mark.parametrize(
    "reply",
    [
        f"{PLAIN}\n{PLAIN.replace('40', '10')}",
        f"{PLAIN} or rather {PLAIN}",
        f'First {{"objects": 10}}. Then {PLAIN}',
        f'{{"thoughts": "fine"}} {PLAIN}',
        f"{PLAIN} {IN_WORDS}",
        f"{IN_WORDS} {PLAIN}",
        f"{PLAIN} Relevance: [[10]]",
        f"{PLAIN} [[50]]",
        f'{PLAIN} and "objects": 10',
        f'{{"objects": 10, "relat... {PLAIN}',
        f'{{"result": {PLAIN}}}',
        '{"objects": 40, "relations": 35, "Objects": 10}',
        '{"objects": 40, "relations": 35, "relations ": 10}',
        '{"objects": 40, "relations": 35, "objects": 40}',
        '{"objects": 40, "relations": 35, "total": "100"}',
        '{"objects": 40, "relations": 35, "total": 120}',
        '{"objects": "40/100", "relations": 35}',
        '{"objects": "forty", "relations": 35}',
        '{"objects": "40 to 45", "relations": 35}',
        '{"objects": "", "relations": 35}',
        '{"objects": "40,0", "relations": 35}',
        '{"objects": "４０", "relations": 35}',
        '{"objects": "-4", "relations": 35}',
        '{"objects": "51", "relations": 35}',
        '{"objects": "1e1", "relations": 35}',
        '{"objects": [40], "relations": 35}',
        '{"objects": {"score": 40}, "relations": 35}',
        '{"objects": false, "relations": 35}',
        '{"objects": Infinity, "relations": 35}',
        f'{{"objects": {"9" * 5000}, "relations": 35}}',
        '{"Object Accuracy": 40, "Relevance": 35}',
        "{'objects': 40, 'relations': 35}",
        '{"objects": 40, "relations": 35,}',
        '{"objects": 40; "relations": 35}',
        '```json\n{"objects": 40,\n```',
        f"{IN_WORDS}, Total: [[76]]",
        f"{IN_WORDS}, Total: [[a lot]]",
        f"{IN_WORDS}, Total: [[75]], Total: [[75]]",
        f"{IN_WORDS}, Subtotal: [[75]]",
        f"{IN_WORDS}, Relevance: [[35]]",
        f"{IN_WORDS} [[75]]",
        "Total: [[75]]",
        f"{IN_WORDS}\nRelevance: 36",
        f"Relevance: 36/50 {IN_WORDS}",
        f"{PLAIN}\nRelevance: 36",
        f"{IN_WORDS} or 41",
        "Relevance: 35/100, Object Accuracy: 40/100",
        "Relevance: 35/100\nRelevance: 35/50\nObject Accuracy: 40",
        "Relevance: 35, 36. Object Accuracy: 40",
        "Relevance: 35\nObject Accuracy: 40\nTotal: 80",
        "Relevance: 35\nObject Accuracy: 40\nActually 41.",
        "Relevance: 35\nObject Accuracy: 40 or more",
        "Relevance: 35%, Object Accuracy: 40%",
        "Relevance: ~35, Object Accuracy: 40",
        "Relevance: -5, Object Accuracy: 40",
        "Relevance: 35,5, Object Accuracy: 40",
        "Relevance: 3.5.1, Object Accuracy: 40",
        "Relevance: ３５, Object Accuracy: 40",
        "Relevance: 35 ٤, Object Accuracy: 40",
        "Relevance: 51, Object Accuracy: 40",
        "Relevance: 2 cats, Object Accuracy: 40",
        "Relevance\n1. The cat is there.\nObject Accuracy: 40",
        "Relevance: 0-50, Object Accuracy: 40",
        "Irrelevance: 35, Object Accuracy: 40",
        "35/50 for relevance, 40/50 for object accuracy",
        "物体/关系: 40/35",
        "| Relevance | Object Accuracy |\n|---|---|\n| 35 | 40 |\n| 30 | 40 |",
        "| Relevance | 35 | 30 |\n| Object Accuracy | 40 | 40 |",
        '{"a": ' * 5000,
        "{" * 500,
    ],
)
def test_ambiguous_replies_are_a_problem(reply: str) -> None:
    read = read_reply(SCORE, reply)
    assert read.problem
    assert (read.text, read.scores) == ("", {})


def test_answers_and_grades_in_json() -> None:
    assert read_reply(YES_NO, 'I see it.\r\n```JSON\r\n{"answer": "Yes", "confidence": 0.9}\r\n```').text == "yes"
    assert read_reply(FREE, 'Sure! {"answer": "A Cat"}').text == "a cat"
    assert read_reply(YES_NO, '{"answer": "yes"} {"answer": "no"}').problem
    assert read_reply(YES_NO, '{"answer": "yes"} [[no]]').problem
    assert read_reply(GRADE, 'So: {"q1": "0.5", "q2": 1, "q3": 0}').scores == {"q1": 0.5, "q2": 1.0}
    assert read_reply(GRADE, "q1： [[0.5]], q2： [[1]], total: [[1.5]]").problem, "grades have no total"


@given(objects=st.integers(0, 50), relations=st.integers(0, 50), around=st.text(max_size=30), is_text=st.booleans())
def test_prose_around_one_json_object_is_ignored(objects: int, relations: int, around: str, is_text: bool) -> None:
    around = around.translate({ord(mark): " " for mark in '{}[]"'}).replace("think>", "")
    given_as = json.dumps({"objects": str(objects) if is_text else objects, "relations": relations})
    read = read_reply(SCORE, f"{around}\n{given_as}\n{around}")
    assert read == ParsedReply(scores={"objects": float(objects), "relations": float(relations)})
    assert read_reply(SCORE, f"{given_as}{around}{given_as}").problem


_NAMES = {"relations": ("Relevance", "relations", "关系", "相关性"), "objects": ("Object Accuracy", "Objects", "物体")}
_FORMS = (
    "{}: {}",
    "{}: {}/50",
    "**{}:** {}",
    "| {} | {} |",
    "{} (0-50 points): [[{}]]",
    "{}：{}分",
    "{} is {}",
    "- {} = {}",
)


@st.composite
def replies_with_two_numbers(draw: st.DrawFn) -> str:
    """Both labels, one of them twice with different numbers, in any order and in any forms."""
    twice = draw(st.sampled_from(sorted(_NAMES)))
    numbers = draw(st.lists(st.integers(0, 50), min_size=2, max_size=2, unique=True))
    said = [(twice, numbers[0]), (twice, numbers[1]), *((key, draw(st.integers(0, 50))) for key in _NAMES)]
    parts = [draw(st.sampled_from(_FORMS)).format(draw(st.sampled_from(_NAMES[key])), n) for key, n in said]
    joined = draw(st.sampled_from(("\n", ", ", "; ", "\n\n", " ", ". ", "\nor rather ")))
    around = draw(
        st.sampled_from(("{}", "There are 2 cats.\n{}", "{}\nThat is all.", '{{"objects": 40, "relations": 35}}\n{}'))
    )
    return around.format(joined.join(draw(st.permutations(parts))))


@given(reply=replies_with_two_numbers())
def test_two_different_numbers_for_one_label_are_never_read(reply: str) -> None:
    assert read_reply(SCORE, reply).problem


@given(
    first=st.integers(0, 50),
    second=st.integers(0, 49),
    between=st.sampled_from(
        (" or ", "-", " to ", ", ", "; ", "/", " (", "\n", ". No, ", " – ", " | ", ", 2. ", " und ")
    ),
    name=st.sampled_from(("Relevance: {}", "**Relevance** {}", "关系：{}", "| Relevance | {} |")),
    is_last=st.booleans(),
)
def test_a_second_number_behind_a_plain_one_is_never_left_out(
    first: int, second: int, between: str, name: str, is_last: bool
) -> None:
    parts = [name.format(f"{first}{between}{second}"), "Object Accuracy: 40"]
    assert read_reply(SCORE, "\n".join(reversed(parts) if is_last else parts)).problem


def test_grades_without_brackets() -> None:
    wanted = ParsedReply(scores={"q1": 0.5, "q2": 1.0})
    for reply in ("q1: 0.5\nq2: 1", "Q1: 0.5/1, Q2: 1/1", "| q1 | 0.5 |\n| q2 | 1 |"):
        assert read_reply(GRADE, reply) == wanted
    for reply in ("q1: 1/2\nq2: 1", "q1: 0.5, q1: 1, q2: 1", "q11: 0.5, q2: 1", "q1: is it a cat? 1\nq2: 1"):
        assert read_reply(GRADE, reply).problem


def test_grades_are_numbered_from_0_to_1() -> None:
    wanted = ParsedReply(scores={"q1": 0.5, "q2": 1.0})
    assert read_reply(GRADE, "q2: [[1]], q1: [[0.5]]") == wanted
    assert read_reply(GRADE, '{"q1": 0.5, "q2": 1}') == wanted
    assert "from 0 to 1" in read_reply(GRADE, "q1: [[0.5]], q2: [[5]]").problem
    assert "no rating" in read_reply(GRADE, "q1: [[0.5]]").problem
    assert "after none" in read_reply(GRADE, "q1: [[0.5]], q2: [[1]], q3: [[1]]").problem
    assert "after none" in read_reply(GRADE, "q11: [[0.5]], q2: [[1]]").problem


@pytest.mark.parametrize("reply", ["yes", "Yes.", "YES", '"yes"', "[[yes]]", "I see it.\n[[Yes]]", '{"answer": "yes"}'])
def test_choices_are_recognised(reply: str) -> None:
    assert read_reply(YES_NO, reply).text == "yes"


@pytest.mark.parametrize(
    "reply",
    ["maybe", "yes and no", "Yes, there is a cat", "yesno", "[[yes]] or [[no]]", "not yes", '{"answer": true}', "да"],
)
def test_other_answers_are_a_problem(reply: str) -> None:
    read = read_reply(YES_NO, reply)
    assert read.problem
    assert read.text == ""


def test_numbers_may_be_words_or_digits() -> None:
    assert [read_reply(COUNT, reply).text for reply in ("2", "Two", "0", "zero", "more than two")] == [
        *("two", "two", "none", "none", "more than two"),
    ]
    assert read_reply(COUNT, "3").problem


def test_choices_may_differ_only_in_case() -> None:
    query = Query(role="judge", kind="answer", text="?", choices=("May", "may"))
    assert read_reply(query, "may").text == "may"
    assert read_reply(query, "MAY").problem


def test_free_answers_are_short_and_lower_case() -> None:
    assert read_reply(FREE, "It sits on a mat.\n[[A Tabby Cat.]]").text == "a tabby cat"
    assert read_reply(FREE, "[[A cat.\nIt sits on a mat.]]").problem
    assert read_reply(FREE, f"[[{'cat ' * 100}]]").problem
    assert read_reply(FREE, "[[...]]").problem


def test_free_answers_need_brackets_unless_bare() -> None:
    refused = "I can't help with that."
    assert "no answer" in read_reply(FREE, refused).problem
    assert read_reply(FREE, "A Cat", is_bare=True).text == "a cat"
    assert read_reply(FREE, "A cat.\nIt sits.", is_bare=True).problem


@pytest.mark.parametrize(
    "thought",
    [
        "<think>\nRelevance: [[10]]? {no}\n</think>\n\n",
        "Maybe Relevance: [[10]]\n</think>\n",
        "<think></think>",
        "<think>one</think><think>two: [[0]]</think>",
    ],
)
def test_thoughts_are_ignored(thought: str) -> None:
    assert read_reply(SCORE, thought + IN_WORDS) == ParsedReply(scores={"objects": 40.0, "relations": 35.0})
    assert read_reply(SCORE, thought + '{"objects": 40, "relations": 35}').scores["objects"] == 40
    assert read_reply(YES_NO, thought + "yes").text == "yes"


@given(objects=st.integers(0, 50), relations=st.integers(0, 50), before=st.text(max_size=40), is_reversed=st.booleans())
def test_text_before_the_form_is_ignored(objects: int, relations: int, before: str, is_reversed: bool) -> None:
    parts = [f"Relevance (0-50 points): [[{relations}]]", f"Object Accuracy (0-50 points): [[{objects}]]"]
    prose = "The things: " + before.replace("[", "(").replace("]", ")")
    read = read_reply(SCORE, f"{prose}\n{', '.join(reversed(parts) if is_reversed else parts)}")
    assert read == ParsedReply(scores={"objects": float(objects), "relations": float(relations)})


HOSTILE = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            (
                *("Relevance", "Object Accuracy", ":", "[[", "]]", "50", "-5", "50/50", "40-45", "٤٠", "{", "}", ","),
                *("q1", "q2", "yes", "no", "\n", "```", "(0-50 points)", "**", "NaN", "1e9", "[[50]]", "null", '"q1"'),
            )
        ),
        max_size=14,
    ).map(" ".join),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8)),
        lambda parts: st.dictionaries(
            st.sampled_from(["objects", "relations", "answer", "q1", "q2", "explanation"]), parts, max_size=4
        ),
        max_leaves=6,
    ).map(json.dumps),
)


@given(reply=HOSTILE, query=st.sampled_from((SCORE, GRADE, YES_NO, COUNT, FREE)))
def test_any_reply_is_parsed_or_a_problem(reply: str, query: Query) -> None:
    read = read_reply(query, reply)
    if read.problem:
        assert (read.text, dict(read.scores)) == ("", {})
    elif query.kind == "answer":
        assert read.text
        assert not query.choices or read.text in query.choices
    else:
        names = ("objects", "relations") if query.kind == "score" else ("q1", "q2")
        highest = 50 if query.kind == "score" else 1
        assert tuple(read.scores) == names
        assert all(0 <= value <= highest for value in read.scores.values())


@pytest.mark.parametrize("query", [SCORE, GRADE, YES_NO, FREE])
def test_the_form_itself_is_no_answer(query: Query) -> None:
    """A judge that only repeats the form has not answered."""
    text = judge_prompt(query, is_structured=False, explains=False).text.rpartition("\n")[2]
    read = read_reply(query, text)
    assert read.problem


RULED = Query(
    role="judge",
    kind="grade",
    questions=("is it a cat?", "is it red?"),
    criteria=("1: a cat 0: none", "1: red 0.5: reddish 0: not red"),
    rubric="counterfactual",
)


@pytest.mark.parametrize(
    "reply",
    [
        '{"q1_reason": "whiskers", "q1": 1, "q2_reason": "it is pink", "q2": 0.5}',
        "q1 reason: whiskers\nq1: [[1]]\nq2 reason: it is pink\nq2: [[0.5]]",
        "q1 reason: whiskers\nq1: 1\nq2 reason: it is pink\nq2: 0.5/1",
        "**q1 reason:** whiskers".replace("**", "") + "\n\nq1: [[1.0]]\n\nQ2 reason: it is pink\nq2: [[0.5]]",
    ],
)
def test_reasons_of_queries_with_criteria(reply: str) -> None:
    wanted = ParsedReply(scores={"q1": 1.0, "q2": 0.5}, reasons={"q1": "whiskers", "q2": "it is pink"})
    assert read_reply(RULED, reply) == wanted


def test_reasons_are_optional() -> None:
    assert read_reply(RULED, '{"q1": 1, "q2": 0}').scores == {"q1": 1.0, "q2": 0.0}
    assert read_reply(RULED, '{"q1": 1, "q2_reason": "none"}').problem
    unasked = read_reply(GRADE, '{"q1_reason": "x", "q1": 1, "q2": 0}')
    assert (unasked.scores, unasked.reasons) == ({"q1": 1.0, "q2": 0.0}, {}), "no reasons were requested"


def test_criteria_and_rubric_are_in_the_prompt() -> None:
    ask = judge_prompt(RULED, is_structured=True, explains=True)
    assert ask.schema is not None
    assert list(ask.schema["properties"]) == ["q1_reason", "q1", "q2_reason", "q2"]  # type: ignore[arg-type]  # JSON
    assert "0.5: reddish" in ask.text
    assert RUBRICS["counterfactual"] in ask.text
    strict = judge_prompt(RULED, is_structured=False, explains=True, rubric="strict")
    assert RUBRICS["strict"] in strict.text
    assert RUBRICS["counterfactual"] not in strict.text
    assert "q2 reason: ..." in strict.text
