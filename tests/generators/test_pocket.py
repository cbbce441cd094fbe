"""pocket: images from words and a seed, errors for words it does not know, independence of batches.

Most tests use two tiny networks whose images can be computed by hand: every pixel flows from its noise towards the mean
of the prompt's word numbers. The last ones use the shipped weights.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from generators.tiny_onnx import FLOAT, INT64, Node, Port, model
from numpy.typing import NDArray

from salva.assets import files
from salva.core.boxes import boxes_above
from salva.core.case import Prompt
from salva.core.observation import Detections
from salva.core.options import parse_options
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.errors import BackendError, PluginError, SalvaError, UsageError
from salva.generators.pocket import Pocket, PocketOptions, starting_noise
from salva.generators.pocket_words import read_words

TEXT, CANVAS, CARD = "pocket/painter-text.onnx", "pocket/painter-canvas.onnx", "pocket/painter.json"
SIDE, BATCH, LENGTH = 8, 4, 12
WORDS = ["<pad>", "<start>", "<end>", "<unk>", ",", "a", "and", "banana", "cat", "dog", "red", "blue", "two", "10"]
TIMES = [1.0, 0.9, 0.8, 0.0]
SCALE = 0.05


def tiny_text() -> bytes:
    """Word numbers as floats, and their mean times SCALE as the sentence."""
    nodes = [
        Node(op="Cast", inputs=["tokens"], output="floats", whole={"to": FLOAT}),
        Node(op="Reshape", inputs=["floats", "as_words"], output="words"),
        Node(op="Reshape", inputs=["floats", "as_bias"], output="bias"),
        Node(op="ReduceMean", inputs=["floats"], output="mean", lists={"axes": [1]}),
        Node(op="Mul", inputs=["mean", "scale"], output="sentence"),
    ]
    constants = {
        "as_words": np.array([BATCH, LENGTH, 1]),
        "as_bias": np.array([BATCH, 1, 1, LENGTH]),
        "scale": np.array([SCALE], np.float32),
    }
    outs = [Port(name="words", shape=(BATCH, LENGTH, 1)), Port(name="bias", shape=(BATCH, 1, 1, LENGTH))]
    outs.append(Port(name="sentence", shape=(BATCH, 1)))
    return model(nodes, [Port(name="tokens", shape=(BATCH, LENGTH), kind=INT64)], outs, constants)


def tiny_canvas() -> bytes:
    """Velocity away from the sentence's number."""
    nodes = [
        Node(op="Reshape", inputs=["sentence", "as_picture"], output="goal"),
        Node(op="Sub", inputs=["x", "goal"], output="velocity"),
    ]
    ins = [Port(name="x", shape=(BATCH, 3, SIDE, SIDE)), Port(name="t", shape=(BATCH,))]
    ins += [Port(name="words", shape=(BATCH, LENGTH, 1)), Port(name="bias", shape=(BATCH, 1, 1, LENGTH))]
    ins.append(Port(name="sentence", shape=(BATCH, 1)))
    outs = [Port(name="velocity", shape=(BATCH, 3, SIDE, SIDE))]
    return model(nodes, ins, outs, {"as_picture": np.array([BATCH, 1, 1, 1])})


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tiny weights in place of the shipped ones."""
    card = {"side": SIDE, "batch": BATCH, "max_tokens": LENGTH, "times": TIMES, "words": WORDS, "pad": 0, "start": 1}
    card |= {"end": 2, "unknown": 3, "things": ["banana", "cat", "dog"], "colours": ["red", "blue"]}
    contents = {TEXT: tiny_text(), CANVAS: tiny_canvas(), CARD: json.dumps(card).encode()}
    (tmp_path / "pocket").mkdir()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    table = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    (tmp_path / "checksums.json").write_text(json.dumps(table))
    monkeypatch.setattr(files, "_ROOT", tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def forget() -> None:
    files._checksums.cache_clear()


def ask(text: str, seed: int = 5) -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text), seed=seed)


def generate(text: str, seed: int = 5, **options: str) -> Rendered | SalvaError:
    (outcome,) = Pocket(parse_options(PocketOptions, options, "model")).render([ask(text, seed)])
    return outcome


def pixels(outcome: Rendered | SalvaError) -> NDArray[np.uint8]:
    assert isinstance(outcome, Rendered), outcome
    shape = (outcome.picture.height, outcome.picture.width, 3)
    return np.frombuffer(outcome.picture.rgb, np.uint8).reshape(shape)


def expected(numbers: list[int], seed: int, times: list[float]) -> NDArray[np.uint8]:
    """The picture by hand."""
    goal = np.float32(sum(numbers) / LENGTH * SCALE)
    x = starting_noise(seed, SIDE)
    for t, t_next in itertools.pairwise(times):
        x = x + np.float32(t_next - t) * (x - goal)
    return ((x.clip(-1, 1) + 1) * 127.5).round().astype(np.uint8).transpose(1, 2, 0)


@pytest.mark.usefixtures("tiny")
class TestTiny:
    def test_an_image_follows_the_seeds_noise_and_the_cards_times(self) -> None:
        numbers = [1, *(WORDS.index(word) for word in ("a", "cat", "and", "a", "dog")), 2]
        seen = pixels(generate("A cat and a dog!", seed=11))
        assert np.abs(seen.astype(int) - expected(numbers, 11, TIMES)).max() <= 1
        assert seen.std() > 5, "without noise this test proves nothing"

    def test_any_number_of_steps_lies_on_the_same_curve(self) -> None:
        numbers = [1, WORDS.index("cat"), 2]
        flat = pixels(generate("cat", steps="1"))
        assert np.abs(flat.astype(int) - expected(numbers, 5, [1.0, 0.0])).max() <= 1
        seen = pixels(generate("cat", steps="2")).astype(int)
        assert np.abs(seen - expected(numbers, 5, [1.0, 0.85, 0.0])).max() <= 1
        assert np.abs(seen - expected(numbers, 5, [1.0, 0.5, 0.0])).max() > 5, "another curve would look the same"

    def test_an_image_does_not_depend_on_its_batch(self) -> None:
        model_ = Pocket(PocketOptions())
        one = ask("a red dog", 3)
        (alone,) = model_.render([one])
        for place in range(2 * BATCH + 1):
            others = [ask("two cat and a banana", 50 + i) for i in range(2 * BATCH + 1)]
            others[place] = one
            assert np.array_equal(pixels(model_.render(others)[place]), pixels(alone)), place

    def test_all_wordings_of_a_seed_start_from_the_same_noise(self) -> None:
        one, two = pixels(generate("a cat", seed=9)).astype(int), pixels(generate("a dog", seed=9)).astype(int)
        inside = (one > 0) & (one < 255) & (two > 0) & (two < 255)
        assert inside.mean() > 0.5
        assert (two - one)[inside].std() < 1, "only the goal may differ, by the same amount everywhere"
        assert (pixels(generate("a cat", seed=10)) != one).mean() > 0.5

    def test_an_unknown_word_is_an_error_for_its_own_prompt(self) -> None:
        known, unknown, after = Pocket(PocketOptions()).render([ask("a cat"), ask("a tiger and a bananna"), ask("dog")])
        assert isinstance(known, Rendered)
        assert isinstance(after, Rendered)
        assert isinstance(unknown, BackendError)
        assert not unknown.is_retryable, "the same prompt would fail again"
        assert unknown.code == "words-unknown"
        for words in ("'tiger', 'bananna'", "'banana'?", "banana, cat, dog, red, blue", "model.unknown=ignore"):
            assert words in str(unknown)

    def test_unknown_words_can_be_ignored(self) -> None:
        outcome = generate("a tiger", unknown="ignore")
        seen = pixels(outcome)
        assert np.abs(seen.astype(int) - expected([1, WORDS.index("a"), 3, 2], 5, TIMES)).max() <= 1
        assert isinstance(outcome, Rendered)
        assert outcome.provenance["unknown_words"] == ["tiger"]

    @pytest.mark.parametrize(
        ("text", "word"), [("猫 cat", "猫"), ("a बिल्ली", "बिल्ली"), ("кошка", "кошка"), ("a 🐱", "🐱")]
    )
    def test_words_of_other_scripts_are_one_unknown_word(self, text: str, word: str) -> None:
        outcome = generate(text)
        assert isinstance(outcome, BackendError)
        assert outcome.code == "words-unknown"
        assert repr(word) in str(outcome)

    @pytest.mark.parametrize("unknown", ["error", "ignore"])
    def test_a_prompt_that_is_too_long_is_an_error(self, unknown: str) -> None:
        fits, too_long = (
            generate("cat " * (LENGTH - 2), unknown=unknown),
            generate("cat " * (LENGTH - 1), unknown=unknown),
        )
        assert isinstance(fits, Rendered)
        assert isinstance(too_long, BackendError)
        assert too_long.code == "too-many-tokens"
        endless = str(generate("word " * 10_000, unknown=unknown))
        assert f"{LENGTH - 2} tokens" in endless
        assert "10000" in endless
        assert len(endless) < 300, "the message repeats the prompt"

    @pytest.mark.parametrize("text", ["", "  \n", "!?", "a red red blue cat and a blue red cat"])
    def test_empty_and_contradictory_prompts_have_images(self, text: str) -> None:
        assert isinstance(generate(text), Rendered)

    @pytest.mark.parametrize("name", [TEXT, CANVAS, CARD])
    def test_missing_and_damaged_files_are_refused(self, tiny: Path, name: str) -> None:
        content = (tiny / name).read_bytes()
        (tiny / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(PluginError, match=rf"{name}.*damaged.*\[asset-damaged\]"):
            Pocket(PocketOptions())
        (tiny / name).unlink()
        with pytest.raises(PluginError, match=rf"{name}.*missing.*\[asset-damaged\]"):
            Pocket(PocketOptions())

    def test_the_pin_depends_on_every_file(self, tiny: Path) -> None:
        before = Pocket.weights(PocketOptions())
        table = json.loads((tiny / "checksums.json").read_text())
        for name in (TEXT, CANVAS, CARD):
            (tiny / "checksums.json").write_text(json.dumps({**table, name: "0" * 64}))
            forget()
            assert Pocket.weights(PocketOptions()) != before, name


@pytest.mark.parametrize("options", [{"steps": "65"}, {"steps": "-1"}, {"unknown": "guess"}])
def test_invalid_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        parse_options(PocketOptions, options, "model")


def test_captions_are_tokenised_as_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "training"))
    import pocket_captions  # not installed; needs no torch
    import pocket_world

    rng = random.Random(1)
    for _ in range(500):
        groups, relation = pocket_world.sample_groups(rng)
        text = pocket_captions.write_caption(rng, pocket_world.Scene(groups=groups, relation=relation, placements=[]))
        assert read_words(text) == pocket_captions.tokenise(text)
    for text in ("There is [a cat & a dog].", "It isn’t 10 cats: (2)", "A cat — a “dog”; a hat/cup-cake"):
        assert read_words(text) == pocket_captions.tokenise(text)


@pytest.fixture(scope="module")
def shipped() -> Pocket:
    """The model in the wheel."""
    if TEXT not in files._checksums():
        pytest.skip("the pocket painter's weights are not among the assets")
    return Pocket(PocketOptions())


def test_shipped_weights_show_single_entities(shipped: Pocket) -> None:
    from salva.detectors.pocket_detector import DetectorOptions, PocketDetector

    entities = PocketDetector.labels()[::4]
    outcomes = shipped.render([ask(f"there is {_article(name)} {name}", 900 + i) for i, name in enumerate(entities)])
    images = [
        ObserveRequest(picture=one.picture, query=Query(role="detector"))
        for one in outcomes
        if isinstance(one, Rendered)
    ]
    assert len(images) == len(entities)
    wrong = []
    for name, detections in zip(entities, PocketDetector(DetectorOptions()).observe(images), strict=True):
        assert isinstance(detections, Detections)
        if Counter(box.label for box in boxes_above(detections)) != Counter([name]):
            wrong.append(name)
    assert len(wrong) <= 1, wrong


def test_the_vocabulary_covers_every_metalogic_prompt(shipped: Pocket) -> None:
    from salva.suites.metalogic.suite import MetaLogic, MetaLogicOptions

    suite = MetaLogic(MetaLogicOptions())
    texts = {prompt.text for size in suite.sizes for case in suite.cases(size) for prompt in case.prompts}
    for text in texts:
        read = shipped._read(Prompt(role="a", text=text))
        assert not isinstance(read, BackendError), text
        assert not read[1], text


def test_shipped_weights_do_not_depend_on_the_batch(shipped: Pocket) -> None:
    one = ask("two dogs and a cat", 77)
    (alone,) = shipped.render([one])
    in_company = shipped.render([ask("a tree", 1), ask("a red car", 2), one])[2]
    assert np.array_equal(pixels(alone), pixels(in_company))


def _article(noun: str) -> str:
    return "a pair of" if noun == "scissors" else "an" if noun[0] in "aeiou" else "a"
