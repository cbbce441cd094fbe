"""The pocket embedder: vectors of images and of texts.

Most tests use two tiny networks: one gives the mean colour of an image, the other the numbers of a text's words. The
last ones use the shipped weights.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from generators.tiny_onnx import FLOAT, INT64, Node, Port, model

from salva.assets import files
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Observation, Vector
from salva.core.options import NoOptions
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.embedders.pocket_embedder import CARD, PICTURE, TEXT, PocketEmbedder
from salva.errors import BackendError, PluginError, SalvaError
from salva.testing.conformance import check_observer

SIDE, LENGTH = 8, 10
WORDS = ["<pad>", "<start>", "<end>", "<unk>", ",", "a", "and", "cat", "dog", "(", ")"]
BLACK = Picture(rgb=bytes(3 * 64), width=8, height=8)


def tiny_files() -> dict[str, bytes]:
    means = [
        Node(op="GlobalAveragePool", inputs=["picture"], output="pooled"),
        Node(op="Flatten", inputs=["pooled"], output="vector"),
    ]
    picture = model(means, [Port(name="picture", shape=(1, 3, SIDE, SIDE))], [Port(name="vector", shape=(1, 3))], {})
    cast = [Node(op="Cast", inputs=["tokens"], output="vector", whole={"to": FLOAT})]
    tokens = Port(name="tokens", shape=(1, LENGTH), kind=INT64)
    text = model(cast, [tokens], [Port(name="vector", shape=(1, LENGTH))], {})
    card = {"side": SIDE, "max_tokens": LENGTH, "words": WORDS, "pad": 0, "start": 1, "end": 2, "unknown": 3}
    return {PICTURE: picture, TEXT: text, CARD: json.dumps(card).encode()}


def forget() -> None:
    files._checksums.cache_clear()


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tiny weights in place of the shipped ones."""
    (tmp_path / "pocket").mkdir()
    contents = tiny_files()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    table = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    (tmp_path / "checksums.json").write_text(json.dumps(table))
    monkeypatch.setattr(files, "_ROOT", tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def plain(width: int, height: int, colour: tuple[int, int, int]) -> Picture:
    return Picture(rgb=bytes(colour) * (width * height), width=width, height=height)


def of_picture(picture: Picture) -> ObserveRequest:
    return ObserveRequest(picture=picture, query=Query(role="embedder"))


def of_text(text: str, picture: Picture = BLACK) -> ObserveRequest:
    return ObserveRequest(picture=picture, query=Query(role="embedder", text=text))


def embed(*requests: ObserveRequest) -> list[Observation | SalvaError]:
    return list(PocketEmbedder(NoOptions()).observe(requests))


def values(seen: Observation | SalvaError) -> tuple[float, ...]:
    assert isinstance(seen, Vector), seen
    return seen.values


def words(seen: Observation | SalvaError) -> list[str]:
    """The words that the tiny text network was given."""
    return [WORDS[int(number)] for number in values(seen) if number]


@pytest.mark.usefixtures("tiny")
class TestTiny:
    @pytest.mark.parametrize("size", [(8, 8), (64, 64), (1000, 1000), (3, 3)])
    def test_square_images_of_any_size_are_resized(self, size: tuple[int, int]) -> None:
        (seen,) = embed(of_picture(plain(*size, (255, 0, 0))))
        assert values(seen) == pytest.approx((1, -1, -1), abs=1e-4)

    @pytest.mark.parametrize("size", [(64, 32), (32, 64)])
    def test_an_oblong_image_is_padded_with_grey(self, size: tuple[int, int]) -> None:
        (seen,) = embed(of_picture(plain(*size, (255, 0, 0))))
        assert values(seen) == pytest.approx((0.5, -0.5, -0.5), abs=0.01), "half of the square is grey"

    def test_a_text_becomes_its_known_words(self) -> None:
        (seen,) = embed(of_text("A cat & [a zebra]"))
        assert words(seen) == ["<start>", "a", "cat", "and", "(", "a", ")", "<end>"]

    def test_a_text_does_not_depend_on_the_image(self) -> None:
        red = plain(20, 20, (255, 0, 0))
        one, two = embed(of_text("a cat"), of_text("a cat", red))
        assert values(one) == values(two)

    @pytest.mark.parametrize("text", ["zebra", "猫", "  ", ", ( )", "!?", "zebra, zebra"])
    def test_a_text_without_a_known_word_is_an_error_for_its_own_request(self, text: str) -> None:
        before, bad, after = embed(of_text("a cat"), of_text(text), of_picture(BLACK))
        assert isinstance(bad, BackendError)
        assert not bad.is_retryable
        assert bad.code == "text-unknown"
        assert isinstance(before, Vector)
        assert isinstance(after, Vector)

    def test_a_text_that_is_too_long_is_an_error(self) -> None:
        fits, too_long, endless = embed(
            of_text("cat " * (LENGTH - 2)), of_text("cat " * (LENGTH - 1)), of_text("cat " * 10_000)
        )
        assert isinstance(fits, Vector)
        assert isinstance(too_long, BackendError)
        assert too_long.code == "too-many-tokens"
        assert len(str(endless)) < 300, "the message repeats the text"

    @pytest.mark.parametrize("name", [PICTURE, TEXT, CARD])
    def test_damaged_files_are_refused(self, tiny: Path, name: str) -> None:
        (tiny / name).write_bytes((tiny / name).read_bytes() + b" ")
        with pytest.raises(PluginError, match=rf"{name}.*\[asset-damaged\]"):
            PocketEmbedder(NoOptions())

    def test_the_pin_depends_on_every_file(self, tiny: Path) -> None:
        before = PocketEmbedder.weights(NoOptions())
        table = json.loads((tiny / "checksums.json").read_text())
        for name in (PICTURE, TEXT, CARD):
            (tiny / "checksums.json").write_text(json.dumps({**table, name: "0" * 64}))
            forget()
            assert PocketEmbedder.weights(NoOptions()) != before, name


@pytest.fixture(scope="module")
def shipped() -> PocketEmbedder:
    """The embedder in the wheel."""
    if PICTURE not in files._checksums():
        pytest.skip("the pocket embedder's weights are not among the assets")
    return PocketEmbedder(NoOptions())


def painted(text: str, formula: str, seed: int) -> Picture:
    """What the painter makes of a formula."""
    from salva.generators.painter.component import Painter, PainterOptions

    prompt = Prompt(role="a", text=text, formula=formula)
    (outcome,) = Painter(PainterOptions()).render([RenderRequest(prompt=prompt, seed=seed)])
    assert isinstance(outcome, Rendered), outcome
    return outcome.picture


def vector(embedder: PocketEmbedder, request: ObserveRequest) -> tuple[float, ...]:
    (seen,) = embedder.observe([request])
    return values(seen)


def similarity(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_conformance(shipped: PocketEmbedder) -> None:
    binding = Binding(role="embedder", label="pocket", component=PocketEmbedder, options=NoOptions(), weights="x")
    check_observer(binding, [painted("a cat", "cat", seed) for seed in (1, 2, 3)])
    check_observer(binding, [BLACK], query=Query(role="embedder", text="a cat"))
    for request in (of_text("a cat and a dog"), of_picture(painted("a cat", "cat", 4))):
        of_it = vector(shipped, request)
        assert similarity(of_it, of_it) == pytest.approx(1, abs=1e-4)


def test_the_shipped_embedder_finds_captions_of_pairs(shipped: PocketEmbedder) -> None:
    things = ("apple", "ball", "banana", "bird", "boat", "bus", "car", "cat", "clock", "cow", "cup", "dog", "house")
    rng = random.Random(5)
    pairs = list({tuple(sorted(rng.sample(things, 2))) for _ in range(60)})[:40]
    texts = [f"{_a(one)} and {_a(two)}" for one, two in pairs]
    said = [vector(shipped, of_text(text)) for text in texts]
    n_right = 0
    for i, (one, two) in enumerate(pairs):
        seen = vector(shipped, of_picture(painted(texts[i], f"{one} & {two}", 300 + i)))
        n_right += max(range(len(said)), key=lambda j: similarity(seen, said[j])) == i
    assert n_right >= 34, f"{n_right} of {len(pairs)}"


def test_the_shipped_embedder_distinguishes_left_and_right(shipped: PocketEmbedder) -> None:
    n_right = 0
    for seed in range(20):
        picture = painted("a cat on the left and a car on the right", "cat@left & car@right", 40 + seed)
        seen = vector(shipped, of_picture(picture))
        right = vector(shipped, of_text("a cat on the left and a car on the right"))
        exchanged = vector(shipped, of_text("a car on the left and a cat on the right"))
        n_right += similarity(seen, right) > similarity(seen, exchanged)
    assert n_right >= 16, f"{n_right} of 20"


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
