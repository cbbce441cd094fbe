"""English sentences to formulas: the grammar sentences.py writes, and the plain sentences people write.

A sentence is noun phrases in a list, or clauses ("there is ...", "it is not the case that ..."); groups open with
either, both, all of or neither. What the grammar does not know, and what can be read in two ways, raises FormulaError
at the word: read right, or refused. Where there are two honest readings the message shows both.
"""

from __future__ import annotations

from functools import lru_cache

from salva.english.noun_phrases import NounPhrases
from salva.english.phrases import DENIAL, NOT, Group, Joint, Phrase, all_mentions, members_of, whole_of
from salva.english.tokens import ASSERTIONS, DENIALS, GROUPS, ORDERS, PICTURES, WITHOUT, Words
from salva.english.wordlists import words as words_of
from salva.logic.formula import MAX_DEPTH, And, Formula, Not, conjunction, depth
from salva.messages import message

_ASKING = words_of("words", "asking")


@lru_cache(maxsize=4096)
def read(text: str) -> Formula:
    """The formula of a sentence, or of several."""
    return _SentenceReader(text).formula()


class _SentenceReader:
    def __init__(self, text: str) -> None:
        self._words = Words(text)
        self._noun_phrases = NounPhrases(self._words)

    def formula(self) -> Formula:
        words = self._words
        self._refuse_question()
        sentences, starts = [self._sentence()], []
        while words.take(".", ";") and words.word:
            starts.append(words.at)
            sentences.append(self._sentence())
        if words.word:
            words.expected("the end of the sentence")
        built = conjunction([sentence.formula for sentence in sentences])
        all_mentions(words, built, sentences, starts)
        if depth(built) > MAX_DEPTH:
            self._check(depth(built))
        return built

    def _refuse_question(self) -> None:
        words = self._words
        marks = [i for i, token in enumerate(words.tokens) if token.text == "?"]
        if marks or words.word in _ASKING:
            words.fail(message("sentence-asks"), marks[0] if marks else 0)

    def _sentence(self) -> Phrase:
        """Clauses in a list; the first may do without "there is"."""
        self._pass_picture()
        parts = [self._member() if self._is_clause(self._words.at) else self._phrases()]
        joints: list[Joint] = []
        while self._goes_on_with_clause():
            joints.append(self._joint())
            parts.append(self._member())
        return whole_of(self._words, parts, joints)

    def _member(self) -> Phrase:
        """A clause of a list; what is denied in front may reach over the next clause too."""
        is_denied = self._words.is_any_at(DENIALS, self._words.at)
        return self._clause(0, is_closed=False)._replace(opening=DENIAL if is_denied else "")

    def _pass_picture(self) -> None:
        """ "A photo of a cat" shows a cat, and so does "draw a cat"."""
        words = self._words
        start = words.at
        words.take("please")
        if words.take(*ORDERS):
            words.take("me")
            start = words.at
        words.at = start
        words.take("a", "an", "the")
        if words.word in (*PICTURES, "scene") and words.is_any_at(("with", WITHOUT), words.at + 1):
            words.fail(message("picture-or-thing", picture=words.word))
        if words.word in PICTURES and words.is_any_at(("of", "showing"), words.at + 1):
            words.at += 2
        else:
            words.at = start

    def _phrases(self) -> Phrase:
        """Noun phrases in a list without an opening word."""
        phrases, joints = self._listed()
        return whole_of(self._words, phrases, joints)

    def _listed(self) -> tuple[list[Phrase], list[Joint]]:
        words = self._words
        phrases = [self._phrase(0)]
        joints: list[Joint] = []
        while words.joint_at(words.at) and not self._goes_on_with_clause():
            joints.append(self._joint())
            is_without = words.take(WITHOUT) or joints[-1].words == WITHOUT
            if is_without and joints[-1].words != "or":
                joints[-1] = joints[-1]._replace(words=WITHOUT)
            if is_without:
                if phrases[-1].opening:
                    words.fail(message("reach-open", words=WITHOUT))
                absent = self._noun_phrases.absent()
                phrases.append(Phrase(Not(absent.formula), absent.ending, WITHOUT))
            elif joints[-1].words in ("and", "or", ","):
                phrases.append(self._noun_phrases.without_article(phrases[-1]) or self._phrase(0))
            else:
                phrases.append(self._phrase(0))
        return phrases, joints

    def _goes_on_with_clause(self) -> bool:
        behind = self._words.past_joints(self._words.at)
        return behind > self._words.at and self._is_clause(behind)

    def _joint(self) -> Joint:
        """Pass a comma, a connective or both."""
        words = self._words
        at = words.at
        is_comma = words.take(",")
        said = words.joint_at(words.at)
        if said and said != ",":
            words.take(said)
            return Joint(said, at + is_comma)
        assert is_comma
        return Joint(",", at)

    def _is_clause(self, i: int) -> bool:
        for opening, _ in GROUPS:
            if self._words.is_at(opening, i):
                return self._is_clause(i + len(opening.split()))
        return self._words.is_any_at(("there", *DENIALS, *ASSERTIONS), i)

    def _clause(self, nesting: int, *, is_closed: bool) -> Phrase:
        """One clause; a closed one, inside a group, holds a single phrase, since and or or belong to the group."""
        words = self._words
        self._check(nesting)
        if words.take(*DENIALS):
            self._noun_phrases.n_denials += 1
            denied = self._denied(nesting, is_closed)
            self._noun_phrases.n_denials -= 1
            return Phrase(denied)
        if words.take(*ASSERTIONS):
            # What is stated so may have been mentioned before.
            return Phrase(self._clause(nesting + 1, is_closed=is_closed).formula)
        for opening, connective in GROUPS:
            if words.take(opening):
                return self._group(connective, nesting, is_clause=True)._replace(ending=None)
        if not words.take("there"):
            words.expected("there is")
        if not words.take("is", "are"):
            words.expected("is or are")
        phrase = self._phrase(nesting) if is_closed else self._phrases()
        return Phrase(phrase.formula, mentions=phrase.mentions)

    def _denied(self, nesting: int, is_closed: bool) -> Formula:
        words = self._words
        if is_closed or not words.is_any_at(("there is", "there are"), words.at):
            return Not(self._clause(nesting + 1, is_closed=is_closed).formula)
        words.at += 2
        phrases, joints = self._listed()
        whole = whole_of(words, phrases, joints).formula
        for i, joint in enumerate(joints):
            if joint.words == "but":
                # "It is not the case that there is a cat, but a dog": the denial may end here.
                formulas = [phrase.formula for phrase in phrases]
                ended = And(Not(conjunction(formulas[: i + 1])), conjunction(formulas[i + 1 :]))
                words.two_readings(Not(whole), ended, joint.at)
        return Not(whole)

    def _group(self, connective: str, nesting: int, *, is_clause: bool) -> Phrase:
        words = self._words

        def member(before: Phrase | None) -> Phrase:
            if is_clause:
                return self._clause(nesting + 1, is_closed=True)
            if connective == "nor" and self._noun_phrases.is_noun_here():
                return self._noun_phrases.absent()
            bare = self._noun_phrases.without_article(before) if before else None
            return bare or self._phrase(nesting + 1)

        self._noun_phrases.n_denials += connective == "nor"
        parts = [member(None)]
        joints: list[Joint] = []

        def goes_on() -> bool:
            """Pass the next joint; only neither may repeat its connective."""
            at = words.at
            is_last = words.take(connective, f", {connective}")
            if is_last or words.take(","):
                joints.append(Joint(connective if is_last else ",", at))
            return len(joints) == len(parts)

        while not (connective != "nor" and joints and joints[-1].words == connective) and goes_on():
            parts.append(member(parts[-1]))
        if not joints or joints[-1].words != connective:
            words.expected(f"{connective!r} in this group")
        self._noun_phrases.n_denials -= connective == "nor"
        whole = members_of(words, parts, connective, joints)
        ending = parts[-1].ending if all(part.ending for part in parts) else None
        return whole._replace(ending=ending, group=Group(tuple(parts), connective))

    def _phrase(self, nesting: int) -> Phrase:
        words = self._words
        self._check(nesting)
        for opening, connective in GROUPS:
            if words.take(opening):
                return self._group(connective, nesting, is_clause=False)
        if words.take("not a single", "not one single", "not any"):
            denied = self._noun_phrases.none()
            return denied._replace(opening=NOT if denied.opening else "")
        if words.is_any_at(("not only", "not just"), words.at):
            words.fail(message("word-counts", word=f"not {words.tokens[words.at + 1].text}"))
        if words.take("not"):
            self._noun_phrases.n_denials += 1
            denied = self._phrase(nesting + 1)
            self._noun_phrases.n_denials -= 1
            return Phrase(Not(denied.formula), denied.ending, NOT)
        return self._noun_phrases.phrase()

    def _check(self, nesting: int) -> None:
        if nesting > MAX_DEPTH:
            self._words.fail(message("formula-too-deep", limit=MAX_DEPTH))
