"""What generators behind an address share: requests one by one, missing images and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from salva.core.fingerprint import Json
from salva.core.protocols import Rendered, RenderRequest
from salva.core.secrets import cut
from salva.errors import BackendError, SalvaError
from salva.messages import message


class RemoteGenerator:
    """A generator behind an address; a subclass has a client and generates one image."""

    _client: Any

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        outcomes: list[Rendered | SalvaError] = []
        for request in requests:
            try:
                outcomes.append(self._generate(request))
            except SalvaError as error:
                outcomes.append(error)
        return outcomes

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _generate(self, request: RenderRequest) -> Rendered:
        raise NotImplementedError


def no_image(name: str, answer: object) -> BackendError:
    """The error for an answer without an image."""
    return BackendError(message("image-missing", model=name, answer=cut(answer, 200)), is_retryable=False)


def provenance_of(price_usd: float | None, **facts: object) -> dict[str, Json]:
    """The facts that are not empty, and the price if it is known."""
    provenance: dict[str, Json] = {name: str(value) for name, value in facts.items() if value}
    return provenance if price_usd is None else {**provenance, "cost_usd": price_usd}
