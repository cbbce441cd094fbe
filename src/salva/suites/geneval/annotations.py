"""GenEval's annotations by people: a row is what one rater saw in an image, without a verdict.

Rows come in, cases and verdicts go out: each rater's by the published rule, with what the rater saw in place of
boxes, and that of the majority, which makes the results. What a caption asks for is read from its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from salva.core.case import Case
from salva.core.exchange import Flaw, ReadIn
from salva.core.fingerprint import Json
from salva.core.verdict import PAIR, Outcome, Verdict, failure_types_of
from salva.english.words import number_of
from salva.errors import UsageError
from salva.files.tables import Row, columns_of, read_sheet
from salva.logic.formula import NUMBER_WORDS
from salva.messages import message, text_of
from salva.suites.geneval.demands import COLOR, COLOR_ATTR, COUNT, POSITION, SINGLE, TWO, demands_of, formula_of
from salva.suites.geneval.files import GenEvalPrompt
from salva.suites.geneval.published import (
    COLOURS,
    POSITIONS,
    Clause,
    Demand,
    SeenBox,
    judge_published,
)
from salva.suites.geneval.results import ResultPlace, placed
from salva.suites.geneval.rules import GenEvalRule, failure_of
from salva.suites.geneval.suite import CHECK, case_id_of, task_case

MAJORITY = "majority of raters"
"""The observer whose verdicts make the results."""
_CAPTION, _IMAGE = "Input.caption", "Input.image_url"
_COUNT, _COLOUR = "Answer.task-count-{}", "Answer.task-color-{}"
_AXES = ("Answer.task-position-x", "Answer.task-position-y")
_MARKS = (_CAPTION, _IMAGE, "Input.object_0_name", _COUNT.format(0))
_FAR = 10.0
_AT = {"left": (-_FAR, 0.0), "right": (_FAR, 0.0), "above": (0.0, -_FAR), "below": (0.0, _FAR)}
"""Where the second entity stands to the first, by an answer."""
_PHRASE = rf"(?P<n{{0}}>an?|{'|'.join(NUMBER_WORDS)}) (?:(?P<c{{0}}>{'|'.join(COLOURS)}) )?(?:{{1}})"
_Cells = Mapping[str, str]


class _Unanswered(Exception):
    """A rater did not answer what a verdict needs."""


def is_annotations(path: Path) -> bool:
    """Whether a file holds people's annotations of GenEval's images."""
    return {*_MARKS} <= {*columns_of(path)}


def read_annotations(files: Sequence[Path], names: Sequence[str], model: str = "") -> ReadIn:
    """Cases and verdicts of every rater and of their majority; model: instead of the folder that the images are in."""
    problems: list[Flaw] = []
    cases: dict[str, Case] = {}
    verdicts: list[Verdict] = []
    images: dict[tuple[str, int, str], list[Verdict]] = {}
    for path, name in zip(files, names, strict=True):
        for row in read_sheet(path, problems).rows:
            try:
                case, place = _case(row.cells, cases), _place(row.cells)
            except UsageError as error:
                problems.append(Flaw(file=name, where=row.where, what=f"{text_of(error)}; not used"))
                continue
            key = (case.case_id, place.sample or 0, model or place.model or path.stem)
            given = images.setdefault(key, [])
            given.append(_rated(case, key, f"rater {len(given) + 1}", row))
    if not images:
        wanted = "rows about prompts of GenEval" + "".join(f"; {flaw}" for flaw in problems[:1])
        raise UsageError(message("import-empty", what="annotations of GenEval", wanted=wanted))
    for given in images.values():
        verdicts += [*given, _majority(given)]
    raters = [f"rater {number}" for number in range(1, 1 + max(map(len, images.values())))]
    return ReadIn(
        suite="geneval",
        models=tuple(dict.fromkeys(model for *_, model in images)),
        cases=tuple(cases.values()),
        verdicts=tuple(verdicts),
        problems=tuple(problems),
        counts={"images": len(images), "prompts": len(cases), "people": len(raters)},
        repeats=1 + max(repeat for _, repeat, _ in images),
        observers=dict.fromkeys((MAJORITY, *raters), "person"),
        check=CHECK,
        deciding=(MAJORITY,),
        about={"people": list[Json]((MAJORITY, *raters))},
        needs_files=True,
    )


def _case(cells: _Cells, cases: dict[str, Case]) -> Case:
    text = cells[_CAPTION].strip()
    case_id = case_id_of(text)
    if case_id not in cases:
        demand = _demand_of(text, [_spellings(cells, number) for number in (0, 1)])
        asked = GenEvalPrompt(text=text, demand=demand, formula=formula_of(demand))
        cases[case_id] = task_case(case_id, asked)
    return cases[case_id]


def _spellings(cells: _Cells, number: int) -> tuple[str, ...]:
    """An entity's name, and how captions may spell it: the published ones have "benchs"."""
    name = cells.get(f"Input.object_{number}_name", "").strip()
    return tuple(
        filter(
            None,
            dict.fromkeys(
                (name, cells.get(f"Input.object_{number}_name_plural", "").strip(), f"{name}s" if name else "")
            ),
        )
    )


