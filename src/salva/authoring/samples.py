"""Triples with their reviews: a file of samples, people's reviews of them, and the hard ones of a run.

A sample is valid when two people say so, or a third where two differ; until then it is unreviewed or disputed, and
the file says so and who said what, so that a later sheet adds to it. The files are JSON lines that the semvar suite
reads as they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol

from salva.authoring.criteria import CriterionCheck
from salva.core.cells import plain_cell
from salva.errors import UsageError
from salva.files.tables import csv_text, read_json_lines, read_sheet, unusable
from salva.messages import message

UNREVIEWED, DISPUTED, VALID, INVALID = "unreviewed", "disputed", "valid", "invalid"
REVIEW_COLUMNS = ("id", "category", "T_a", "T_pv", "T_pi", "reviewer", "valid", "note")
_YES, _NO = {"yes", "y", "1", "true", "valid"}, {"no", "n", "0", "false", "invalid"}
_ROLES = ("a", "pv", "pi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A triple with all that is known about it."""

    sample_id: str
    category: str
    """Several are joined by commas."""
    anchor: str
    changed: str
    kept: str
    formulas: tuple[str, str, str] | None = None
    """What the three sentences say, in notation, where the logic core can read all of them."""
    template: str = ""
    rule: str = ""
    kept_by: str = ""
    """How the kept meaning was made: "rule" or a text model's name, and the method."""
    checks: tuple[CriterionCheck, ...] = ()
    review: str = UNREVIEWED
    """Empty for a triple that came from elsewhere."""
    reviews: Mapping[str, bool] = field(default_factory=dict)
    """Reviewer to whether they call it valid."""

    def to_json(self) -> dict[str, object]:
        """One line of a file of samples."""
        return {
            "id": self.sample_id,
            "T_a": self.anchor,
            "T_pv": self.changed,
            "T_pi": self.kept,
            "category": self.category,
            **({"formulas": dict(zip(_ROLES, self.formulas, strict=True))} if self.formulas else {}),
            "template": self.template,
            "rule": self.rule,
            "kept_by": self.kept_by,
            "checks": [asdict(check) for check in self.checks],
            "review": self.review,
            "reviews": {name: "yes" if is_valid else "no" for name, is_valid in self.reviews.items()},
        }


@dataclass(slots=True, kw_only=True)
class Vote:
    """How hard one case was for the models of several runs."""

    categories: tuple[str, ...]
    n_low: int = 0
    scores: list[float] = field(default_factory=list)


class JsonLine(Protocol):
    """Whatever can be one line of a file."""

    def to_json(self) -> dict[str, object]:
        """The line's object."""


def lines_of(samples: Iterable[JsonLine]) -> str:
    """The samples as JSON lines."""
    return "".join(json.dumps(sample.to_json(), ensure_ascii=False) + "\n" for sample in samples)


def read_samples(path: Path) -> list[Sample]:
    """The samples of a file; a line that is none is named."""
    samples, problems = [], []
    for where, fields in read_json_lines(path):
        try:
            samples.append(_sample(fields))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{where}: {type(error).__name__}: {error}")
    if problems or not samples:
        raise (
            unusable(str(path), problems, "samples") if problems else UsageError(message("file-empty", path=str(path)))
        )
    return samples


def review_sheet(samples: Sequence[Sample]) -> str:
    """A CSV for a reviewer to fill in: reviewer, valid (yes or no) and a note."""
    rows = [
        (sample.sample_id, sample.category, sample.anchor, sample.changed, sample.kept, "", "", "")
        for sample in samples
    ]
    return csv_text([REVIEW_COLUMNS, *rows])


