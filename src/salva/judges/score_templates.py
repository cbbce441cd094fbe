"""Prompt templates for scores, in place of salva's own prompt: a preset, or a file of the user.

A template contains {prompt}. Its digest is in the judge's key, so a changed file is another judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from salva.core.score_rubric import HALVES
from salva.errors import UsageError, invalid_option
from salva.files.infiles import file_text
from salva.messages import message

PLACE = "{prompt}"
"""The place of the text that the image is scored against."""
FORM = "[["
"""A template with this describes the form of the reply itself."""
_LONGEST = 20_000
PRESETS: Mapping[str, str] = {
    "semvarbench": (
        "Does this picture, which a program made, fit the prompt at the end?\n\n"
        "[Instruction] Look closely at how relevant the picture is to the prompt and how accurate its objects are. It "
        "was generated: say how good it is as such a picture, and do not discuss it as a photograph.\n\n"
        "Go by two criteria, Relevance (0-50 points) and Object Accuracy (0-50 points). Explain first. Then rate the "
        'picture, strictly in the form "[[rating]]", for example: "Relevance (0-50 points): [[35]], Object Accuracy '
        '(0-50 points): [[30]]".\n\n'
        f"[Prompt] {PLACE}"
    ),
}
"""Name to text. semvarbench: the prompt of the paper's judges (appendix D.2), part by part, in our own words."""


def score_template(source: str) -> str:
    """The text of a preset or a file; empty if source is empty. UsageError if it cannot be used."""
    if not source or source in PRESETS:
        return PRESETS.get(source, "")
    path = Path(source)
    if not path.is_file():
        raise invalid_option("judge.prompt", source, f"a file, or one of {', '.join(PRESETS)}")
    # A character has four bytes at most, so a larger file is not read at all.
    if (n_bytes := path.stat().st_size) > 4 * _LONGEST:
        why = f"it has {n_bytes:,} bytes; the limit is {_LONGEST:,} characters"
        raise UsageError(message("file-unreadable", path=source, why=why))
    text = file_text(path).strip()
    problem = _problem(text)
    if problem:
        raise UsageError(message("judge-prompt-invalid", path=source, problem=problem))
    return text


def prompt_pin(source: str) -> str:
    """Identifies the template in a key; empty if there is none."""
    text = score_template(source)
    return f"prompt {hashlib.sha256(text.encode()).hexdigest()[:16]}" if text else ""


def _problem(text: str) -> str:
    if not text:
        return "is empty"
    if len(text) > _LONGEST:
        return f"has {len(text)} characters; the limit is {_LONGEST}"
    if PLACE not in text:
        return f"has no {PLACE}, the place of the case's text"
    missing = [half.name for half in HALVES if half.name.casefold() not in text.casefold()]
    if FORM in text and missing:
        return f"does not name {' and '.join(missing)}, as in 'Relevance: [[35]], Object Accuracy: [[30]]'"
    return ""
