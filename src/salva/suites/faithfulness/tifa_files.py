"""The files of the TIFA-lite project, recognised by their columns: prompts, answers, CLIP scores, means by category.

Our own columns may follow the published ones: cluster, contrast, repeat, and whether an answer's parents hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from salva.core.exchange import Flaw
from salva.errors import UsageError
from salva.files.tables import Row, read_sheet
from salva.messages import message

PROMPT_COLUMNS = ("pair_id", "category_id", "logical_law", "semantic_dimension", "prompt_A", "prompt_B")
PAIR_COLUMNS = ("pair_id", "logical_law", "category_id", "semantic_dimension")
ANSWERED = ("predicted_answer_norm", "predicted_answer_raw", "is_correct")
"""An answer file has at least one of these."""
ANSWER_COLUMNS = (
    *(*PAIR_COLUMNS, "image_variant", "image_path", "question"),
    *("expected_answer", "predicted_answer_raw", "predicted_answer_norm", "is_correct"),
)
CLIP_SCORES = ("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
CLIP_COLUMNS = (*PAIR_COLUMNS, "image_A_path", "image_B_path", *CLIP_SCORES)
METRIC_COLUMNS = ("n_pairs", "mean_faith_A", "mean_faith_B", "mean_faith", "mean_faith_stability")
CLUSTER = "cluster"
"""Of prompts: pairs about the same entities, which are not independent."""
CONTRAST_OF = "contrast_of"
"""Of prompts that must differ: the law that they only seem to follow."""
REPEAT = "repeat"
"""Of answers and CLIP scores, in runs that generate every prompt several times."""
GROUNDED = "is_grounded"
"""Of answers: is_correct, and every question that this one depends on is answered with yes."""
_OURS = (CLUSTER, CONTRAST_OF, REPEAT, GROUNDED)
_KNOWN = frozenset((*PROMPT_COLUMNS, *ANSWER_COLUMNS, *CLIP_COLUMNS, *METRIC_COLUMNS, *_OURS))
_MODEL = re.compile(r"(?:vqa_raw_results|vqa_results|clip_results)_(.+)")


class TifaKind(StrEnum):
    """What a file holds."""

    ANSWERS = "answers"
    CLIP = "CLIP scores"
    PROMPTS = "prompts"
    MEANS = "means by category"
    """They follow from the answers and are not read."""


NEEDED = {
    TifaKind.ANSWERS: ("pair_id", "image_variant", "question", "expected_answer"),
    TifaKind.CLIP: ("pair_id", "clip_A", "clip_B"),
    TifaKind.PROMPTS: ("pair_id", "prompt_A", "prompt_B"),
    TifaKind.MEANS: ("category_id", "n_pairs", "mean_faith"),
}
"""The columns that make a file one of a kind; of two that fit, the first."""


@dataclass(slots=True, kw_only=True)
class TifaFile:
    """A CSV file of the project."""

    name: str
    path: Path
    kind: TifaKind
    columns: tuple[str, ...]
    rows: tuple[Row[str], ...]

    @property
    def model(self) -> str:
        """Whom it is about, by its name."""
        stem = Path(self.name).stem
        named = _MODEL.fullmatch(stem)
        return named[1] if named else stem


def read_tifa_file(path: Path, note: Callable[[Flaw], None], name: str = "") -> TifaFile:
    """A file and what it holds; UsageError where it is none of the project's. name: what to call it."""
    name = name or path.name
    ragged: list[Flaw] = []
    table = read_sheet(path, ragged)
    for flaw in ragged:
        note(replace(flaw, what=f"{flaw.what}; row skipped"))
    if extra := [column for column in table.columns if column and column not in _KNOWN]:
        note(Flaw(file=name, where="line 1", what=f"unused columns: {', '.join(extra)}"))
    kind = _kind(path, table.columns)
    return TifaFile(name=name, path=path, kind=kind, columns=table.columns, rows=table.rows)


def _kind(path: Path, columns: tuple[str, ...]) -> TifaKind:
    missing = {kind: [name for name in needed if name not in columns] for kind, needed in NEEDED.items()}
    if not any(name in columns for name in ANSWERED):
        missing[TifaKind.ANSWERS].append(f"one of {', '.join(ANSWERED)}")
    nearest = min(missing, key=lambda kind: len(missing[kind]))
    if missing[nearest]:
        raise UsageError(
            message(
                "file-kind-unknown",
                path=str(path),
                wanted=f"prompts, answers or CLIP scores; {nearest} need {', '.join(missing[nearest])}",
                header=", ".join(columns) or "nothing",
            )
        )
    return nearest
