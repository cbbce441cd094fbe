"""Suite: does the image show the entities, numbers, colours and places of its prompt? After GenEval.

The official metadata, or prompts of our own in pocket's world, become cases of one prompt each with its formula and
its task. Beside the tasks stand pairs that say the same otherwise, rewritten prompts and harder ones. Knows nothing of
models, images or detectors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.case_sets import FEWEST_CASES, few_of_each, slug
from salva.core.options import option
from salva.core.quantity import quantity
from salva.core.verdict import NO_TEXT
from salva.english.pair_facts import settled
from salva.errors import unknown_name
from salva.files.outfiles import unique_name
from salva.suites.geneval.demands import (
    COLOR,
    COLOR_ATTR,
    COUNT,
    POSITION,
    SINGLE,
    TAG,
    TASKS,
    TWO,
    commuted,
    exchanged,
    formula_of,
    names_of,
    other_side,
    text_of,
)
from salva.suites.geneval.embedded import HARD, embedded, hard
from salva.suites.geneval.files import GenEvalPrompt, read_metadata, with_rewritten
from salva.suites.geneval.published import PUBLISHED, Demand

CHECK = "geneval"
N_OFFICIAL = {SINGLE: 80, TWO: 99, COUNT: 80, COLOR: 94, POSITION: 100, COLOR_ATTR: 100}
"""How many prompts each published task has."""
SET, IN_TASKS, BESIDE = "set", "tasks", "beside"
"""The label that says whether a case counts towards the six tasks or stands with them, and its values."""
SOURCE, OFFICIAL, OWN = "source", "file", "own"
"""The label that says whether a prompt came from a file or is our own, and its values."""
KIND, REWRITTEN, ATOMS, PARTNER = "kind", "rewritten", "atoms", "of"
"""Labels of cases beside the tasks: how they stand there, and the case they were made of."""
VARIANTS: dict[str, Callable[[Demand], Demand | None]] = {
    "commuted": commuted,
    "other-side": other_side,
    "exchanged": exchanged,
}
_QUICK, _PAPER, _FULL, _HARD = 4, 40, 100, 40
_OPENING = re.compile(r"\Aa photo of (an? )?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenEvalOptions:
    """Where the prompts are, and what is asked with them."""

    path: str = option(
        "",
        "GenEval's metadata, or a folder of images with it.",
        reaches="file",
    )
    rewritten: str = option(
        "",
        "Rewritten prompts: JSON lines with prompt and rewritten.",
        reaches="file",
    )
    variants: tuple[str, ...] = option((), f"Reworded pairs: {', '.join(VARIANTS)}; size beyond has all.")

    def __post_init__(self) -> None:
        for name in self.variants:
            if name not in VARIANTS:
                raise unknown_name("variant", name, VARIANTS)


class GenEval:
    """Suite: six tasks, from one entity to two coloured ones, and what stands with them."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "paper", "full", "beyond")
    about: ClassVar[About] = About(
        published={"check": CHECK, "reader": "none", "check.rule": PUBLISHED},
        vetoes=(NO_TEXT,),
    )
    Options = GenEvalOptions

    def __init__(self, options: GenEvalOptions) -> None:
        self._options = options

    def cases(self, size: str) -> Iterator[Case]:
        """The cases of a named size, task by task.

        quick: four prompts a task, and at least 18. paper: all of a file, forty a task of our own. full: a hundred a
        task of our own. beyond: what stands beside the tasks alone: every variant of the paper's prompts, and prompts
        that grow.
        """
        asked = _named(self._asked(size))
        if size != "beyond":
            source = OFFICIAL if self._options.path else OWN
            yield from (task_case(name, prompt, source) for name, prompt in asked)
        for variant in VARIANTS if size == "beyond" else self._options.variants:
            yield from _pairs(variant, asked)
        yield from (_rewritten(name, prompt) for name, prompt in asked if prompt.rewritten)
        if size == "beyond":
            yield from (_hard_case(chain, n_atoms, prompt) for chain, n_atoms, prompt in hard(_HARD))

    def remarks(self, size: str) -> Iterator[str]:
        """How many prompts a file has of each task, and which GenEval has more of."""
        if not self._options.path:
            return
        n_each = Counter(prompt.demand.tag for prompt in read_metadata(self._options.path))
        yield f"{quantity(n_each.total(), 'prompts')}: {', '.join(f'{n} {tag}' for tag, n in n_each.items())}"
        if n_each.keys() <= set(TASKS) and (gaps := missing_prompts(n_each)):
            yield f"{gaps}; figures are not GenEval's"
        if size == "quick":
            yield f"size quick takes {_QUICK} prompts a task, and at least {FEWEST_CASES}"

    def _asked(self, size: str) -> Sequence[GenEvalPrompt]:
        if not self._options.path:
            asked: Sequence[GenEvalPrompt] = embedded({"quick": _QUICK, "full": _FULL}.get(size, _PAPER))
        else:
            asked = read_metadata(self._options.path)
        if self._options.rewritten:
            asked = with_rewritten(asked, self._options.rewritten)
        if size == "quick":
            return few_of_each(
                asked, _QUICK, lambda prompt: prompt.demand.tag, lambda prompt: prompt.text, FEWEST_CASES
            )
        return asked


