"""Importer: result lines that GenEval's program wrote, or people's annotations, read into cases and verdicts.

Their own verdicts make the results. Where lines hold boxes, numbers and positions are judged again, by the published
rule to see whether it says the same, and by ours; lines have no colours, so a coloured entity that is there stays
undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import ClassVar

from salva.checks.scenes import SceneOptions, mentioned
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.exchange import Flaw, ImportSettings, ReadIn
from salva.core.image import ImageRef
from salva.core.observation import Detection, Detections
from salva.core.options import keyed_options, option
from salva.core.protocols import ImageObservations
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import PAIR, Failure, Outcome, Verdict, failure_types_of
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import parse_json
from salva.messages import message, text_of
from salva.results.deciding import TRUTH
from salva.suites.geneval.annotations import is_annotations, read_annotations
from salva.suites.geneval.demands import TASKS, demands_of
from salva.suites.geneval.files import read_metadata
from salva.suites.geneval.published import JUDGES, PUBLISHED, Ruling, SeenBox, fault_in
from salva.suites.geneval.results import RESULTS, ResultLine, placed, result_in
from salva.suites.geneval.rules import NO_COLOURS, OURS, GenEvalRule, RuleOptions, failure_of
from salva.suites.geneval.suite import CHECK, case_id_of, missing_prompts, task_case

THEIRS = "published evaluation"
"""The observer, where the lines do not say."""
_ERRORS = {TRUTH: Truth.about.failure_types, CHECK: GenEvalRule.about.failure_types}
"""The error types of each check."""
_N_NAMED = 5
_NO_IMAGE = ImageRef(image_id="", width=0, height=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsOptions:
    """What the lines cannot say about themselves."""

    metadata: str = option("", "The official metadata, to name missing prompts.")


@dataclass(frozen=True, slots=True)
class _PlacedLine:
    where: str
    result: ResultLine
    repeat: int


class ResultsImport:
    """Result lines of GenEval's program: a run to report and compare, and what their boxes say by our rule."""

    version: ClassVar[str] = "1"
    Options = ResultsOptions

    def __init__(self, options: ResultsOptions) -> None:
        self._metadata = options.metadata
        self._truth = Truth(SceneOptions())

    def read(self, files: Sequence[Path], settings: ImportSettings) -> ReadIn:
        """Cases and verdicts of these files; one file is one model."""
        if settings.model and len(files) > 1:
            raise UsageError(message("model-name-ambiguous", model=settings.model, n=len(files)))
        if all(map(is_annotations, files)):
            names = settings.names or [path.name for path in files]
            return replace(read_annotations(files, names, settings.model), rules=_asked(PUBLISHED))
        problems: list[Flaw] = []
        cases: dict[str, Case] = {}
        verdicts: list[Verdict] = []
        counts: Counter[str] = Counter()
        models: list[str] = []
        rules: set[str] = set()
        for path, name in zip(files, settings.names or [path.name for path in files], strict=True):
            lines = _lines(path, name, problems)
            model = _untaken(settings.model or _model_of(path, lines), models)
            models.append(model)
            for line in lines:
                case = _case(line.result, cases)
                verdicts.append(_theirs(case, line, model))
                rules.add(line.result.rule)
                verdicts += self._judged_again(case, line, model, name, problems, counts)
            problems += self._gaps(name, [line.result for line in lines])
            counts["images"] += len(lines)
        if not verdicts:
            raise UsageError(
                message(
                    "import-empty",
                    what="results of GenEval",
                    wanted="lines with correct and metadata" + "".join(f"; {flaw}" for flaw in problems[:1]),
                )
            )
        if len(rules) > 1:
            raise UsageError(message("rules-mixed", rules=", ".join(sorted(rules))))
        return ReadIn(
            suite="geneval",
            models=tuple(models),
            cases=tuple(cases.values()),
            verdicts=tuple(verdicts),
            problems=tuple(problems),
            counts={"images": counts["images"], "prompts": len(cases), **{what: n for what, n in counts.items() if n}},
            rules=_asked(*rules),
            repeats=1 + max(verdict.repeat for verdict in verdicts),
            observers=_roles(verdicts, *rules),
            check="" if rules <= {OURS} else CHECK,
        )

    def _judged_again(
        self, case: Case, line: _PlacedLine, model: str, name: str, problems: list[Flaw], counts: Counter[str]
    ) -> list[Verdict]:
        """What the line's boxes say by ours; and a problem where they contradict the line by its own rule."""
        result = line.result
        if result.boxes is None:
            counts["lines without boxes"] += 1
            return []
        if result.rule == OURS:
            return []
        ruling = _optimistic(result, case)
        is_coloured = any(clause.colour for clause in result.asked.demand.include)
        if ruling.is_right != result.is_right and (result.is_right or not is_coloured):
            counts["lines that contradict their boxes"] += 1
            said = f"is {'right' if result.is_right else 'wrong'}; by {result.rule} its boxes say otherwise"
            problems.append(Flaw(file=name, where=line.where, what=f"{said}: {ruling.reason or 'nothing is wrong'}"))
        query = mentioned(case).query
        seen = Detections(boxes=tuple(_shares(result.boxes)))
        conclusion = self._truth.judge(case, {"a": ImageObservations(image=_NO_IMAGE, seen={query: seen})})
        return [
            Verdict(
                case_id=case.case_id,
                repeat=line.repeat,
                arm=PAIR,
                model=model,
                check=TRUTH,
                observers=result.seen_by or (THEIRS,),
                outcome=conclusion.outcome,
                failure_types=conclusion.failure_types,
                failures=conclusion.failures,
                # Without colours a coloured entity can be found missing, and never right.
                scores={**conclusion.scores, **({NO_COLOURS: 1.0} if is_coloured else {})},
                reason=conclusion.reason,
            )
        ]

    def _gaps(self, name: str, results: Sequence[ResultLine]) -> list[Flaw]:
        """Prompts that have no line: by name where the metadata is given, else by task."""
        there = {result.asked.text for result in results}
        if self._metadata:
            missing = [asked.text for asked in read_metadata(self._metadata) if asked.text not in there]
            if not missing:
                return []
            n_asked = len(missing) + len(there)
            listed = "; ".join(missing[:_N_NAMED]) + ("; ..." if len(missing) > _N_NAMED else "")
            return [Flaw(file=name, what=f"{n_asked - len(missing)} of {n_asked} prompts; missing: {listed}")]
        by_task = Counter(tag for _, tag in {(result.asked.text, result.asked.demand.tag) for result in results})
        gaps = missing_prompts(by_task) if by_task.keys() <= set(TASKS) else ""
        return [Flaw(file=name, what=gaps)] if gaps else []


