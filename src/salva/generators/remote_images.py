"""What generators behind an address share: options, connections, one paid request an image, and provenance."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from salva.core.about import About, Habits
from salva.core.addresses import KeyUse, plain_address
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.options import endpoint_label, option
from salva.core.protocols import Rendered, RenderRequest, Ticket
from salva.core.secrets import cut
from salva.errors import BackendError, LostError, SalvaError
from salva.messages import message
from salva.remote.endpoint import Endpoint
from salva.remote.keys import key_for, key_option
from salva.remote.providers import Provider
from salva.remote.urls import check_url

_LONGEST_FACT = 20_000
"""Characters, such as of a revised prompt: they are stored."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    """Which endpoint, what it costs, and how it is called."""

    endpoint: str = endpoint_label()
    key_env: str = key_option()
    price_usd: float | None = option(None, "What an image costs; --max-cost needs it.", keyed=False)
    max_at_once: int = option(128, "Most concurrent requests.", keyed=False)
    timeout_s: float = option(180.0, "Time limit of a request.", keyed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOptions(RemoteOptions):
    """Options for the API of a provider."""

    model: str = option("", "The model's name at the endpoint.", target=True)
    base_url: str = option(
        "", "The endpoint; empty for the environment variable's, else the provider's.", reaches="endpoint"
    )

    def __post_init__(self) -> None:
        check_url("base_url", self.base_url, "set it in the environment instead")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOptions(RemoteOptions):
    """Options for the user's own server, which generates one image at a time.

    It bills nobody for an answer that did not come: while price_usd is 0, such requests are made again.
    """

    host: str = option("", "The server.", keyed=False, reaches="endpoint")
    price_usd: float | None = option(0.0, "What an image costs.", keyed=False)
    max_at_once: int = option(2, "Most concurrent requests.", keyed=False)
    timeout_s: float = option(600.0, "Time limit of a request.", keyed=False)

    def __post_init__(self) -> None:
        check_url("host", self.host, "give the address alone")


class RemoteGenerator(ABC):
    """A generator behind an address; a subclass generates one image, and fetches it where it gives a ticket."""

    version: ClassVar[str] = "1"
    _client: Any

    def __init__(self, options: RemoteOptions, name: str) -> None:
        self.options = options
        self.habits = Habits(max_at_once=options.max_at_once, timeout_s=options.timeout_s)
        self._name = name
        self._price_usd = options.price_usd

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request: both steps at once."""
        return _each(self._generate_and_fetch, requests)

    def begin(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | Ticket | SalvaError]:
        """The paid step: one image, ticket or error per request."""
        return _each(self._generate, requests)

    def fetch(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """The image of each request's ticket, or an error."""
        return _each(self._fetched, requests)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _generate_and_fetch(self, request: RenderRequest) -> Rendered:
        generated = self._generate(request)
        return self._fetched(replace(request, ticket=generated)) if isinstance(generated, Ticket) else generated

    def _fetched(self, request: RenderRequest) -> Rendered:
        ticket = request.ticket
        assert ticket is not None, "only what has a ticket is fetched"
        if ticket.expires_at is not None and ticket.expires_at < time.time():
            raise self._lost("it expired")
        return Rendered(picture=self._fetch(ticket), provenance=ticket.provenance)

    @abstractmethod
    def _generate(self, request: RenderRequest) -> Rendered | Ticket:
        """The paid step: the image, or a ticket for it."""

    def _fetch(self, ticket: Ticket) -> Picture:
        """The image of a ticket; LostError where there will be none."""
        raise self._lost("this generator gives no tickets")

    def _lost(self, why: str) -> LostError:
        """The error for an image that the endpoint has no more."""
        return LostError(message("image-lost", component=f"the image of {self._name}", why=why))

    def _no_image(self, answer: object) -> BackendError:
        """The error for an answer without an image."""
        return BackendError(message("image-missing", model=self._name, answer=cut(answer, 200)), is_retryable=False)

    def _provenance(self, **facts: object) -> dict[str, Json]:
        """The facts that are not empty, and the price if it is known."""
        provenance: dict[str, Json] = {name: cut(value, _LONGEST_FACT) for name, value in facts.items() if value}
        return provenance if self._price_usd is None else {**provenance, "cost_usd": self._price_usd}


def _each(call: Callable[[RenderRequest], _T], requests: Sequence[RenderRequest]) -> list[_T | SalvaError]:
    outcomes: list[_T | SalvaError] = []
    for request in requests:
        try:
            outcomes.append(call(request))
        except SalvaError as error:
            outcomes.append(error)
    return outcomes


class ProviderGenerator(RemoteGenerator):
    """A generator behind the API of a provider."""

    about: ClassVar[About] = About(is_remote=True, seeds_hold=False)
    provider: ClassVar[Provider]

    def __init__(self, options: ProviderOptions) -> None:
        super().__init__(options, f"{self.provider.name}/{options.model}")
        # The executor ends a call at timeout_s; the client's later limit ends the thread.
        self._client = self.provider.connect(self._name, options.base_url, options.timeout_s + 5, options.key_env)

    @classmethod
    def key_use(cls, options: ProviderOptions) -> KeyUse:
        """The key that it sends, and where."""
        return cls.provider.key_use(options.base_url, options.key_env)

    @classmethod
    def address(cls, options: ProviderOptions) -> str:
        """The address of its server."""
        return cls.provider.address(options.base_url, options.endpoint)


class HostGenerator(RemoteGenerator):
    """A generator on the user's own server.

    A key with a colon is a user and a password, any other one a token.
    """

    keys: ClassVar[tuple[str, ...]] = ()
    """The variables that may hold the key."""

    def __init__(self, options: HostOptions, name: str, *, timeout_s: float) -> None:
        super().__init__(options, name)
        key = key_for(name, options.host, options.key_env, self.keys)
        user, colon, password = key.partition(":")
        headers = {"Authorization": f"Bearer {key}"} if key and not colon else {}
        auth = (user, password) if colon else None
        self._client = Endpoint(name, options.host, timeout_s, headers=headers, auth=auth)

    @classmethod
    def key_use(cls, options: HostOptions) -> KeyUse | None:
        """The key that it sends, and where."""
        if not cls.keys and not options.key_env:
            return None
        return KeyUse(url=options.host, defaults=cls.keys, option="key_env", variable=options.key_env)

    @staticmethod
    def address(options: HostOptions) -> str:
        """The address of its server."""
        return options.endpoint or plain_address(options.host)