def missing_prompts(n_each: Counter[str] | dict[str, int]) -> str:
    """How many of the published prompts are not there, by task; empty where none is missing."""
    gaps = {tag: n - n_each.get(tag, 0) for tag, n in N_OFFICIAL.items() if n > n_each.get(tag, 0)}
    if not gaps:
        return ""
    n_official = sum(N_OFFICIAL.values())
    listed = ", ".join(f"{n} {tag}" for tag, n in gaps.items())
    return f"{n_official - sum(gaps.values())} of GenEval's {n_official} prompts; missing: {listed}"


def _named(asked: Iterable[GenEvalPrompt]) -> list[tuple[str, GenEvalPrompt]]:
    """Each prompt with its case's id, made of its words, so that the same prompt has one id in every run."""
    named: list[tuple[str, GenEvalPrompt]] = []
    seen: Counter[str] = Counter()
    for prompt in asked:
        name = case_id_of(prompt.text)
        seen[name] += 1
        named.append((name if seen[name] == 1 else f"{name}-again-{seen[name]}", prompt))
    return named


def case_id_of(text: str) -> str:
    """The id of the case of a prompt."""
    words = _OPENING.sub("", text)
    plain = slug(words)
    is_plain = plain == words.replace(" ", "-") and text.startswith("a photo of ")
    return f"geneval-{plain if is_plain and len(plain) <= 80 else unique_name(plain, text)}".replace("--", "-")


def task_case(case_id: str, asked: GenEvalPrompt, source: str = OFFICIAL) -> Case:
    """A case that counts towards its task."""
    prompt = Prompt(role="a", text=asked.text, formula=asked.formula)
    return _case(case_id, (prompt,), asked, {SET: IN_TASKS, SOURCE: source})


def _case(
    case_id: str, prompts: tuple[Prompt, ...], asked: GenEvalPrompt, labels: dict[str, str], painting: str = ""
) -> Case:
    equivalent, determinate = settled(*(prompt.formula for prompt in prompts))
    names = names_of([asked.demand])
    return Case(
        case_id=case_id,
        suite="geneval",
        category=asked.demand.tag,
        prompts=prompts,
        checks=("truth", "right-answers"),
        measures=("geneval", "same-scene") if equivalent else ("geneval",),
        counts="exact" if asked.demand.tag == COUNT else "at-least",
        labels={TAG: asked.demand.tag, "entities": ",".join(names), **labels},
        cluster="+".join(names),
        equivalent=equivalent,
        determinate=determinate,
        painting=painting,
    )


def _pairs(variant: str, named: Iterable[tuple[str, GenEvalPrompt]]) -> Iterator[Case]:
    """A prompt and the same said otherwise; its first image is the one of the task."""
    for name, asked in named:
        other = VARIANTS[variant](asked.demand)
        # In words of another kind than the published ones two entities would change at once.
        if other is None or text_of(asked.demand) != asked.text:
            continue
        prompts = (
            Prompt(role="a", text=asked.text, formula=asked.formula),
            Prompt(role="b", text=text_of(other) or "", formula=formula_of(other)),
        )
        labels = {SET: BESIDE, KIND: variant, PARTNER: name}
        yield _case(f"{name}-{variant}", prompts, asked, labels, painting=name)


def _rewritten(name: str, asked: GenEvalPrompt) -> Case:
    """The rewritten text of a prompt, generated from the same noise."""
    prompt = Prompt(role="a", text=asked.rewritten, formula=asked.formula)
    labels = {SET: BESIDE, KIND: REWRITTEN, PARTNER: name}
    return _case(f"{name}-{REWRITTEN}", (prompt,), asked, labels, painting=name)


def _hard_case(chain: int, n_atoms: int, asked: GenEvalPrompt) -> Case:
    """One prompt of a chain that grows; all of a chain start from the same noise."""
    prompt = Prompt(role="a", text=asked.text, formula=asked.formula)
    labels = {SET: BESIDE, KIND: HARD, ATOMS: str(n_atoms)}
    name = f"geneval-{HARD}-{chain + 1}"
    return _case(f"{name}-{n_atoms}-atoms", (prompt,), asked, labels, painting=name)
