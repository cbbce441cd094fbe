"""What generators behind an address share."""

from __future__ import annotations

from salva.core.case import Prompt
from salva.core.protocols import RenderRequest, Ticket
from salva.errors import LostError
from salva.generators.remote_images import RemoteGenerator, RemoteOptions


class OneStep(RemoteGenerator):
    """Gives no tickets."""

    def _generate(self, request: RenderRequest) -> Ticket:
        raise AssertionError(request)


def test_a_ticket_of_a_generator_that_gives_none_is_a_lost_image() -> None:
    ticket = Ticket(place="http://127.0.0.1/x.png")
    request = RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=0, ticket=ticket)
    (outcome,) = OneStep(RemoteOptions(), "one-step").fetch([request])
    assert isinstance(outcome, LostError)
    assert outcome.code == "image-lost"
