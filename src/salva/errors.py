"""Every exception salva raises on purpose, sorted by who must act.

    SalvaError
    ├── UsageError            the user must change something (exit code 2, no traceback)
    │   ├── FormulaError        a formula or sentence that does not parse; points at the place
    │   └── MissingRoleError    a role needs a component and has none by default
    ├── PluginError           a component is broken; its author or installer must act
    │   └── MissingExtraError   an optional dependency is not installed
    ├── BackendError          the outside world failed; retried when is_retryable
    │   ├── BusyError           too many requests at once; retried, and everyone eases off
    │   ├── UnreachableError    a request could not be sent: no route, no name; retried
    │   ├── UnknownError        a request was sent, and nobody can tell whether it is billed
    │   │   └── LostError         what was paid for cannot be fetched any more
    │   ├── RefusedError        the model declined on policy; never retried by itself
    │   └── UnusableError       no request can succeed (wrong key, unknown model): the run stops
    │       └── DownError         nothing that an endpoint was asked lately succeeded
    └── StoreError            disk, schema or lock
        └── LockedError         another process writes to the same run

Broken invariants are assertions, not exceptions of this tree. Every class survives pickle.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches

from salva.messages import code_of, message


class SalvaError(Exception):
    """Root of everything raised on purpose; the message is written for the person who must act."""

    @property
    def code(self) -> str:
        """The code of its message, for tests, scripts and `salva explain`."""
        return code_of(self)


class UsageError(SalvaError):
    """What was asked cannot be done as asked."""


class FormulaError(UsageError):
    """Text that is no formula (or no sentence of the grammar), with the place where it stopped making sense."""

    def __init__(self, problem: str, text: str = "", position: int = 0) -> None:
        super().__init__(problem, text, position)
        self.problem = problem
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if not self.text:
            return self.problem
        line = self.text.replace("\n", " ")
        return f"{self.problem}\n  {line}\n  {' ' * self.position}^"


class MissingRoleError(UsageError):
    """A role that needs a component and has none by default; the caller adds a line to paste."""

    def __init__(self, problem: str, role: str, name: str, others: str) -> None:
        super().__init__(problem, role, name, others)
        self.problem = problem
        self.role = role
        self.name = name
        """A component for the example."""
        self.others = others
        """The other components, in sentences."""

    def with_example(self, example: str) -> UsageError:
        """The same error with a line to paste."""
        return UsageError(message("detector-missing", problem=self.problem, example=example, others=self.others))

    @property
    def code(self) -> str:
        """The code of its message."""
        return self.with_example("").code

    def __str__(self) -> str:
        return str(self.with_example(f"--{self.role} {self.name}"))


class PluginError(SalvaError):
    """A component is broken or misbehaves."""


class MissingExtraError(PluginError):
    """A component needs packages that are not installed; the message holds the install line."""

    def __init__(self, component: str, extra: str) -> None:
        super().__init__(component, extra)
        self.component = component
        self.extra = extra

    @property
    def code(self) -> str:
        """The code of its message."""
        return "extra-missing"

    def __str__(self) -> str:
        return message("extra-missing", component=self.component, install=install_line(self.extra))


class BackendError(SalvaError):
    """A model, an endpoint or a device did not deliver."""

    is_usually_retryable = True

    def __init__(self, message: str, is_retryable: bool | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, is_retryable, retry_after_s)
        self.message = message
        self.is_retryable = self.is_usually_retryable if is_retryable is None else is_retryable
        self.retry_after_s = retry_after_s
        self.usage: dict[str, float] = {}
        """What was paid for it all the same: n_calls, input_tokens, output_tokens, cost_usd, as far as known."""

    def __str__(self) -> str:
        return self.message


class BusyError(BackendError):
    """An endpoint asks for fewer requests at once; whoever sends them should ease off."""


class UnreachableError(BackendError):
    """A request could not be sent, or one that costs nothing got no answer."""


class UnknownError(BackendError):
    """A request may have been billed, with nothing to show for it.

    Repeated only when the user says so; is_retryable: where it is known to cost nothing.
    """

    is_usually_retryable = False
    is_answered = True
    """Whether there was any answer."""


class LostError(UnknownError):
    """What an endpoint had generated cannot be fetched any more."""


class RefusedError(BackendError):
    """The model declined this request on policy grounds."""

    is_usually_retryable = False


class UnusableError(BackendError):
    """No request to this component can succeed, so the run stops instead of failing case by case."""

    is_usually_retryable = False


class DownError(UnusableError):
    """An endpoint has served nothing of what it was asked lately; told from its answers, it does not say so itself."""


class StoreError(SalvaError):
    """The run directory could not be read or written."""


class LockedError(StoreError):
    """Another process is writing to this run."""


def invalid_option(name: str, value: object, wanted: object) -> UsageError:
    """The error for a value that an option cannot have."""
    return UsageError(message("option-invalid", name=name, value=value, wanted=wanted))


def unknown_name(kind: str, name: str, known: Iterable[str], hint: str = "") -> UsageError:
    """The error for a name nobody registered, with the nearest known one; hint: a sentence that follows."""
    names = sorted(known)
    values = {"kind": kind, "name": name, "known": ", ".join(names) or "none", "meant": meant(name, names) + hint}
    return UsageError(message("name-unknown", **values))


def meant(name: str, known: Iterable[str]) -> str:
    """A sentence with the known name that is nearest to another one; empty where none is near."""
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def install_line(extra: str) -> str:
    """What installs an extra: of the release, or of the clone that this salva runs from."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from shlex import quote
    from urllib.parse import unquote, urlparse

    with suppress(PackageNotFoundError, ValueError, AttributeError):
        came_from = loads(distribution("salva").read_text("direct_url.json") or "{}")
        address = urlparse(str(came_from.get("url", "")))
        if address.scheme == "file" and came_from.get("dir_info", {}).get("editable"):
            return f"pip install -e {quote(f'{unquote(address.path)}[{extra}]')}"
    return f"pip install 'salva[{extra}]'"
