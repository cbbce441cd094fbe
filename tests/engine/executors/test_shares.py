"""A cluster is shared so that everyone has room, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.options import option
from salva.core.plan import Binding
from salva.engine.executors.shares import ResourceRequests, Share, n_cpus_at_gpu, numbers_by_role, share_of
from salva.errors import UsageError
from salva.testing.fakes import FakeDetector, FakeGenerator, FakeReader
from salva.testing.specs import bound


class OnDevice(FakeGenerator):
    """One that can be told a device."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(FakeGenerator.Options):
        """And where."""

        device: str = option("auto", "Where.", keyed=False)


def on_device(role: str, device: str = "auto") -> Binding:
    return bound(role, OnDevice, device=device)


CPU_ONLY = [bound("model", FakeGenerator), bound("detector", FakeDetector), bound("reader", FakeReader)]
NOTHING = ResourceRequests()


@given(n_cpus=st.integers(1, 256), n_observing=st.integers(0, 2))
def test_all_actors_fit_the_cores_and_every_core_has_a_painter(n_cpus: int, n_observing: int) -> None:
    crowd = CPU_ONLY[: 1 + n_observing]
    shares = [share_of(binding, crowd, NOTHING, n_cpus, []) for binding in crowd]
    assert sum(share.n_actors * share.n_cpus for share in shares) <= n_cpus
    assert shares[0].n_actors == n_cpus
    assert all(share.n_actors >= 1 and share.n_cpus > 0 and share.n_gpus == 0 for share in shares)
    assert sum(share.n_actors for share in shares) <= 2 * n_cpus + n_observing


@given(n_gpus=st.integers(1, 64), n_beside=st.integers(1, 5))
def test_every_gpu_holds_an_actor_of_everyone_who_can_use_one(n_gpus: int, n_beside: int) -> None:
    roles = ["model", "detector", "embedder", "judge", "reader"][:n_beside]
    crowd = [on_device(role) for role in roles]
    shares = [share_of(binding, crowd, NOTHING, 8, [0] * n_gpus) for binding in crowd]
    assert all(share.places == tuple(range(n_gpus)) and share.n_actors == n_gpus for share in shares)
    assert 0.9 < sum(share.n_gpus for share in shares) <= 1


def test_a_gpu_has_the_cores_that_all_who_stand_at_it_take() -> None:
    crowd = [on_device("model"), on_device("judge"), bound("reader", FakeReader)]
    requests = ResourceRequests(cpus={"model": 2.0, "judge": 0.5, "reader": 1.0})
    painter, judge, reader = (share_of(binding, crowd, requests, 8, [0, 0]) for binding in crowd)
    assert (painter.n_cpus, judge.n_cpus, reader.n_cpus) == (2.0, 0.5, 1.0)
    assert n_cpus_at_gpu(crowd, requests, 2) == 2.5
    assert n_cpus_at_gpu([on_device("model", "cpu")], requests, 2) is n_cpus_at_gpu(crowd, requests, 0) is None


def test_who_keeps_to_the_cpu_takes_no_gpu() -> None:
    crowd = [on_device("model"), on_device("detector", "cpu"), bound("reader", FakeReader)]
    painter, detector, reader = (share_of(binding, crowd, NOTHING, 4, [0, 0]) for binding in crowd)
    assert (painter.n_gpus, painter.n_actors) == (1.0, 2)
    assert (detector.n_gpus, reader.n_gpus) == (0.0, 0.0)


def test_wishes_are_kept() -> None:
    crowd = [on_device("model"), on_device("judge"), bound("reader", FakeReader)]
    requests = ResourceRequests(gpus={"model": 1.0, "judge": 2.0}, cpus={"model": 3.0}, actors={"reader": 5})
    shares = [share_of(binding, crowd, requests, 16, [0] * 8) for binding in crowd]
    assert shares[0] == Share(n_actors=2, n_cpus=3.0, n_gpus=1.0)
    assert shares[1] == Share(n_actors=2, n_cpus=0.0, n_gpus=2.0)
    assert (shares[2].n_actors, shares[2].n_gpus) == (5, 0.0)
    assert share_of(crowd[0], crowd, ResourceRequests(actors={"model": 1}), 4, [0, 0]).n_actors == 1


def test_actors_stand_where_there_are_fewest() -> None:
    crowd = [on_device("judge"), on_device("model")]
    requests = ResourceRequests(actors={"judge": 2, "model": 6})
    assert share_of(crowd[0], crowd, requests, 4, [0] * 8).places == (0, 1)
    assert share_of(crowd[1], crowd, requests, 4, [1, 1, 0, 0, 0, 0, 0, 0]).places == (2, 3, 4, 5, 6, 7)


def test_what_cannot_be_is_said() -> None:
    crowd = [on_device("model")]
    with pytest.raises(UsageError, match=r"gpus is 2.0.*at most 1.*\[option-invalid\]"):
        share_of(crowd[0], crowd, ResourceRequests(gpus={"model": 2.0}), 4, [0])
    with pytest.raises(UsageError, match=r"actors is 4.*at most 2.*executor.gpus=model:0.5"):
        share_of(crowd[0], crowd, ResourceRequests(actors={"model": 4}), 4, [0, 0])
    with pytest.raises(UsageError, match=r"'painter'.*model.*\[option-invalid\]"):
        ResourceRequests(actors={"painter": 1}).check(["model"])


@pytest.mark.parametrize("pair", ["model", "model:", "model:many", ":4", "model:-1", "model:inf", "model:nan"])
def test_a_pair_that_is_none_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        numbers_by_role([pair], "actors")


def test_pairs_are_read_and_none_wins_in_silence() -> None:
    assert numbers_by_role(["model:4", "detector:0.5"], "gpus") == {"model": 4.0, "detector": 0.5}
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        numbers_by_role(["model:4", "model:5"], "gpus")