def _lines(path: Path, name: str, problems: list[Flaw]) -> list[_PlacedLine]:
    """The lines that can be used; what is wrong with the others is noted."""
    usable = list(_usable(path, name, problems))
    boxes = [result.boxes for _, result in usable]
    if () in boxes and not any(boxes):
        # One image may well show nothing; of all of them it says that nobody kept the boxes.
        what = "no boxes in any line; not judged again"
        problems.append(Flaw(file=name, what=what))
        usable = [(where, replace(result, boxes=None)) for where, result in usable]
    # An image with a number keeps it; those without take what is left, in the order of the lines.
    samples = [placed(result.filename).sample for _, result in usable]
    numbered = {(result.asked.text, sample) for (_, result), sample in zip(usable, samples, strict=True)}
    taken: set[tuple[str, int]] = set()
    lines: list[_PlacedLine] = []
    for (where, result), sample in zip(usable, samples, strict=True):
        prompt = result.asked.text
        repeat = sample
        if repeat is None:
            repeat = next(n for n in count() if (prompt, n) not in taken and (prompt, n) not in numbered)
        if (prompt, repeat) in taken:
            problems.append(Flaw(file=name, where=where, what=f"second line for {result.filename!r}, skipped"))
            continue
        taken.add((prompt, repeat))
        lines.append(_PlacedLine(where, result, repeat))
    return lines


