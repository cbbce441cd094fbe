"""Small real components without models: a suite, a generator, actors_by_role and a check.

The generator writes what it "painted" into the pixels, and the actors_by_role read it from there, so a
whole run can be checked from prompt to verdict. Every way a component can misbehave is an option.
For our tests and for authors of plugins; registered nowhere.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

from salva.core.about import About, Habits
from salva.core.case import Case, Prompt
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.observation import Answer, Detection, Detections, Observation, Reading, TextSpan
from salva.core.options import NoOptions, option
from salva.core.protocols import Conclusion, ImageObservations, Need, ObserveRequest, Query, Rendered, RenderRequest
from salva.core.verdict import ENTITY_OMISSION, Failure, Outcome
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError

_WORDS = ("cat", "dog", "apple", "banana", "cow", "horse")
_WIDTH = 16


class Calls:
    """How often fakes were built and called, by name; shared by all of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}

    def add(self, name: str, n: int = 1) -> int:
        """Count, and give the count before."""
        with self._lock:
            before = self._counts.get(name, 0)
            self._counts[name] = before + n
            return before

    def __getitem__(self, name: str) -> int:
        return self._counts.get(name, 0)

    def clear(self) -> None:
        """Begin anew."""
        self._counts.clear()


CALLS = Calls()


class FakeSuite:
    """Pairs of the same words in two orders: "cat, dog" and "dog, cat"."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How many cases."""

        n: int = option(6, "Cases of the size `full`.")

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("quick", "full")

    def __init__(self, options: Options) -> None:
        self.options = options
        CALLS.add("suite built")

    def cases(self, size: str) -> Iterator[Case]:
        """Two cases, or as many as the options say."""
        for i in range(2 if size == "quick" else self.options.n):
            first, second = list(itertools.permutations(_WORDS, 2))[i % 30]
            yield Case(
                case_id=f"fake-{i}-{first}-{second}",
                suite="fake",
                category=first,
                prompts=(
                    Prompt(role="a", text=f"{first}, {second}", formula=f"{first} & {second}"),
                    Prompt(role="b", text=f"{second}, {first}", formula=f"{second} & {first}"),
                ),
                checks=("fake-same",),
                labels={"first": first, "second": second},
                cluster=f"{first}+{second}",
                equivalent=True,
                determinate=True,
            )


class FakeGenerator:
    """Paints the comma-separated words of a prompt; misbehaves as often as its options say."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Rates are per picture and drawn from prompt and seed, so they do not depend on order."""

        omits: float = option(0.0, "How often the last word is left out.")
        refuses: float = option(0.0, "How often a prompt is refused.")
        fails: float = option(0.0, "How often the backend fails for good.", keyed=False)
        stumbles: float = option(0.0, "How often the first call fails and the next succeeds.", keyed=False)
        hangs: float = option(0.0, "How often a call takes hang_s.", keyed=False)
        hang_s: float = option(30.0, "How long a hanging call takes.", keyed=False)
        delay_s: float = option(0.0, "How long every call takes.", keyed=False)
        mischief: str = option("", "raise, short, wrong-type or unusable; empty for none.", keyed=False)
        healed_by: str = option("", "A file whose presence ends refusals and failures.", keyed=False)
        encoded: str = option("no", "Whether pictures bring their file: no, yes or stub.", keyed=False)
        batch: int = option(4, "Requests a call.", keyed=False)
        timeout: float = option(0.0, "Time limit of a call in seconds; 0 for none.", keyed=False)

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(sees_formula=True, seeds_hold=True)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(batch_size=options.batch, depth=2, timeout_s=options.timeout or None)
        self._stumbled: set[str] = set()
        CALLS.add("generator built")
        if options.mischief == "unusable":
            raise UnusableError("no such model 'fake'; check its name")

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        CALLS.add("render", len(requests))
        time.sleep(self.options.delay_s)
        if self.options.mischief == "raise":
            raise RuntimeError("out of paint")
        if self.options.mischief == "short":
            return []
        if self.options.mischief == "wrong-type":
            return cast("list[Rendered | SalvaError]", ["a picture"] * len(requests))
        return [self._paint(request) for request in requests]

    def _paint(self, request: RenderRequest) -> Rendered | SalvaError:
        text, options = request.prompt.text, self.options
        is_healed = bool(options.healed_by) and Path(options.healed_by).exists()

        def is_drawn(fault: str, rate: float) -> bool:
            return rate > 0 and random.Random(f"{fault}/{text}/{request.seed}/{request.repeat}").random() < rate

        if is_drawn("hangs", options.hangs) and not is_healed:
            time.sleep(options.hang_s)
        if is_drawn("refuses", options.refuses) and not is_healed:
            return RefusedError(f"the prompt {text!r} is against the rules")
        if is_drawn("fails", options.fails) and not is_healed:
            return BackendError("the backend is on fire", is_retryable=False)
        key = f"{text}/{request.seed}/{request.repeat}"
        if is_drawn("stumbles", options.stumbles) and key not in self._stumbled:
            self._stumbled.add(key)
            return BackendError("too many requests", is_retryable=True, retry_after_s=0.01)
        words = [word.strip() for word in text.split(",")]
        planted = ["entity-omission"] if is_drawn("omits", options.omits) else []
        picture = painted(words[:-1] if planted else words, note=key, encoded=options.encoded)
        return Rendered(picture=picture, provenance={"planted": list(planted)})


