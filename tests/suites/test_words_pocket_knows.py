"""Every suite runs on the default model out of the box: pocket knows each word of what they ask by default."""

from __future__ import annotations

import json

import pytest

from salva.assets.files import read_asset
from salva.core.run_spec import ComponentSpec
from salva.generators.pocket_words import read_words
from salva.registry import BUILT_IN, bind

OWN_WORLD = {"cfworld": ("quick", "embedded")}
"""The sizes of suites whose others are about the world of people."""


@pytest.mark.parametrize("name", BUILT_IN["suite"])
def test_no_prompt_of_a_suite_holds_a_word_that_pocket_does_not_know(name: str) -> None:
    suite = bind(ComponentSpec(role="suite", name=name)).build()
    known = set(json.loads(read_asset("pocket/painter.json"))["words"])
    strange: dict[str, str] = {}
    for size in OWN_WORLD.get(name, type(suite).sizes):
        for case in suite.cases(size):
            for prompt in case.prompts:
                if prompt.passes_over:
                    continue
                strange |= {word: prompt.text for word in read_words(prompt.text) if word not in known}
    assert strange == {}
