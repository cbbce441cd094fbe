"""Which oracle is better: same-scene, truth, answers and CLIP on the same pictures, with faults planted in them.

    python bench/oracles.py [N_PAIRS] [SUITE]      default 400 of metalogic

One painter run with planted faults, looked at by the embedded detector, judge and embedder. The embedded judge reads
boxes, and on drawings neither it nor the detector errs much; so a second judge gives a wrong answer to one question in
twenty, and a second detector misses one thing in twenty. A pair is bad when the true scene of one of its pictures (the
painter keeps it) is none of its prompt's worlds. Prints one table: precision and recall of each oracle's verdicts, the
area under the curve of the score behind them, seconds and calls an image.
"""

from __future__ import annotations

import functools
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from msgspec import structs

from salva.core.about import About
from salva.core.case import Case
from salva.core.observation import Answer, Detections, Observation
from salva.core.protocols import ObserveRequest
from salva.core.run_spec import RunSpec
from salva.core.scene import Scene, Thing
from salva.core.verdict import Outcome, Verdict
from salva.detectors.pocket_detector import PocketDetector
from salva.engine.progress import make_progress
from salva.errors import SalvaError
from salva.judges.scene_judge import SceneJudge
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.registry import add_loose_plugin, entries, load
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import RunStore, open_run

FAULTS = "entity-omission:0.12,entity-duplication:0.08,x-misposition:0.12,y-misposition:0.12"

_busy: dict[str, float] = {}
_calls: dict[str, int] = {}
_turn = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """One way to tell a bad pair."""

    name: str
    check: str
    roles: tuple[str, ...]
    """Whose looks it rests on."""
    badness: Callable[[Verdict], float | None]
    """The score behind the verdict, larger for worse; None where there is none."""
    is_flagged: Callable[[Verdict], bool] = lambda verdict: verdict.outcome is Outcome.FAIL
    judge: str = ""
    """The judge whose verdicts count, where there are two."""


ERROR_RATE = 0.05
N_JUDGES = 2
"""The second one does the work of the first and then errs, so each has half of the time and of the calls."""


class ErringDetector(PocketDetector):
    """The embedded detector with some boxes missing, always the same ones."""

    version: ClassVar[str] = f"{PocketDetector.version}-{ERROR_RATE}"
    about: ClassVar[About] = replace(PocketDetector.about, role="detector", name="erring")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """What the embedded detector sees, less one thing in twenty."""
        return [self._with_gaps(*pair) for pair in zip(requests, super().observe(requests), strict=True)]

    def _with_gaps(self, request: ObserveRequest, seen: Observation | SalvaError) -> Observation | SalvaError:
        rng = random.Random(request.picture.image_id())
        if not isinstance(seen, Detections):
            return seen
        return replace(seen, boxes=tuple(box for box in seen.boxes if rng.random() >= ERROR_RATE))


class ErringJudge(SceneJudge):
    """The embedded judge with some answers exchanged for wrong ones, always the same ones."""

    version: ClassVar[str] = f"{SceneJudge.version}-{ERROR_RATE}"
    about: ClassVar[About] = replace(SceneJudge.about, role="judge", name="erring")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The embedded judge's answers, one in twenty of them wrong."""
        return [self._maybe_wrong(*pair) for pair in zip(requests, super().observe(requests), strict=True)]

    def _maybe_wrong(self, request: ObserveRequest, said: Observation | SalvaError) -> Observation | SalvaError:
        rng = random.Random(f"{request.picture.image_id()}/{request.query.text}")
        if not isinstance(said, Answer) or not said.text or rng.random() >= ERROR_RATE:
            return said
        return replace(said, text=rng.choice([choice for choice in request.query.choices if choice != said.text]))


def _score(name: str, sign: float = 1.0, start: float = 0.0) -> Callable[[Verdict], float | None]:
    return lambda verdict: start + sign * verdict.scores[name] if name in verdict.scores else None


def _least(*names: str) -> Callable[[Verdict], float | None]:
    def badness(verdict: Verdict) -> float | None:
        found = [verdict.scores[name] for name in names if name in verdict.scores]
        return -min(found) if found else None

    return badness


def _boxes(how: str) -> tuple[Oracle, ...]:
    return (
        Oracle(
            name=f"same-scene{how}",
            check="same-scene",
            roles=("detector",),
            badness=lambda v: v.scores.get("labels_that_differ", 0.0) + v.scores.get("orders_that_differ", 0.0),
        ),
        Oracle(
            name=f"truth{how}",
            check="truth",
            roles=("detector",),
            badness=lambda v: float(len(v.failures)),
        ),
    )


ORACLES = (
    *_boxes(""),
    *(
        oracle
        for judge, how in (("scene", ""), ("erring", ", judge errs"))
        for oracle in (
            Oracle(
                name=f"VQA stability{how}",
                check="same-answers",
                roles=("detector", "judge"),
                badness=_score("agreement", -1.0, 1.0),
                judge=judge,
            ),
            Oracle(
                name=f"VQA faithfulness{how}",
                check="same-answers",
                roles=("detector", "judge"),
                badness=_least("faith_A", "faith_B"),
                is_flagged=lambda v: min(v.scores.get("faith_A", 1.0), v.scores.get("faith_B", 1.0)) < 1,
                judge=judge,
            ),
        )
    ),
    Oracle(
        name="CLIP stability",
        check="same-similarity",
        roles=("embedder",),
        badness=_score("clip_diff"),
    ),
    Oracle(
        name="CLIP score, no threshold",
        check="same-similarity",
        roles=("embedder",),
        badness=_least("clip_A", "clip_B"),
        is_flagged=lambda _: False,
    ),
)


