"""What detectors that are told what to look for have in common: whose names they are given.

A detector that is asked only about cats calls the nearest thing a cat. Names that the case does not mention give a
dog somewhere else to go; they are seen and stored like any others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import UsageError
from salva.messages import message


@dataclass(frozen=True, kw_only=True)  # no slots, as in boxes.BoxOptions
class AskedOptions:
    """What every detector that must be told what to look for lets one set."""

    also: tuple[str, ...] = option(
        (), "Observed for besides what the case mentions, so that other things are not taken for it; joined by commas."
    )


def asked_labels(name: str, request: ObserveRequest, options: AskedOptions) -> tuple[str, ...]:
    """What to look for in this picture: what the case mentions, then what is always looked for."""
    labels = tuple(dict.fromkeys((*request.query.labels, *options.also)))
    if not labels:
        instead = "List them with --set detector.also=cat,dog or use a detector with its own vocabulary."
        raise UsageError(message("labels-missing", detector=name, instead=instead))
    return labels


def size_and_labels(name: str, options: AskedOptions) -> Callable[[ObserveRequest], tuple[int, int, tuple[str, ...]]]:
    """What pictures of one call must have in common: their size, and what is looked for in them."""
    return lambda request: (request.picture.width, request.picture.height, asked_labels(name, request, options))
