"""An embedder that chooses: cosines to the mean of each choice's lines, each text embedded once, errors kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import pytest

from salva.core.image import Picture
from salva.core.observation import Observation, Vector
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query
from salva.embedders.choosing import EmbeddingChooser
from salva.embedders.pocket_embedder import PocketEmbedder
from salva.errors import BackendError, SalvaError

RED = Picture(rgb=bytes((200, 30, 30)) * 96 * 96, width=96, height=96)
VECTORS = {"": (1.0, 0.0), "same": (1.0, 0.0), "across": (0.0, 1.0), "against": (-1.0, 0.0)}


class Counting:
    """Looks vectors up, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        self.asked += [request.query.text for request in requests]
        assert not any(request.query.choices for request in requests)
        return [
            Vector(values=VECTORS[request.query.text])
            if request.query.text in VECTORS
            else BackendError("no such text", is_retryable=False)
            for request in requests
        ]


def _request(*choices: str, text: str = "") -> ObserveRequest:
    return ObserveRequest(picture=RED, query=Query(role="embedder", choices=choices, text=text))


def test_cosines_to_choices_and_to_means_of_lines() -> None:
    (answer,) = EmbeddingChooser(Counting()).observe([_request("same", "across", "same\nacross", "against")])
    assert isinstance(answer, Vector)
    assert answer.values == pytest.approx((1, 0, 1 / sqrt(2), -1), abs=1e-6)


def test_a_text_is_embedded_once() -> None:
    embed = Counting()
    choosing = EmbeddingChooser(embed)
    for _ in range(3):
        choosing.observe([_request("same", "across"), _request("across")])
    assert embed.asked.count("same") == embed.asked.count("across") == 1
    assert embed.asked.count("") == 6


def test_queries_without_choices_give_vectors() -> None:
    answers = EmbeddingChooser(Counting()).observe([_request(), _request(text="across")])
    assert [answer.values for answer in answers if isinstance(answer, Vector)] == [(1.0, 0.0), (0.0, 1.0)]


def test_an_error_of_a_choice_concerns_its_own_requests_only() -> None:
    broken, fine = EmbeddingChooser(Counting()).observe([_request("same", "unheard of"), _request("same")])
    assert isinstance(broken, SalvaError)
    assert isinstance(fine, Vector)


def test_the_pocket_embedder_chooses() -> None:
    (answer,) = PocketEmbedder(NoOptions()).observe([_request("a red cup", "a blue cup\na blue ball")])
    assert isinstance(answer, Vector)
    assert len(answer.values) == 2