def main() -> None:
    """Run with the embedded observers and with a detector that errs, and print the table."""
    n_pairs = sys.argv[1] if len(sys.argv) > 1 else "400"
    suite = sys.argv[2] if len(sys.argv) > 2 else "metalogic"
    for name in ("ErringJudge", "ErringDetector"):
        add_loose_plugin(f"{__file__}:{name}")
    embedder = "pocket" if any(entry.name == "pocket" for entry in entries("embedder")) else "none"
    for role, name in (("detector", "pocket"), ("judge", "scene"), ("embedder", embedder)):
        if name != "none":
            component = load(role, name)
            component.look = _watched(role, component.look)
    settings = {"model.faults": FAULTS, "run.preflight": "off"}  # some of these oracles err on purpose
    base = RunSpec.of(suite=suite, models=("painter",), reader="none", size=n_pairs, settings=settings)
    quiet = {**base.settings, "check.flip_sample": "0"}
    asks = (
        structs.replace(
            base.with_observers("embedder", [embedder]).with_observers("judge", ["scene", "erring"]), settings=quiet
        ),
        base.with_observers("embedder", ["none"])
        .with_observers("judge", ["none"])
        .with_observers("detector", ["erring"]),
    )
    columns = ("judged", "bad", "precision", "recall", "AUC", "s an image", "calls an image")
    print(f"faults {FAULTS}\n{'oracle':<32}" + "".join(f"{column:>15}" for column in columns))
    for ask, oracles in zip(asks, (ORACLES, _boxes(", detector errs")), strict=True):
        _busy.clear()
        _calls.clear()
        root = Path(tempfile.mkdtemp(prefix="salva-bench-"))
        try:
            execute(make_plan(ask), root / "run", make_progress(quiet=True))
            with open_run(root / "run") as store:
                report(store, oracles)
        finally:
            shutil.rmtree(root)


def _watched(role: str, look: Callable[..., Any]) -> Callable[..., Any]:
    """The same work, with its requests and its thread's CPU time added up under the role."""

    @functools.wraps(look)
    def wrapper(self: object, requests: Any) -> Any:
        start = time.thread_time()
        outcomes = look(self, requests)
        with _turn:
            _busy[role] = _busy.get(role, 0.0) + time.thread_time() - start
            _calls[role] = _calls.get(role, 0) + len(requests)
        return outcomes

    return wrapper


def report(store: RunStore, oracles: Iterable[Oracle]) -> None:
    """Print one row an oracle."""
    cases = {case.case_id: case for case in store.cases()}
    pairs = (verdict for verdict in store.verdicts() if verdict.arm == "pair")
    verdicts = [verdict for verdict in pairs if cases[verdict.case_id].equivalent is not False]
    bad = {verdict.case_id: is_bad(store, cases[verdict.case_id], verdict) for verdict in verdicts}
    n_images = store.n_images()
    for oracle in oracles:
        judged = [
            verdict
            for verdict in verdicts
            if verdict.check == oracle.check
            and verdict.outcome in (Outcome.PASS, Outcome.FAIL)
            and (not oracle.judge or oracle.judge in verdict.observers)
        ]
        if judged:
            print(f"{oracle.name:<32}" + "".join(f"{cell:>15}" for cell in _cells(oracle, judged, bad, n_images)))


def _cells(oracle: Oracle, judged: list[Verdict], bad: Mapping[str, bool], n_images: int) -> list[str]:
    flagged = [verdict for verdict in judged if oracle.is_flagged(verdict)]
    hits = sum(bad[verdict.case_id] for verdict in flagged)
    n_bad = sum(bad[verdict.case_id] for verdict in judged)
    scored = [(value, bad[v.case_id]) for v in judged if (value := oracle.badness(v)) is not None]
    area = auc([value for value, is_it in scored if is_it], [value for value, is_it in scored if not is_it])
    shared = {"judge": N_JUDGES}
    seconds = sum(_busy.get(role, 0.0) / shared.get(role, 1) for role in oracle.roles) / n_images
    calls = _calls.get(oracle.roles[-1], 0) / shared.get(oracle.roles[-1], 1) / n_images
    return [
        str(len(judged)),
        str(n_bad),
        f"{hits / len(flagged):.3f}" if flagged else "-",
        f"{hits / n_bad:.3f}" if flagged and n_bad else "-",
        "-" if area is None else f"{area:.3f}",
        f"{seconds:.4f}",
        f"{calls:.1f}",
    ]


def is_bad(store: RunStore, case: Case, verdict: Verdict) -> bool:
    """Whether a picture of the pair shows none of its prompt's worlds, by what the painter painted."""
    for prompt in case.prompts:
        provenance = store.renders_of(verdict.images[prompt.role])[0].provenance
        things: Any = provenance["things"]
        scene = Scene(things=tuple(Thing(label=t["label"], box=tuple(t["box"]), colour=t["colour"]) for t in things))
        if not satisfies(parse(prompt.formula or ""), scene):
            return True
    return False


def auc(bad: Iterable[float], good: Iterable[float]) -> float | None:
    """How often a bad pair scores worse than a good one, ties counting half; None without both."""
    ranked = sorted([(value, 1) for value in bad] + [(value, 0) for value in good])
    n_bad = sum(kind for _, kind in ranked)
    n_good = len(ranked) - n_bad
    if not n_bad or not n_good:
        return None
    total = 0.0
    n_below = i = 0
    while i < len(ranked):
        j = i
        while j < len(ranked) and ranked[j][0] == ranked[i][0]:
            j += 1
        ties_bad = sum(kind for _, kind in ranked[i:j])
        ties_good = j - i - ties_bad
        total += ties_bad * (n_below + ties_good / 2)
        n_below += ties_good
        i = j
    return total / (n_bad * n_good)


if __name__ == "__main__":
    main()
