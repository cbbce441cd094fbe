"""One thing after the other asked of an endpoint: what fails is named and passed over, until it fails for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from salva.errors import BackendError, RefusedError, UnusableError

PATIENCE = 3
"""Failures in a row after which an endpoint is given up."""
_T = TypeVar("_T")


def one_by_one(asked: Iterable[str], ask: Callable[[str], _T], failed: Callable[[str, str], _T]) -> Iterator[_T]:
    """What comes of each; failed: what stands for one that was refused or failed, and why.

    An endpoint that cannot be used, or fails thrice in a row, raises.
    """
    n_failures = 0
    for text in asked:
        try:
            made = ask(text)
            n_failures = 0
        except RefusedError as error:
            made = failed(text, str(error))
        except UnusableError:
            raise
        except BackendError as error:
            n_failures += 1
            if n_failures == PATIENCE:
                raise
            made = failed(text, str(error))
        yield made