def _demand_of(caption: str, names: Sequence[Sequence[str]]) -> Demand:
    """What a caption asks for; UsageError where its words are no published ones."""
    first, second = (
        _PHRASE.format(number, "|".join(map(re.escape, of))) if of else "" for number, of in enumerate(names)
    )
    layouts = [first] if not second else [f"{first} and {second}", f"{second} (?P<where>{'|'.join(POSITIONS)}) {first}"]
    found = next(filter(None, (re.fullmatch(f"a photo of {layout}", caption) for layout in layouts)), None)
    if found is None:
        raise UsageError(message("option-invalid", name=_CAPTION, value=caption, wanted="a prompt of GenEval"))
    said = found.groupdict()
    include = tuple(
        Clause(
            name=of[0],
            count=number_of(said[f"n{number}"]) or 1,
            colour=said[f"c{number}"] or "",
            position=(said.get("where") or "") if number else "",
        )
        for number, of in enumerate(names)
        if of
    )
    counted = tuple(Clause(name=clause.name, count=clause.count + 1) for clause in include if clause.count > 1)
    return Demand(tag=_tag(include), include=include, exclude=counted)


def _tag(include: Sequence[Clause]) -> str:
    if len(include) == 1:
        return COUNT if include[0].count > 1 else COLOR if include[0].colour else SINGLE
    if include[1].position:
        return POSITION
    return COLOR_ATTR if any(clause.colour for clause in include) else TWO


def _place(cells: _Cells) -> ResultPlace:
    place = placed(cells[_IMAGE])
    if place.sample is None:
        wanted = "MODEL/00000/samples/0000.png"
        raise UsageError(message("option-invalid", name=_IMAGE, value=cells[_IMAGE], wanted=wanted))
    return place


def _rated(case: Case, key: tuple[str, int, str], who: str, row: Row[str]) -> Verdict:
    """What the published rule says of what one rater saw."""
    demands = demands_of(case)
    assert demands is not None
    try:
        boxes, colours = _seen(demands[0], row.cells)
        ruling = judge_published(demands[0], boxes, lambda of: [colours(of[0].name)] * len(of))
    except _Unanswered as silence:
        return _verdict(key, who, Outcome.UNDECIDED, reason=f"{row.where}: {silence} is not answered")
    failures = tuple(failure_of(fault, "a", "as the rater says") for fault in ruling.faults)
    return replace(
        _verdict(key, who, Outcome.PASS if ruling.is_right else Outcome.FAIL),
        failures=failures,
        failure_types=failure_types_of(failures, GenEvalRule.about.failure_types),
    )


def _seen(demand: Demand, cells: _Cells) -> tuple[list[SeenBox], Callable[[str], str]]:
    """A box for every entity that a rater counted, the second ones where they stand to the first; and the colours."""

    def answer(column: str) -> str:
        if not (cell := cells.get(column, "").strip()):
            raise _Unanswered(column)
        return cell

    counts = [_number(answer(_COUNT.format(number))) for number in range(len(demand.include))]
    shift = (0.0, 0.0)
    if demand.include[-1].position and all(counts):
        on_x, on_y = (_AT.get(answer(axis), (0.0, 0.0)) for axis in _AXES)
        shift = on_x[0] + on_y[0], on_x[1] + on_y[1]
    boxes = [
        SeenBox(name=clause.name, score=1.0, box=(x, y, x + 1, y + 1))
        for clause, n, (x, y) in zip(demand.include, counts, ((0.0, 0.0), shift), strict=False)
        for _ in range(n)
    ]

    def colour(name: str) -> str:
        number, clause = next((i, one) for i, one in enumerate(demand.include) if one.name == name)
        named = answer(_COLOUR.format(number)).split("|")
        return clause.colour if clause.colour in named else named[0]

    return boxes, colour


def _number(cell: str) -> int:
    if not (found := re.fullmatch(r"([0-9]{1,3})(\.0+)?", cell)):
        raise _Unanswered(f"{cell!r} is no number, so how many there are")
    return int(found[1])


def _majority(given: Sequence[Verdict]) -> Verdict:
    """What most raters find who can tell; with what the first of them finds wrong."""
    fails, passes = ([one for one in given if one.outcome is outcome] for outcome in (Outcome.FAIL, Outcome.PASS))
    key = given[0].case_id, given[0].repeat, given[0].model
    if len(fails) == len(passes):
        return _verdict(key, MAJORITY, Outcome.UNDECIDED, reason="as many raters say either")
    most = max(fails, passes, key=len)
    return replace(most[0], observers=(MAJORITY,))


def _verdict(key: tuple[str, int, str], who: str, outcome: Outcome, reason: str = "") -> Verdict:
    return Verdict(
        case_id=key[0],
        repeat=key[1],
        arm=PAIR,
        model=key[2],
        check=CHECK,
        observers=(who,),
        outcome=outcome,
        scores={} if outcome is Outcome.UNDECIDED else {"right_a": float(outcome is Outcome.PASS)},
        reason=reason,
    )