class FakeDetector:
    """Reads the things back from the pixels, in the order they were painted."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How it looks, and how it fails."""

        blind_to: str = option("", "A label it never sees.")
        fails: float = option(0.0, "How often a look fails for good.", keyed=False)
        healed_by: str = option("", "A file whose presence ends failures.", keyed=False)
        batch: int = option(4, "Requests a call.", keyed=False)
        is_unusable: bool = option(False, "Whether it cannot be built.", keyed=False)

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(batch_size=options.batch)
        CALLS.add("detector built")
        if options.is_unusable:
            raise UnusableError("no such detector 'fake'; check its name")

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One observation or error per request."""
        CALLS.add("detect", len(requests))
        return [self._seen(request) for request in requests]

    def _seen(self, request: ObserveRequest) -> Observation | SalvaError:
        is_healed = bool(self.options.healed_by) and Path(self.options.healed_by).exists()
        fails = self.options.fails
        if fails and not is_healed and random.Random(f"look/{request.picture.image_id()}").random() < fails:
            return BackendError("the detector blinked", is_retryable=False)
        labels = [label for label in written_in(request.picture)[0] if label != self.options.blind_to]
        width = 1 / max(1, len(labels))
        boxes = [(i * width, 0.25, (i + 1) * width, 0.75) for i in range(len(labels))]
        return Detections(
            boxes=tuple(Detection(label=lb, score=1.0, box=box) for lb, box in zip(labels, boxes, strict=True))
        )


class FakeReader:
    """Reads the note in the pixels when it begins with an exclamation mark."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One observation or error per request."""
        CALLS.add("read", len(requests))
        notes = [written_in(request.picture)[1] for request in requests]
        return [
            Reading(spans=(TextSpan(text=note, score=1.0, box=(0, 0, 1, 1)),) if note.startswith("!") else ())
            for note in notes
        ]