def _usable(path: Path, name: str, problems: list[Flaw]) -> Iterator[tuple[str, ResultLine]]:
    """What each line says, with its place."""
    for number, text in enumerate(file_text(path).split("\n"), 1):
        if not text.strip():
            continue
        where = f"line {number}"
        try:
            cells = parse_json(path, text)
            if not isinstance(cells, dict):
                raise UsageError(message("option-invalid", name="line", value=text, wanted="a JSON object"))
            yield where, result_in(cells)
        except UsageError as error:
            problems.append(Flaw(file=name, where=where, what=f"{text_of(error)}; not used"))


def _case(result: ResultLine, cases: dict[str, Case]) -> Case:
    case_id = case_id_of(result.asked.text)
    return cases.setdefault(case_id, task_case(case_id, result.asked))


def _theirs(case: Case, line: _PlacedLine, model: str) -> Verdict:
    """The verdict that the line states, with the errors that its reason names."""
    result = line.result
    failures = () if result.is_right else tuple(_failures(result))
    return Verdict(
        case_id=case.case_id,
        repeat=line.repeat,
        arm=PAIR,
        model=model,
        check=_check(result),
        observers=result.seen_by or (THEIRS,),
        outcome=Outcome.PASS if result.is_right else Outcome.FAIL,
        failure_types=failure_types_of(failures, Truth.about.failure_types if result.rule == OURS else ()),
        failures=failures,
        scores={"right_a": float(result.is_right)},
    )


def _failures(result: ResultLine) -> Iterator[Failure]:
    """A line of the reason each: in the words of the rule, or in words of ours with the error type with them."""
    for number, line in enumerate(result.reason.split("\n")):
        fault = fault_in(line) if result.rule in JUDGES else None
        if fault is not None:
            yield failure_of(fault, "a", "as they say")
        elif number < len(result.errors) and result.errors[number] in _ERRORS[_check(result)]:
            yield Failure(failure_type=result.errors[number], role="a", message=line)


def _check(result: ResultLine) -> str:
    return TRUTH if result.rule == OURS else CHECK


def _optimistic(result: ResultLine, case: Case) -> Ruling:
    """The line's rule over its boxes, every colour taken to be the one asked for, since lines have none."""
    demands = demands_of(case)
    assert demands is not None
    asked = {clause.name: clause.colour for clause in demands[0].include}
    return JUDGES[result.rule](demands[0], result.boxes or (), lambda boxes: [asked[box.name] for box in boxes])


def _shares(boxes: Sequence[SeenBox]) -> list[Detection]:
    """Boxes as shares of the largest ones' reach: which side of another an entity is on does not depend on the size."""
    width, height = (max((box.box[i] for box in boxes), default=1.0) or 1.0 for i in (2, 3))
    return [
        Detection(
            label=box.name,
            score=box.score,
            box=(box.box[0] / width, box.box[1] / height, box.box[2] / width, box.box[3] / height),
        )
        for box in boxes
    ]


def _model_of(path: Path, lines: Sequence[_PlacedLine]) -> str:
    """As most lines say, or the folder that most images lie in, or the file's own name or folder."""
    for names in (
        [line.result.model for line in lines],
        [placed(line.result.filename).model for line in lines],
    ):
        if named := Counter(filter(None, names)).most_common(1):
            return named[0][0]
    return path.absolute().parent.name if path.stem == Path(RESULTS).stem else path.stem


def _untaken(model: str, taken: Sequence[str]) -> str:
    return model if model not in taken else f"{model} ({len(taken) + 1})"


def _asked(rule: str) -> tuple[ComponentSpec, ...]:
    options = keyed_options(RuleOptions(rule=rule if rule != OURS else PUBLISHED))
    by_rule = ComponentSpec(role="check", name=CHECK, options=options)
    truth = ComponentSpec(role="check", name=TRUTH, options=keyed_options(SceneOptions()))
    return (truth,) if rule == OURS else (by_rule, truth)


def _roles(verdicts: Sequence[Verdict], rule: str) -> dict[str, str]:
    """Each observer with its role: a detector comes first, then who read text, or by other rules named colours."""
    second = "reader" if rule == OURS else "embedder"
    return {
        name: "detector" if place == 0 else second
        for verdict in verdicts
        for place, name in enumerate(verdict.observers)
    }
