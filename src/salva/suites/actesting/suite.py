"""Suite: does a small change of a caption change just that in the image? After ACTesting.

Captions come from a file, from the published sets, or from pocket's world; each is taken apart into a pool of entities
and triples, and each operator makes one mutant of it. A case is a caption and one mutant. Knows nothing of models,
images or judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.options import option
from salva.core.verdict import NO_TEXT
from salva.english.captions.choosing import GRAMMAR, caption_reader
from salva.english.captions.classes import KINDS, Classes
from salva.english.captions.wordnet import WordNet
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.density import Density
from salva.english.mutation.operators import OPERATORS, Setting
from salva.english.prompt_files import paraphrased_in, read_prompt_rows
from salva.errors import UsageError, unknown_name
from salva.messages import message
from salva.suites.actesting.cases import case_of_pair
from salva.suites.actesting.embedded import embedded_captions
from salva.suites.actesting.files import Caption, is_published, read_captions, read_published
from salva.suites.actesting.guide import guide_digest, read_guide
from salva.suites.actesting.planning import MutantPlan, plan

_N_SEEDS = {"quick": 10, "paper": 4062}
_WORDNET = "wordnet"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActestingOptions:
    """Where captions come from and how they are changed."""

    path: str = option(
        "",
        "A file of captions or a folder of published sets.",
        reaches="file",
    )
    classes: str = option("paper", "Classes of words.", choices=KINDS)
    hypernyms: str = option("none", "Source of hypernyms.", choices=("none", _WORDNET))
    synonyms: str = option(
        "table",
        "Source of synonyms.",
        choices=("table", _WORDNET),
    )
    wordings: str = option(
        "",
        "From salva write paraphrases.",
        reaches="file",
    )
    parser: str = option("", "grammar, or a spaCy pipeline.")
    operators: tuple[str, ...] = option(OPERATORS, "Operators.")
    guide: str = option("", "An earlier run; its failures are drawn more often.", reaches="file")
    seed: int = option(0, "Seed of the mutants.")

    def __post_init__(self) -> None:
        for operator in self.operators:
            if operator not in OPERATORS:
                raise unknown_name("operator", operator, OPERATORS)
        if not self.operators:
            raise UsageError(
                message("option-invalid", name="suite.operators", value="", wanted=f"some of {', '.join(OPERATORS)}")
            )
        if self.synonyms == _WORDNET != self.hypernyms:
            raise UsageError(
                message(
                    "flag-needed",
                    flag="suite.hypernyms=wordnet",
                    why="suite.synonyms=wordnet needs WordNet's classes",
                )
            )


class Actesting:
    """Suite: captions and what becomes of them when one entity, or one check, is changed."""

    version: ClassVar[str] = "2"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full")
    about: ClassVar[About] = About(
        published={"check.definition": "paper"},
        vetoes=("truth", "named-entities", NO_TEXT),
    )
    Options = ActestingOptions

    def __init__(self, options: ActestingOptions) -> None:
        self._options = options

    @classmethod
    def weights(cls, options: ActestingOptions) -> str:
        """Pins the verdicts that guide it."""
        return guide_digest(options.guide) if options.guide else ""

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, seed by seed.

        quick: ten seeds, of as many strata. paper: up to 4,062, as many as were published. full: one caption of every
        image. Of the published sets quick takes the first ten images, the others all.
        """
        return iter(self._planned(size).cases)

    def remarks(self, size: str) -> tuple[str, ...]:
        """What to tell before a run: how many seeds there are and which operators they could take."""
        return self._planned(size).remarks

    def _planned(self, size: str) -> MutantPlan:
        options = self._options
        return _planned(options, size, tuple(map(_stamp, (options.path, options.guide, options.wordings))))


# A run asks for its cases several times, and reading a corpus takes a minute.
@lru_cache(maxsize=2)
def _planned(options: ActestingOptions, size: str, stamps: tuple[float, ...]) -> MutantPlan:  # noqa: ARG001  # files change
    if options.path and is_published(options.path):
        return _published(options, size)
    captions = (
        read_captions(options.path) if options.path else [Caption(image=i, text=t) for i, t in embedded_captions()]
    )
    parser = options.parser or ("" if options.path else GRAMMAR)
    wordnet = WordNet() if options.hypernyms == _WORDNET else None
    setting = Setting(
        classes=Classes(kind=options.classes, hypernyms=wordnet),
        density=Density(corpus=Corpus(), matched=read_guide(options.guide) if options.guide else {}),
        synonyms=wordnet if options.synonyms == _WORDNET else None,
        wordings=_wordings(options.wordings) if options.wordings else {},
    )
    return plan(captions, caption_reader(parser), setting, options.operators, _N_SEEDS.get(size), options.seed)


def _wordings(path: str) -> dict[str, str]:
    wordings = paraphrased_in(read_prompt_rows(path))
    if not wordings:
        raise UsageError(
            message("suite-file-empty", path=path, what="paraphrases", wanted="a file from salva write paraphrases")
        )
    return wordings


def _published(options: ActestingOptions, size: str) -> MutantPlan:
    pairs = [pair for pair in read_published(options.path) if pair.operator in options.operators]
    images = list(dict.fromkeys(pair.image for pair in pairs))[: _N_SEEDS["quick"] if size == "quick" else None]
    kept = set(images)
    cases = tuple(case_of_pair(pair) for pair in pairs if pair.image in kept)
    if not cases:
        raise UsageError(
            message("suite-file-empty", path=options.path, what="pairs", wanted=", ".join(options.operators))
        )
    counts = Counter(case.category for case in cases)
    listed = ", ".join(f"{operator} {counts[operator]}" for operator in options.operators)
    return MutantPlan(cases=cases, remarks=(f"{len(images)} published seeds; pairs: {listed}",))


def _stamp(path: str) -> float:
    """When a file was changed last; 0 where there is none."""
    file = Path(path).expanduser()
    return file.stat().st_mtime if path and file.exists() else 0.0
