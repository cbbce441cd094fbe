"""What garbage scores: generators and detectors of nonsense, and images dealt to other prompts.

    python bench/garbage.py [SIZE] [N_SHUFFLES]      default paper and 2

Each row is a whole run of MetaLogic without a reader: the failure rate, what is decided, what a gate at 10 % says, and
the trust. Images shuffled within the suite stand beside the chance rate that the report prints for them.
Every class below is a component, so one can be tried alone: --plugin bench/garbage.py:Grey --model grey.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.observation import Detection, Detections, Observation
from salva.core.options import NoOptions, option
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.detectors.pocket_detector import PocketDetector
from salva.engine.progress import make_progress
from salva.errors import SalvaError, UsageError
from salva.generators.painter.component import Painter, random_scene
from salva.logic.formula import entities
from salva.logic.notation import parse
from salva.registry import add_loose_plugin
from salva.report.summary import ModelSummary, decided, summarise_run
from salva.results.chance import CHANCE
from salva.results.gate import Gate
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan

SIDE = 256
LIMIT = 0.1


class Grey:
    """Generator: plain grey, whatever is asked."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image per request."""
        return [Rendered(picture=self.draw(request)) for request in requests]

    def draw(self, request: RenderRequest) -> Picture:
        """The image of one request."""
        return Picture(rgb=bytes([128]) * (3 * SIDE * SIDE), width=SIDE, height=SIDE)


class Noise(Grey):
    """Generator: every pixel at random."""

    def draw(self, request: RenderRequest) -> Picture:
        """The image of one request."""
        rng = random.Random(fingerprint([request.prompt.text, request.seed]))
        return Picture(rgb=rng.randbytes(3 * SIDE * SIDE), width=SIDE, height=SIDE)


class OffTopic(Grey):
    """Generator: entities that the prompt does not name, well drawn."""

    def draw(self, request: RenderRequest) -> Picture:
        """The image of one request."""
        assert request.prompt.formula is not None, "every prompt of MetaLogic has a formula"
        named = entities(parse(request.prompt.formula))
        others = [name for name in PocketDetector.labels() if name not in named]
        rng = random.Random(fingerprint([request.prompt.text, request.seed]))
        return random_scene(rng, others, rng.randint(1, 3), SIDE)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledOptions:
    """What is shuffled how often."""

    size: str = option("paper", "The size of the suite.")
    repeats: int = option(1, "The repeats of the run; each is another shuffle.")
    singly: bool = option(False, "The two images of a pair come from two others.")


class Shuffled:
    """Generator: the faultless painter's images of another pair of the same suite, both of one or each of its own."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(sees_formula=True)
    Options = ShuffledOptions

    def __init__(self, options: ShuffledOptions) -> None:
        cases = list(planned_cases(make_plan(ask({}, options.size))))
        random.Random(0).shuffle(cases)
        self._others: dict[tuple[int, str], Case] = {}
        for repeat in range(options.repeats):
            for number, case in enumerate(cases):
                # A case is known by its seed, since a generator is told no more.
                seed = case.seed(0, repeat)
                for role in ("a", "b"):
                    further = repeat % 7 + 1 if options.singly and role == "b" else 0
                    self._others[seed, role] = cases[(number + 1 + repeat + further) % len(cases)]
        self._painter = Painter(Painter.Options())

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        return self._painter.render([replace(request, prompt=self._dealt(request)) for request in requests])

    def _dealt(self, request: RenderRequest) -> Prompt:
        other = self._others.get((request.seed, request.prompt.role))
        if other is None:
            return request.prompt
        return next(prompt for prompt in other.prompts if prompt.role == request.prompt.role)


class Blind(PocketDetector):
    """Detector: sees nothing, ever."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """Nothing for every request."""
        return [Detections() for _ in requests]


class Inverted(PocketDetector):
    """Detector: overlooks what is there, and sees one of everything that is not."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The opposite of what is seen."""
        return [_opposite(seen) if isinstance(seen, Detections) else seen for seen in super().observe(requests)]


def _opposite(seen: Detections) -> Detections:
    present = {detection.label for detection in seen.boxes}
    absent = [name for name in PocketDetector.labels() if name not in present]
    return Detections(
        boxes=tuple(
            Detection(label=name, score=0.9, box=(x := 0.9 * i / len(absent), 0.4, x + 0.1, 0.5))
            for i, name in enumerate(absent)
        )
    )


GARBAGE: Mapping[str, Mapping[str, str]] = {
    "the faultless painter": {},
    "grey images": {"model": "grey"},
    "random pixels": {"model": "noise"},
    "entities the prompt does not name": {"model": "off-topic"},
    "words the detector does not know": {"model": "grey", "suite.entities": "zebra,laptop,kite"},
    "a blind detector": {"detector": "blind"},
    "an inverted detector": {"detector": "inverted"},
}


def register() -> None:
    """Make the components above known to this process."""
    for component in (Grey, Noise, OffTopic, Shuffled, Blind, Inverted):
        add_loose_plugin(f"{__file__}:{component.__name__}")


def ask(garbage: Mapping[str, str], size: str) -> RunSpec:
    """A run of the faultless painter with this garbage in its place."""
    return RunSpec.of(
        suite="metalogic",
        models=(garbage.get("model", "painter"),),
        detector=garbage.get("detector", "pocket"),
        reader="none",
        size=size,
        # Without the preflight, which stops some of it: what it scores is the question.
        settings={"run.preflight": "off", **{name: value for name, value in garbage.items() if "." in name}},
    )


def summarised(asked: RunSpec, limit: float = LIMIT) -> ModelSummary:
    """The figures of such a run, held against a limit on the failure rate."""
    with tempfile.TemporaryDirectory(prefix="salva-bench-") as root:
        execute(make_plan(asked), Path(root) / "run", make_progress(quiet=True))
        summary = decided(summarise_run(Path(root) / "run"), Gate(max_failure_rate=limit))
    (model,) = summary.by_model.values()
    return model


def shuffled(size: str, n: int) -> RunSpec:
    """A run whose every repeat is another shuffle."""
    settings = {"model.repeats": str(n), "model.size": size}
    return structs.replace(ask({"model": "shuffled", **settings}, size), repeats=n)


def main() -> None:
    """Print one row a kind of garbage."""
    size = sys.argv[1] if len(sys.argv) > 1 else "paper"
    n_shuffles = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    register()
    rows = [(name, ask(garbage, size)) for name, garbage in GARBAGE.items()]
    rows.append((f"images shuffled within the suite, {n_shuffles} times", shuffled(size, n_shuffles)))
    print("| garbage | failure rate | chance | decided | gate at 10 % | trust |\n|---|---|---|---|---|---|")
    for name, asked in rows:
        try:
            model = summarised(asked)
        except UsageError as error:
            print(f"| {name} | - | - | 0 | refused before generating | {error} |")
            continue
        (gate,) = model.gates
        chance = model.metrics[CHANCE].value
        n = f"{model.n} of {model.results['total']}"
        trust = ", ".join((model.trust.status, *(reason.code for reason in model.trust.reasons)))
        print(
            f"| {name} | {_percent(model.failure_rate)} | {_percent(chance)} | {n} | {gate.decision} | {trust} |",
            flush=True,
        )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


if __name__ == "__main__":
    main()
