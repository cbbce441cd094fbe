"""One thing after the other asked of an endpoint: what fails is named and passed over, until it fails for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from salva.errors import BackendError, RefusedError, UnreachableError, UnusableError

PATIENCE = 3
"""Failures in a row after which an endpoint is given up."""
_T = TypeVar("_T")


def one_by_one(asked: Iterable[str], ask: Callable[[str], _T], failed: Callable[[str, str], _T]) -> Iterator[_T]:
    """What comes of each; failed: what stands for one that was refused or failed, and why.

    An endpoint that cannot be used, or fails thrice in a row, raises; one that cannot be reached from the start does at
    once, since each further try may take its whole time.
    """
    n_failures, has_answered = 0, False
    for text in asked:
        try:
            made = ask(text)
            n_failures, has_answered = 0, True
        except RefusedError as error:
            made, has_answered = failed(text, str(error)), True
        except UnusableError:
            raise
        except BackendError as error:
            n_failures += 1
            if n_failures == PATIENCE or (isinstance(error, UnreachableError) and not has_answered):
                raise
            has_answered |= not isinstance(error, UnreachableError)
            made = failed(text, str(error))
        yield made
