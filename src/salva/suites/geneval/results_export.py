"""Exporter: a run of GenEval in the folders and lines of the published program.

OUT/00000/metadata.jsonl and OUT/00000/samples/0000.png for every prompt and repeat, and OUT/results.jsonl; a folder a
model where there are several. What is written here `folder/`, `suite.path` and `salva import` read again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.image import Picture
from salva.core.judgements import CaseVerdict, deciding_verdicts
from salva.core.observation import Detections
from salva.core.options import WithoutOptions
from salva.core.result import DECIDED
from salva.core.source import ImageSource, RunSource
from salva.core.table import Table
from salva.core.verdict import Outcome, Verdict
from salva.errors import UsageError
from salva.files.outfiles import safe_name, write_bytes, write_text
from salva.imaging.files import encode_picture, stored_picture
from salva.messages import message
from salva.results.deciding import TRUTH, join
from salva.suites.geneval.demands import demands_of, metadata_of, names_of
from salva.suites.geneval.files import METADATA, GenEvalPrompt
from salva.suites.geneval.published import THRESHOLD, kept_boxes
from salva.suites.geneval.results import RESULTS, ResultLine, line_of, picture_path
from salva.suites.geneval.rules import OURS, SAYS, boxes_in_pixels
from salva.suites.geneval.suite import CHECK, IN_TASKS, SET


class ResultsExport(WithoutOptions):
    """A folder: prompts, images and result lines as GenEval's program keeps them."""

    version: ClassVar[str] = "1"

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """The prompts of the tasks, their images, and a line for every image that was decided."""
        records = source.records
        cases = [case for case in records.cases if case.labels.get(SET) == IN_TASKS and demands_of(case)]
        if not cases:
            raise UsageError(message("case-of-other-suite", case="", suite="geneval"))
        if not any(verdict.images for verdict in records.verdicts):
            raise UsageError(message("run-without-images"))
        numbers = {case.case_id: number for number, case in enumerate(cases)}
        rules = {check.name: check.options.get("rule", "") for check in records.asked.checks}
        rows: list[tuple[str, int, int, int]] = []
        for model in records.models:
            folder = out if len(records.models) == 1 else out / safe_name(model)
            for case in cases:
                path = folder / f"{numbers[case.case_id]:05}" / METADATA
                write_text(path, json.dumps(_metadata(case), ensure_ascii=False) + "\n")
            verdicts = [verdict for verdict in records.verdicts if verdict.model == model]
            pairs = _by_one_rule(join(cases, verdicts, records.deciding))
            rule = str(rules.get(CHECK)) if pairs and pairs[0].verdict.check == CHECK else OURS
            lines = []
            n_images = 0
            for case, verdict in pairs:
                if "a" not in verdict.images:
                    continue
                picture = stored_picture(source.images, verdict.images["a"])
                name = picture_path(numbers[verdict.case_id], verdict.repeat)
                write_bytes(folder / name, encode_picture(picture))
                n_images += 1
                if verdict.outcome in DECIDED:
                    lines.append(line_of(_result(case, verdict, name, picture, rule, source.images)))
            write_text(folder / RESULTS, "".join(f"{line}\n" for line in lines))
            rows.append((model, n_images, len(lines), len(pairs) - len(lines)))
        return ExportCount(n=len(cases), what="prompts", tables=(_written(rows),))


def _written(rows: Sequence[tuple[str, int, int, int]]) -> Table:
    return Table(
        name="written",
        columns=("model", "images", "result_lines", "undecided"),
        rows=tuple(rows),
        note="Undecided images have no result line.",
    )


def _metadata(case: Case) -> Mapping[str, object]:
    demands = demands_of(case)
    assert demands
    return metadata_of(demands[0], case.prompts[0].text)


def _by_one_rule(pairs: Sequence[CaseVerdict]) -> Sequence[CaseVerdict]:
    """Those of the rule that is not ours where one judged, else ours."""
    return deciding_verdicts(pairs, CHECK) or deciding_verdicts(pairs, TRUTH)


def _result(case: Case, verdict: Verdict, name: str, picture: Picture, rule: str, images: ImageSource) -> ResultLine:
    demands, prompt = demands_of(case), case.prompts[0]
    assert demands
    threshold = THRESHOLD if rule == OURS else demands[0].threshold
    seen = images.detections(verdict.images["a"], verdict.observers)
    boxes = boxes_in_pixels(seen or Detections(), picture.width, picture.height, names_of(demands))
    return ResultLine(
        filename=name,
        asked=GenEvalPrompt(text=prompt.text, demand=demands[0], formula=prompt.formula or ""),
        is_right=verdict.outcome is Outcome.PASS,
        reason="\n".join(SAYS.sub("", failure.message) for failure in verdict.failures),
        boxes=tuple(box for group in kept_boxes(boxes, threshold).values() for box in group),
        rule=rule,
        seen_by=verdict.observers,
        model=verdict.model,
        errors=tuple(failure.failure_type for failure in verdict.failures),
    )
