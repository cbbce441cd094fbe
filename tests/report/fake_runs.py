"""Runs made of plain records, for tests of statistics, metrics and reports."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import permutations
from pathlib import Path
from random import Random

import judged as any_judged
from msgspec import structs
from PIL import Image, ImageDraw

from salva.core.case import SEVERAL_WORLDS, Case, Finding, Prompt
from salva.core.fingerprint import Json
from salva.core.judgements import Judgements, RunCheck
from salva.core.observation import Answer, Detection, Detections, Reading, TextSpan
from salva.core.protocols import Query
from salva.core.result import Rule
from salva.core.run_file import new_run_file
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.source import RunRecords, Seen
from salva.core.verdict import Failure, Observers, Outcome, Verdict
from salva.store.records import Status, StoredComponent, StoredObservation
from salva.store.runfile import write_run_file
from salva.store.sqlite import open_run

_OPEN = Finding(kind=SEVERAL_WORLDS, sentence="not determinate: 3 worlds, so two right pictures may differ")
LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan")
MODIFIERS = ("and", "or", "x", "y")
ENTITIES = ("cat", "dog", "apple", "banana", "cow")
ERRORS = ("entity-omission", "entity-duplication", "x-misposition", "y-misposition", "optical-character")
_PAINT = {"cat": "#d98032", "dog": "#7b5236", "apple": "#c8312b", "banana": "#e8c93a", "cow": "#444"}


def make_case(
    case_id: str = "case-1",
    *,
    category: str = "commutative-and",
    labels: Mapping[str, str] | None = None,
    cluster: str = "",
    checks: tuple[str, ...] = ("truth", "same-scene"),
    determinate: bool | None = True,
    texts: tuple[str, str] = ("There is a cat and a dog", "There is a dog and a cat"),
    findings: tuple[Finding, ...] = (),
    suite: str = "metalogic",
) -> Case:
    """A pair with defaults for all that a test does not care about."""
    return Case(
        case_id=case_id,
        suite=suite,
        category=category,
        prompts=(
            Prompt(role="a", text=texts[0], formula="cat & dog"),
            Prompt(role="b", text=texts[1], formula="dog & cat"),
        ),
        checks=checks,
        labels=labels or {},
        cluster=cluster,
        equivalent=True,
        determinate=determinate,
        findings=findings,
    )


def make_verdict(
    case_id: str = "case-1",
    outcome: Outcome = Outcome.PASS,
    *,
    repeat: int = 0,
    arm: str = "pair",
    model: str = "painter",
    check: str = "same-scene",
    observers: Observers = ("pocket", "rapidocr"),
    errors: tuple[str, ...] = (),
    failures: tuple[Failure, ...] = (),
    scores: Mapping[str, float] | None = None,
    images: Mapping[str, str] | None = None,
    reason: str = "",
) -> Verdict:
    """A verdict with defaults for all that a test does not care about."""
    return Verdict(
        case_id=case_id,
        repeat=repeat,
        arm=arm,
        model=model,
        check=check,
        observers=observers,
        outcome=outcome,
        failure_types=errors,
        failures=failures,
        scores=scores or {},
        images=images or {},
        reason=reason,
    )


COMPARES = {"same-scene": True, "truth": False}


def judged(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    chosen: str = "",
    *,
    is_published: bool = False,
    **options: Mapping[str, Json],
) -> Judgements:
    """What a metric is handed; chosen: the check that makes every result; options by check, with _ for -."""
    given = {name.replace("_", "-"): values for name, values in options.items()}
    checks = {
        name: RunCheck(compares=COMPARES.get(name, False), options=given.get(name, {}))
        for name in dict.fromkeys([*COMPARES, *given])
    }
    return any_judged.judged(cases, verdicts, checks, rule=Rule(check=chosen, is_published=is_published))


ASKED = RunSpec(
    suite=ComponentSpec(role="suite", name="metalogic"),
    models=(ComponentSpec(role="model", name="painter", options={"faults": "entity-omission:0.3"}),),
    observers=(ComponentSpec(role="detector", name="pocket"), ComponentSpec(role="reader", name="rapidocr")),
    checks=(
        ComponentSpec(role="check", name="same-scene", options={"scope": "mentioned"}),
        ComponentSpec(role="check", name="truth"),
    ),
    size="paper",
    repeats=2,
    seed=7,
    control=True,
)


@dataclass
class FakeImages:
    """Pictures drawn from their own ids; what is seen in them is scripted."""

    seen_in: dict[str, Seen] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    def file_bytes(self, image_id: str) -> bytes:
        """A small WebP file."""
        if image_id in self.broken:
            return b"not a picture"
        picture = Image.new("RGB", (256, 256), "#cfe3e8")
        draw = ImageDraw.Draw(picture)
        for box in self.seen_in.get(image_id, Seen()).boxes:
            draw.ellipse([edge * 256 for edge in box.box], fill=_PAINT.get(box.label, "#888"))
        buffer = BytesIO()
        picture.save(buffer, "WEBP", lossless=True)
        return buffer.getvalue()

    def seen(self, image_id: str, observers: Observers) -> Seen:
        """What was scripted for this image."""
        return self.seen_in.get(image_id, Seen())

    def detections(self, image_id: str, observers: Observers) -> Detections:
        """The scripted boxes."""
        return Detections(boxes=self.seen(image_id, observers).boxes)

    def answers(self, image_id: str, observers: Observers) -> dict[str, Answer]:
        """The scripted answers."""
        return {one.question: Answer(text=one.answer, scores={}) for one in self.seen(image_id, observers).answers}


def metalogic_cases(n_entities: int = 4) -> list[Case]:
    """The shape of the MetaLogic suite: 20 logic categories and numbering."""
    cases = []
    for law in LAWS:
        for modifier in MODIFIERS:
            for first, second in permutations(ENTITIES[:n_entities], 2):
                is_open = law == "de-morgan"
                cases.append(
                    make_case(
                        f"metalogic-{law}-{modifier}-{first}-{second}",
                        category=f"{law}-{modifier}",
                        labels={"law": law, "modifier": modifier, "entities": f"{first},{second}"},
                        cluster="+".join(sorted((first, second))),
                        determinate=not is_open,
                        texts=(f"There is a {first} and a {second}", f"There is a {second} and a {first}"),
                        findings=(_OPEN,) if is_open else (),
                    )
                )
    for entity in ENTITIES[:4]:
        for count in range(1, 11):
            partner = next(other for other in ENTITIES if other != entity)
            cases.append(
                make_case(
                    f"metalogic-numbering-{entity}-{count}",
                    category="numbering",
                    labels={
                        "law": "numbering",
                        "count": str(count),
                        "entity": entity,
                        "entities": f"{entity},{partner}",
                    },
                    cluster="+".join(sorted((entity, partner))),
                    texts=(f"There are {count} {entity} and a {partner}", f"There is a {partner} and {count} {entity}"),
                )
            )
    return cases


def random_run(
    *, seed: int = 1, n_entities: int = 4, models: Sequence[str] = ("painter",)
) -> tuple[RunRecords, FakeImages]:
    """A whole run with every outcome, both checks, control and pictures."""
    rng = Random(seed)
    cases = metalogic_cases(n_entities)
    images = FakeImages()
    verdicts: list[Verdict] = []
    for model in models:
        for case in cases:
            for repeat in range(2):
                verdicts += _verdicts(case, model, repeat, rng, images)
    asked = structs.replace(ASKED, models=tuple(ComponentSpec(role="model", name=model) for model in models))
    return RunRecords(
        cases=tuple(cases),
        verdicts=tuple(verdicts),
        primaries={case.case_id: "truth" for case in cases},
        deciding=("pocket", "rapidocr"),
        asked=asked,
        name="metalogic-painter",
        is_whole=True,
    ), images


def small_run(models: Sequence[str] = ("painter",)) -> tuple[RunRecords, FakeImages]:
    """The first cases of such a run, for tests that store it."""
    records, images = random_run(n_entities=3, models=models)
    cases = records.cases[:8]
    kept = {case.case_id for case in cases}
    return replace(records, cases=cases, verdicts=tuple(v for v in records.verdicts if v.case_id in kept)), images


def image_id(of: str) -> str:
    """An id as pictures have them."""
    return hashlib.sha256(of.encode()).hexdigest()[:40]


def _verdicts(case: Case, model: str, repeat: int, rng: Random, images: FakeImages) -> list[Verdict]:
    """Truth for every case; same-scene and its control where one world fits."""
    law = LAWS.index(case.labels["law"]) if "modifier" in case.labels else 0
    chance = 0.08 + 0.07 * int(case.labels.get("count", "0")) + 0.12 * law
    draw = rng.random()
    outcome = Outcome.FAIL if draw < chance else Outcome.PASS
    if draw > 0.985:
        outcome = Outcome.ERROR if rng.random() < 0.5 else Outcome.UNDECIDED
    is_fail = outcome is Outcome.FAIL
    names = case.labels["entities"].split(",")
    error = rng.choice(ERRORS)
    ids = {role: image_id(f"{model} {case.case_id} {repeat} {role}") for role in ("a", "b")}
    for role, picture in ids.items():
        images.seen_in[picture] = _scene(names, error if is_fail and role == "b" else "", rng)
    failure = Failure(
        failure_type=error, role="b", message=f"no {names[-1]} where the prompt asks for 1", entity=names[-1]
    )
    common = make_verdict(
        case.case_id,
        outcome,
        repeat=repeat,
        model=model,
        images=ids,
        errors=(error,) if is_fail else (),
        failures=(failure,) if is_fail else (),
        reason="the model timed out" if outcome is Outcome.ERROR else "",
    )
    is_alike = outcome is Outcome.PASS and rng.random() < 0.05
    scores = {
        "right_a": float(not is_alike),
        "right_b": float(not is_fail and not is_alike),
        "both_wrong": float(is_alike),
    }
    truth = replace(common, check="truth", scores=scores)
    if is_alike:
        truth = replace(truth, outcome=Outcome.FAIL, failure_types=("entity-omission",))
    if not case.determinate:
        return [truth]
    shares = {name: float(rng.random() < 0.15) for name in ("differs_within_a", "differs_within_b")}
    shares["differs_between"] = float(rng.random() < chance + 0.1)
    control = make_verdict(case.case_id, repeat=repeat, model=model, arm="control", scores=shares, images=ids)
    return [truth, common, control]


def _scene(names: Sequence[str], error: str, rng: Random) -> Seen:
    shown = list(names)
    if error == "entity-omission":
        shown = shown[:-1]
    elif error == "entity-duplication":
        shown.append(names[-1])
    boxes = []
    for index, name in enumerate(shown):
        left = (index + 0.2 + rng.random() * 0.2) / len(shown)
        top = 0.2 + rng.random() * 0.4
        side = 0.6 / len(shown)
        boxes.append(Detection(label=name, score=0.9 + rng.random() * 0.09, box=(left, top, left + side, top + side)))
    texts = (
        (TextSpan(text="not the case", score=0.97, box=(0.1, 0.05, 0.7, 0.14)),) if error == "optical-character" else ()
    )
    return Seen(boxes=tuple(boxes), texts=texts)


def store_run(directory: Path, records: RunRecords, images: FakeImages) -> None:
    """The same run as a directory on disk, written through the store."""
    directory.mkdir(parents=True)
    suite = records.asked.suite if records.asked.suite.name else ComponentSpec(role="suite", name="fake")
    write_run_file(directory, new_run_file(structs.replace(records.asked, suite=suite)))
    with open_run(directory, "write") as store:
        for ordinal, case in enumerate(records.cases):
            store.put_case(ordinal, case, records.primaries.get(case.case_id, case.check))
        for verdict in records.verdicts:
            store.put_verdict(verdict)
        store.put_component(_component("detector", "pocket"))
        store.put_component(_component("reader", "rapidocr"))
        for image_id in {image_id for verdict in records.verdicts for image_id in verdict.images.values()}:
            store.blobs.write(image_id, images.file_bytes(image_id))
            seen = images.seen(image_id, ())
            for role, label, observation in (
                ("detector", "pocket", Detections(boxes=seen.boxes)),
                ("reader", "rapidocr", Reading(spans=seen.texts)),
            ):
                store.put_observation(
                    StoredObservation(
                        component_id=_component(role, label).component_id,
                        image_id=image_id,
                        query=Query(role=role),
                        given={},
                        status=Status.DONE,
                        observation=observation,
                    )
                )


def _component(role: str, label: str) -> StoredComponent:
    return StoredComponent(component_id=f"{role}-id", role=role, label=label, is_formula_seen=False, identity={})