def read_reviews(paths: Sequence[Path]) -> dict[str, dict[str, bool]]:
    """Sample id to reviewer to whether it is valid; rows not filled in yet are passed over."""
    reviews: dict[str, dict[str, bool]] = {}
    for path in paths:
        sheet = read_sheet(path)
        missing = [name for name in ("id", "reviewer", "valid") if name not in sheet.columns]
        if not sheet.rows or missing:
            raise UsageError(message("review-columns", path=str(path)))
        for where, row in sheet.rows:
            said = row["valid"].strip().lower()
            if not said:
                continue
            if said not in _YES | _NO or not row["reviewer"].strip():
                wanted = "yes or no, with a reviewer"
                raise UsageError(
                    message(
                        "value-invalid", path=str(path), where=where, name="valid", value=row["valid"], wanted=wanted
                    )
                )
            sample_id, reviewer = plain_cell(row["id"]), row["reviewer"].strip()
            if reviews.setdefault(sample_id, {}).setdefault(reviewer, said in _YES) != (said in _YES):
                raise UsageError(message("review-contradiction", reviewer=reviewer, entry=sample_id))
    return reviews


def reviewed(samples: Sequence[Sample], reviews: Mapping[str, Mapping[str, bool]]) -> list[Sample]:
    """The samples with what people made of them, then and now."""
    unknown = sorted(set(reviews) - {sample.sample_id for sample in samples})
    if unknown:
        raise UsageError(message("review-unknown", n=len(unknown), entry=unknown[0]))
    done = []
    for sample in samples:
        now = reviews.get(sample.sample_id, {})
        for name in sample.reviews.keys() & now.keys():
            if sample.reviews[name] != now[name]:
                raise UsageError(message("review-contradiction", reviewer=name, entry=sample.sample_id))
        said = dict(sorted({**sample.reviews, **now}.items()))
        done.append(replace(sample, review=verdict_of(list(said.values())), reviews=said) if said else sample)
    return done


def verdict_of(said: Sequence[bool]) -> str:
    """Two who agree decide; where two differ, a third does."""
    n_yes, n_no = said.count(True), said.count(False)
    if max(n_yes, n_no) < 2:
        return DISPUTED if n_yes and n_no else UNREVIEWED
    if n_yes == n_no:
        return DISPUTED
    return VALID if n_yes > n_no else INVALID


def hardest(votes: Mapping[str, Vote], per_category: int) -> list[str]:
    """Case ids that most models generate badly, the hardest first; the lower mean score breaks ties.

    At most so many a category; a case of several categories counts in each of them.
    """
    low = [(case_id, vote) for case_id, vote in votes.items() if vote.n_low]
    ranked = sorted(low, key=lambda one: (-one[1].n_low, sum(one[1].scores) / len(one[1].scores), one[0]))
    taken: Counter[str] = Counter()
    chosen: list[str] = []
    for case_id, vote in ranked:
        if all(taken[category] < per_category for category in vote.categories):
            chosen.append(case_id)
            taken.update(vote.categories)
    return chosen


def _sample(fields: Mapping[str, object]) -> Sample:
    checks, reviews = fields.get("checks") or [], fields.get("reviews") or {}
    if not isinstance(checks, list) or not isinstance(reviews, dict) or not set(reviews.values()) <= {"yes", "no"}:
        raise TypeError("checks is a list, and reviews is an object of reviewers to yes or no")
    texts = [fields[name] for name in ("T_a", "T_pv", "T_pi")]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("T_a, T_pv and T_pi are texts")
    return Sample(
        sample_id=str(fields["id"]),
        category=str(fields["category"]),
        anchor=str(texts[0]),
        changed=str(texts[1]),
        kept=str(texts[2]),
        formulas=_formulas(fields.get("formulas")),
        template=str(fields.get("template", "")),
        rule=str(fields.get("rule", "")),
        kept_by=str(fields.get("kept_by", "")),
        checks=tuple(CriterionCheck(**check) for check in checks),
        review=str(fields.get("review", UNREVIEWED)),
        reviews={str(name): said == "yes" for name, said in reviews.items()},
    )


def _formulas(given: object) -> tuple[str, str, str] | None:
    if not isinstance(given, dict) or not all(given.get(role) for role in _ROLES):
        return None
    a, pv, pi = (str(given[role]) for role in _ROLES)
    return a, pv, pi
