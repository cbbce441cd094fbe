"""Verbs as predicates: sits, sit and sat are sitting; parked and covered stay as they are.

By the surface of the word, since the lemmas of small English models are wrong for captions (riding to rid).
"""

from __future__ import annotations

from functools import cache

from salva.english.wordlists import table, words

_BASE = table("captions", "base")
_ING = {"lie": "lying", "tie": "tying", "die": "dying", "be": "being", "see": "seeing", "flee": "fleeing"}
_DOUBLED = words("captions", "doubled")
_ES = ("sses", "shes", "ches", "xes", "zzes", "oes")


@cache
def gerund(word: str, tag: str) -> str:
    """The participle that a predicate says: of a finite verb the -ing form; tag: its part of speech (VBZ, VBD ...)."""
    if word in ("has", "have", "had"):
        return "has"
    if tag == "VBG" or (word.endswith("ing") and word not in ("swing", "bring", "string", "sing")):
        return word
    return _ing(_base(word, tag))


def _base(word: str, tag: str) -> str:
    if word in _BASE:
        return _BASE[word]
    if tag == "VBZ" or (tag in ("NNS", "NN") and word.endswith("s")):
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if word.endswith(_ES):
            return word[:-2]
        return word.removesuffix("s") if not word.endswith("ss") else word
    if tag in ("VBD", "VBN") and word.endswith("ed"):
        stem = word[:-2]
        if stem.endswith("i"):
            return stem[:-1] + "y"
        if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
            return stem[:-1]
        return stem + "e" if _wants_e(stem) else stem
    return word


def _wants_e(stem: str) -> bool:
    """Whether an e was lost before -ed: chased, placed, but not looked."""
    return (stem[-1:] in "cgsvzu" and not stem.endswith(("ss", "ng"))) or stem.endswith(
        ("at", "ak", "id", "ar", "os", "ik", "uc", "ur", "ap", "ol", "il", "iv", "am", "ad")
    )


def _ing(base: str) -> str:
    if base in _ING:
        return _ING[base]
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return base[:-1] + "ing"
    return base + "ing"
