"""Templates to triples of sentences: slots filled, two of them exchanged, the parts put in another order.

The anchor and its permutation of another meaning follow from the template and its swap alone; the wording of the
same meaning follows from the template's rule where it has one. Knows no model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from salva.core.decoding import decoded
from salva.errors import UsageError
from salva.messages import message

_SLOT = re.compile(r"\{([a-z]+)(\d+)(?::(ing|ed))?\}")
_N_TRIES = 200


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to make triples."""

    category: str
    anchor: str
    swap: tuple[str, str]
    kept: str = ""
    """Empty where no rule keeps the meaning: a text model must paraphrase."""

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of the anchor, such as noun1, in order."""
        return tuple(dict.fromkeys(f"{name}{number}" for name, number, _ in _SLOT.findall(self.anchor)))


class Grammar(Struct, frozen=True, forbid_unknown_fields=True):
    """Templates and the words that fill them."""

    template: Annotated[tuple[Template, ...], Meta(min_length=1)]
    lexicon: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceTriple:
    """Three sentences; the last is empty where a paraphrase is still wanted."""

    category: str
    anchor: str
    changed: str
    kept: str
    template: str
    rule: str
    """What was exchanged, for people."""


def load_grammar(path: Path | None = None) -> Grammar:
    """The grammar in a TOML file; without one, our own."""
    try:
        text = path.read_text("utf-8") if path else (files("salva.authoring") / "semvar.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error)) from error
    grammar = decoded(text, Grammar, path, "toml")
    for number, template in enumerate(grammar.template, 1):
        if problem := _problem(template, grammar.lexicon):
            raise UsageError(message("template-invalid", path=str(path), number=number, why=problem))
    return grammar


def triples(grammar: Grammar, n_wanted: int, seed: int) -> Iterator[SentenceTriple]:
    """Triples in turn from every template, none twice; fewer than wanted when the words run out."""
    rng = random.Random(seed)
    seen: set[str] = set()
    turns = list(grammar.template)
    n_made = 0
    while turns and n_made < n_wanted:
        for template in list(turns):
            made = next(
                (one for _ in range(_N_TRIES) if (one := _fill(rng, template, grammar)).anchor not in seen), None
            )
            if made is None:
                turns.remove(template)
                continue
            # The permuted sentence would make the same triple once more, the other way round.
            seen |= {made.anchor, made.changed}
            yield made
            n_made += 1
            if n_made == n_wanted:
                return


def with_articles(text: str) -> str:
    """The sentence with a and an as they are spoken."""
    text = re.sub(r"\b([Aa])n? (?=[aeiouAEIOU])", r"\1n ", text)
    return re.sub(r"\b([Aa])n (?=[^aeiouAEIOU\W])", r"\1 ", text)


def _fill(rng: random.Random, template: Template, grammar: Grammar) -> SentenceTriple:
    words: dict[str, str] = {}
    for slot in template.slots:
        kind = slot.rstrip("0123456789")
        free = [word for word in grammar.lexicon[kind] if word not in words.values()]
        words[slot] = rng.choice(free or list(grammar.lexicon[kind]))
    one, two = template.swap
    swapped = {**words, one: words[two], two: words[one]}
    return SentenceTriple(
        category=template.category,
        anchor=_render(template.anchor, words),
        changed=_render(template.anchor, swapped),
        kept=_render(template.kept, words) if template.kept else "",
        template=template.anchor,
        rule=f"[{one}] <-> [{two}]",
    )


def _render(pattern: str, words: Mapping[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        text = words[match[1] + match[2]]
        if match[3]:
            forms = [form.strip() for form in text.split("/")]
            return forms[0 if match[3] == "ing" else 1]
        return text

    return with_articles(_SLOT.sub(word, pattern))


def _problem(template: Template, lexicon: Mapping[str, tuple[str, ...]]) -> str:
    """Why a template cannot be filled; empty where it can."""
    for slot in (*template.swap, *(f"{name}{digits}" for name, digits, _ in _SLOT.findall(template.kept))):
        if slot not in template.slots:
            return f"{slot!r} is no slot of its anchor"
    for name, _, form in _SLOT.findall(template.anchor + template.kept):
        words = lexicon.get(name)
        if not words:
            return f"the lexicon has no words for {name!r}"
        bad = [word for word in words if form and word.count("/") != 1]
        if bad:
            return f"{bad[0]!r} must have two forms, such as 'chasing / chased'"
    return ""
