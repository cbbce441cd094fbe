"""Suite: one scene of your own, alone or said again by a law of logic.

A formula or a sentence comes in; out go a pair for every other wording that the law proves, or the prompt by itself
where no law is named. Knows nothing of models, images or detectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.case import SEVERAL_WORLDS, Case, Finding, Prompt
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.sentences import from_english, parse_text, to_english
from salva.errors import FormulaError, UsageError, invalid_option
from salva.logic.equivalence import is_contradictory, is_determinate
from salva.logic.formula import Formula, entities
from salva.logic.laws import find_laws
from salva.logic.notation import to_notation
from salva.logic.rewrite import Rewrite, rewrites
from salva.logic.worlds import count_worlds
from salva.messages import message

_SUITE = "scene"


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSuiteOptions:
    """The scene, and its other wordings."""

    scene: str = option("cat & dog", "The scene: a formula or a sentence.")
    law: str = option("", "A law whose other wordings are tested.")
    prompt: str = option("", "The prompt; the default is salva's English.")

    def __post_init__(self) -> None:
        if is_contradictory(parse_text(self.scene)):
            raise invalid_option("suite.scene", self.scene, "a formula that an image can show")
        if self.law:
            find_laws(self.law)


class SceneSuite:
    """Suite: one scene of your own, said again by a law of logic."""

    version: ClassVar[str] = "2"
    sizes: ClassVar[tuple[str, ...]] = ("quick",)
    about: ClassVar[About] = About(average="pooled", vetoes=(NO_TEXT,))
    Options = SceneSuiteOptions

    def __init__(self, options: SceneSuiteOptions) -> None:
        self._options = options
        self._formula = parse_text(options.scene)

    def cases(self, size: str) -> Iterator[Case]:
        """A pair for every wording that the law proves, in the order it is found; without a law the prompt alone."""
        if not self._options.law:
            yield self._case("alone", (self._prompt("a", self._wording(), self._formula),), {})
            return
        proved = _by_formula(rewrites(self._formula, self._options.law))
        if not proved:
            raise UsageError(
                message(
                    "law-not-applicable", law=self._options.law, formula=to_notation(self._formula), known=self._laws()
                )
            )
        for rewrite in proved:
            prompts = (
                self._prompt("a", self._wording(), self._formula),
                self._prompt("b", to_english(rewrite.formula), rewrite.formula),
            )
            yield self._case(rewrite.law.name, prompts, {"law": rewrite.law.family})

    def _case(self, category: str, prompts: tuple[Prompt, ...], labels: dict[str, str]) -> Case:
        has_one_world = is_determinate(self._formula)
        said = [f"{prompt.formula}\n{prompt.text}" for prompt in prompts]
        n_worlds = 1 if has_one_world else count_worlds(self._formula)
        several = Finding(
            kind=SEVERAL_WORLDS, sentence=f"not determinate: {n_worlds} worlds, so two right images may differ"
        )
        return Case(
            case_id=f"{_SUITE}-{category}-{_digest(*said)}",
            suite=_SUITE,
            category=category,
            prompts=prompts,
            checks=("truth", "right-answers"),
            measures=("same-scene",) if len(prompts) > 1 else (),
            labels=labels,
            cluster="+".join(sorted(entities(self._formula))),
            equivalent=True if len(prompts) > 1 else None,
            determinate=has_one_world,
            findings=() if has_one_world else (several,),
            # The first wording is generated once for all that it is compared with.
            painting=f"{_SUITE}-{_digest(said[0])}",
        )

    def _prompt(self, role: str, text: str, formula: Formula) -> Prompt:
        return Prompt(role=role, text=text, formula=to_notation(formula))

    def _wording(self) -> str:
        """The prompt as given; a scene that was given as a sentence is one."""
        if self._options.prompt:
            return self._options.prompt
        try:
            from_english(self._options.scene)
        except FormulaError:
            return to_english(self._formula)
        return self._options.scene

    def _laws(self) -> str:
        """The laws that apply to the scene."""
        return ", ".join(dict.fromkeys(rewrite.law.family for rewrite in rewrites(self._formula))) or "none"


def _by_formula(proved: Iterator[Rewrite]) -> list[Rewrite]:
    """Each other wording once, whatever law or place it comes from."""
    return list({to_notation(rewrite.formula): rewrite for rewrite in proved}.values())


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
