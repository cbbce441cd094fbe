"""Captions read with spaCy: lists, attachments, passives, relative clauses; and how well, against labels."""

from __future__ import annotations

import importlib.util
import os
import random
from pathlib import Path
from types import ModuleType

import pytest

from salva.english.captions import spacy_reader
from salva.english.captions.classes import Classes
from salva.english.captions.reading import pool_of
from salva.english.captions.spacy_reader import SpacyReader
from salva.english.mutation.corpus import Corpus
from salva.english.mutation.density import Density
from salva.english.mutation.operators import Seed, Setting, removals
from salva.errors import PluginError

pytest.importorskip("spacy", reason="the extra captions is not installed")


@pytest.mark.parametrize(
    ("caption", "triples"),
    [
        ("A dog and a cat sleep on a bed", ["cat on bed", "dog on bed", "dog with cat"]),
        ("A picture of a man who is holding a red umbrella.", ["person holding umbrella"]),
        ("A pair of dogs sitting on the side of a road", ["dog on street"]),
        ("A ball hit by a woman in front of a building", ["person hitting ball"]),
        ("A table with a bowl of fruit on it", ["bowl of fruit", "bowl on table", "table with bowl"]),
        ("Two men ride surfboards through the waves", ["person riding surfboard", "person through wave"]),
        ("A bed topped with pillows and a blanket", ["bed with blanket", "bed with pillow", "pillow with blanket"]),
        ("A car in a parking lot", ["car in parking lot"]),
        ("A lot of dogs in a yard", ["dog in yard"]),
        ("It is what they like", []),
        ("", []),
    ],
)
def test_a_caption_says_these_triples(caption: str, triples: list[str]) -> None:
    (reading,) = SpacyReader().read([caption])
    said = {str(triple) for triple in pool_of(reading, Classes(kind="paper")).triples}
    assert said >= set(triples)
    assert bool(said) == bool(triples)


@pytest.mark.parametrize(
    ("caption", "rests"),
    [
        ("A room with a fireplace and a wooden table.", ["A room with a fireplace."]),
        ("A cup and knife on a small table.", ["A cup on a small table."]),
        ("A bowl filled with food on top of a table.", ["A bowl filled with food."]),
        ("A hydrant sits on the sand in front of a wall.", ["A hydrant sits on the sand."]),
        ("A boat parked at the edge of a river or lake", []),  # one of them, and nobody knows which
        ("A dog and a cat sleep on a bed", []),  # a dog sleep
        ("A bowl filled with food", []),
    ],
)
def test_a_triple_can_be_taken_out_where_what_is_left_is_english(caption: str, rests: list[str]) -> None:
    (reading,) = SpacyReader().read([caption])
    pool = pool_of(reading, Classes())
    setting = Setting(classes=Classes(), density=Density(corpus=Corpus()))
    proposed = list(removals(Seed(reading=reading, pool=pool), setting, random.Random(0)))
    assert [proposal.text for proposal in proposed] == rests
    for proposal, again in zip(proposed, SpacyReader().read(rests), strict=True):
        left = pool_of(again, Classes())
        assert proposal.is_wanted(left)
        assert set(left.triples) < set(pool.triples)
        assert set(pool.entities) - set(left.entities) == {proposal.entity}


def test_a_missing_pipeline_is_named() -> None:
    with pytest.raises(PluginError, match=r"\[caption-pipeline-missing\]"):
        SpacyReader("xx_no_such_pipeline")


def test_without_spacy_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    spacy_reader._loaded.cache_clear()
    with pytest.raises(PluginError, match=r"\[extra-missing\]"):
        SpacyReader()
    spacy_reader._loaded.cache_clear()


def _bench() -> ModuleType:
    path = Path(__file__).parents[3] / "bench" / "captions.py"
    spec = importlib.util.spec_from_file_location("bench_captions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not os.environ.get("SALVA_TEST_DATA"), reason="SALVA_TEST_DATA names no folder of foreign data")
def test_things_and_triples_reach_their_figures_on_the_half_that_rules_were_not_made_on() -> None:
    counted = _bench().scores("count")
    assert counted["things"][2] >= 0.9
    assert counted["triples"][2] >= 0.75


@pytest.mark.skipif(not os.environ.get("SALVA_TEST_DATA"), reason="SALVA_TEST_DATA names no folder of foreign data")
def test_labels_of_other_captions_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = _bench()
    texts = bench.captions()
    ids = list(texts)
    shuffled = dict(zip(ids, [*list(texts.values())[7:], *list(texts.values())[:7]], strict=True))
    monkeypatch.setattr(bench, "captions", lambda: shuffled)
    assert bench.scores("count")["triples"][2] < 0.05
