"""SemVarBench's score of triples: people's ratings, training data."""

from __future__ import annotations

from collections.abc import Mapping

from salva.core.case import Case, Finding, Prompt
from salva.core.scoring import Pair, TrainingFilter
from salva.suites.semvar.effect import PAIRS, UNLABELLED, category_name, effect, labels_of_triple
from salva.suites.semvar.rows import ROLES

_ROUNDING = 1e-9


class TripleScoring:
    """Seven scores a triple; figures, cases and filter are those of the paper."""

    suite = "semvar"
    pairs: tuple[Pair, ...] = PAIRS
    preferences: tuple[Pair, ...] = (("a", "pv"), ("pv", "a"), ("pv", "pi"), ("pi", "pv"))
    figures: tuple[str, ...] = ("kappa", "gamma_w", "gamma_wo")

    def figures_of(self, scores: Mapping[Pair, float]) -> dict[str, float]:
        """Kappa and its parts."""
        reckoned = effect(scores)
        return {"kappa": reckoned.kappa, "gamma_w": reckoned.gamma_w, "gamma_wo": reckoned.gamma_wo}

    def rated_case(self, case_id: str, key: str, texts: Mapping[str, str], category: str) -> Case:
        """A triple as the suite would make it."""
        categories = tuple(dict.fromkeys(map(category_name, category.split(",")))) if category else (UNLABELLED,)
        missing = tuple(f"T_{role}" for role in ROLES if role not in texts)
        sentence = f"no text of {', '.join(missing)}"
        return Case(
            case_id=case_id,
            suite=self.suite,
            category=categories[0],
            prompts=tuple(Prompt(role=role, text=texts.get(role, "")) for role in ROLES),
            checks=("semantic-effect",),
            labels=labels_of_triple(categories, "own", key),
            findings=(Finding(kind="no-text", sentence=sentence, subject=missing),) if missing else (),
        )

    def passes(self, scores: Mapping[Pair, float], wanted: TrainingFilter) -> bool:
        """Equations 12 to 16."""
        matched = ROLES if wanted.need_kept else ("a", "pv")
        if any(scores[role, role] <= wanted.min_score for role in matched):
            return False
        if wanted.filter == "none":
            return True
        own, other = scores["a", "a"], scores["pv", "pv"]
        crossed = (scores["a", "pv"], scores["pv", "a"])
        if any(own <= score or other <= score for score in crossed):
            return False
        by_image = (own - scores["a", "pv"]) - (other - scores["pv", "a"])
        by_text = (own - scores["pv", "a"]) - (other - scores["a", "pv"])
        # Judges speak in steps, so differences of exactly C3 are common, and rounding must not let some of them pass.
        return max(abs(by_image), abs(by_text)) < wanted.max_asymmetry - _ROUNDING

    def filter_note(self, wanted: TrainingFilter) -> str:
        """Which of the two readings of the paper this is."""
        if wanted.need_kept:
            return "All matched scores above min_score."
        return "S(T_a, I_a) and S(T_pv, I_pv) above min_score (equation 12)."


SCORING = TripleScoring()