class FakeJudge:
    """Answers how many things the detector saw; a follow-up asks whether that is even."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What it adds to every answer."""

        bias: int = option(0, "Added to the count.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(needs_roles=("detector",))

    def __init__(self, options: Options) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """One observation or error per request."""
        CALLS.add("judge", len(requests))
        answers: list[Observation | SalvaError] = []
        for request in requests:
            seen = request.given["detector"]
            assert isinstance(seen, Detections)
            count = len(seen.boxes) + self.options.bias
            text = str(count) if request.query.text == "how many?" else str(count % 2 == 0)
            answers.append(Answer(text=text, scores={"count": float(count)}))
        return answers


class FakeSame:
    """Check: both images show the same labels."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How it compares."""

        is_strict: bool = option(False, "Whether the order counts.")

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("detector",),
        failure_types={ENTITY_OMISSION: "An entity is missing."},
        compares=True,
        has_control=True,
    )

    def __init__(self, options: Options) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:
        """Any pair."""
        return len(case.prompts) == 2

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """What is in each image, and what is written there when somebody can read."""
        wanted = [role for role in ("detector", "reader") if role in roles]
        return [Need(role=p.role, query=Query(role=role)) for p in case.prompts for role in wanted]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """The same labels on both sides hold; nothing seen on either side cannot be told."""
        shown = {role: _labels(sight) for role, sight in observations.items()}
        (a, seen_a), (b, seen_b) = shown.items()
        if not seen_a and not seen_b:
            return Conclusion(outcome=Outcome.UNDECIDED, reason="nothing was seen in either image")
        same = seen_a == seen_b if self.options.is_strict else sorted(seen_a) == sorted(seen_b)
        if same:
            return Conclusion(outcome=Outcome.PASS, scores={"n_seen": float(len(seen_a))})
        role = a if len(seen_a) < len(seen_b) else b
        failure = Failure(failure_type=ENTITY_OMISSION, role=role, message=f"{seen_a} against {seen_b}")
        return Conclusion(outcome=Outcome.FAIL, failure_types=(ENTITY_OMISSION,), failures=(failure,))


class FakeAnswers:
    """Check: a judge gives both images the same answers; asks a second question after the first."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        needs_roles=("judge",), failure_types={"other-answer": "The judge answered differently."}
    )

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def applies(self, case: Case) -> bool:
        """Any case."""
        return True

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """First how many; then, where there is something, whether the number is even."""
        first = Query(role="judge", text="how many?")
        asked = [Need(role=prompt.role, query=first) for prompt in case.prompts]
        for role, sight in observations.items():
            answer = sight.seen.get(first)
            if isinstance(answer, Answer) and answer.text != "0":
                asked.append(Need(role=role, query=Query(role="judge", text="even?")))
        return asked

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Compares all answers."""
        answers = [
            sorted((q.text, o.text) for q, o in s.seen.items() if isinstance(o, Answer)) for s in observations.values()
        ]
        if all(answer == answers[0] for answer in answers):
            return Conclusion(outcome=Outcome.PASS, scores={"n_answers": float(len(answers[0]))})
        return Conclusion(outcome=Outcome.FAIL, failure_types=("other-answer",))


def painted(labels: Sequence[str], note: str = "", encoded: str = "no") -> Picture:
    """A tiny picture whose pixels spell its things and a note."""
    text = json.dumps([list(labels), note]).encode()
    payload = len(text).to_bytes(3, "big") + text
    height = -(-len(payload) // (3 * _WIDTH))
    rgb = payload.ljust(3 * _WIDTH * height, b"\0")
    picture = Picture(rgb=rgb, width=_WIDTH, height=height)
    if encoded == "no":
        return picture
    # A stub stands for a file of usual size (8 KiB) made elsewhere at no cost; no run without crashes reads it back.
    webp = _webp(picture) if encoded == "yes" else b"RIFF" + fingerprint(note).encode() * 256
    return Picture(rgb=rgb, width=_WIDTH, height=height, webp=webp)


def written_in(picture: Picture) -> tuple[list[str], str]:
    """The things and the note that `painted` put into the pixels; nothing in pictures that others painted."""
    n = int.from_bytes(picture.rgb[:3], "big")
    try:
        labels, note = json.loads(picture.rgb[3 : 3 + n])
    except ValueError:
        return [], ""
    return labels, note


def _labels(sight: ImageObservations) -> list[str]:
    return [box.label for seen in sight.seen.values() if isinstance(seen, Detections) for box in seen.boxes]


def _webp(picture: Picture) -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    image.save(buffer, "WEBP", lossless=True, method=0, quality=0)
    return buffer.getvalue()
