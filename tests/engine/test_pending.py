"""What is stored about an observation decides whether it is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.core.image import ImageRef
from salva.core.protocols import Query
from salva.engine.actors import Actor
from salva.engine.pending import PendingObservations
from salva.judging.waves import Missing
from salva.store.records import Status
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeDetector
from salva.testing.specs import bound


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.REFUSED])
@pytest.mark.parametrize("is_retried", [False, True])
def test_what_only_the_user_repeats_is_not_asked_without_a_word(
    tmp_path: Path, status: Status, is_retried: bool
) -> None:
    by_role = {"detector": Actor.of(bound("detector", FakeDetector))}
    image, query = ImageRef(image_id="0" * 40, width=1, height=1), Query(role="detector")
    with open_run(tmp_path / "run", "write") as store:
        job = PendingObservations(store).find(by_role, image, query)
        assert job.outcome is None
        store.put_observation(job.row(status, error="x [maybe-paid]"), job.key)
        again = PendingObservations(store, {status: is_retried}).find(by_role, image, query)
    assert (again.outcome is None) == is_retried
    if not is_retried:
        assert isinstance(again.outcome, Missing)
