"""Runs with outcomes that a test chooses, as directories: pairs of MetaLogic's shape, or of one plain category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs
from report.fake_runs import ASKED, ENTITIES, FakeImages, image_id, make_case, make_verdict, store_run

from salva.core.case import Case, Prompt
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.scoring import pair_name
from salva.core.source import RunRecords
from salva.core.verdict import Failure, Outcome, Verdict
from salva.store.sqlite import open_run

LAWS = ("commutative", "associative")
MODIFIERS = ("and", "x")
Breaks = Callable[[Case, int], bool | None]
"""Whether a pair fails in a repeat; None where it is undecided."""


def cases(n: int = 10) -> list[Case]:
    """So many cases in each of four categories, about five entities."""
    made = []
    for law in LAWS:
        for modifier in MODIFIERS:
            for number in range(n):
                things = ENTITIES[number % 5], ENTITIES[(number + 1 + number // 5 % 4) % 5]
                case = make_case(
                    f"{law}-{modifier}-{number}",
                    category=f"{law}-{modifier}",
                    labels={"law": law, "modifier": modifier, "entities": ",".join(things)},
                    checks=("truth",),
                )
                prompts = tuple(replace(prompt, formula=" & ".join(things)) for prompt in case.prompts)
                made.append(replace(case, prompts=prompts))
    return made


def verdicts(
    of: Sequence[Case], breaks: Breaks, model: str, repeats: int = 1, *, has_pictures: bool = False
) -> list[Verdict]:
    """Truth's verdict on every case and repeat."""
    made = []
    for case in of:
        for repeat in range(repeats):
            is_broken = breaks(case, repeat)
            outcome = Outcome.UNDECIDED if is_broken is None else Outcome.FAIL if is_broken else Outcome.PASS
            images = {role: image_id(f"{model} {case.case_id} {repeat} {role}") for role in "ab" if has_pictures}
            failure = Failure(failure_type="entity-omission", role="b", message="no cat", entity="cat")
            scores = {
                "right_a": 1.0,
                "right_b": float(not is_broken),
                "both_wrong": 0.0,
                "named_a": 1.0,
                "named_b": 1.0,
            }
            made.append(
                make_verdict(
                    case.case_id,
                    outcome,
                    repeat=repeat,
                    model=model,
                    check="truth",
                    errors=("entity-omission",) if is_broken else (),
                    failures=(failure,) if is_broken else (),
                    scores={} if is_broken is None else scores,
                    images=images,
                    reason="nobody could tell" if is_broken is None else "",
                )
            )
    return made


def asked(models: Sequence[str], repeats: int = 1, **changes: object) -> RunSpec:
    """What the run was asked for."""
    # The detector was made for the painter's images.
    named = tuple(ComponentSpec(role="model", name=model, typed="painter") for model in models)
    plain = structs.replace(ASKED, models=named, repeats=repeats, control=False)
    return structs.replace(plain, **changes)


def store(
    directory: Path,
    by_model: Mapping[str, Breaks],
    of: Sequence[Case] | None = None,
    repeats: int = 1,
    *,
    has_pictures: bool = False,
    **changes: object,
) -> Path:
    """A run directory with these models."""
    of = cases() if of is None else of
    records = RunRecords(
        cases=tuple(of),
        verdicts=tuple(
            one
            for model, breaks in by_model.items()
            for one in verdicts(of, breaks, model, repeats, has_pictures=has_pictures)
        ),
        asked=asked(tuple(by_model), repeats, **changes),
        name=directory.name,
    )
    return _finished(directory, records)


def _finished(directory: Path, records: RunRecords) -> Path:
    store_run(directory, records, FakeImages())
    with open_run(directory, "write") as opened:
        opened.set_whole()
    return directory


def store_kappas(directory: Path, kappas: Sequence[float], n_clusters: int = 0) -> Path:
    """A run directory of one model, called as the directory is, with these scores of triples."""
    check, name = "semantic-effect", directory.name
    labels, roles = {"category": "color", "aspect": "attribute-value"}, ("a", "pv", "pi")
    scores = dict.fromkeys(("alignment", "gamma_w", "gamma_wo"), 0.5)
    scores |= {pair_name(text, image): 0.5 for text in roles for image in roles}
    of = [
        replace(
            make_case(f"case-{place}", checks=(check,), suite="semvar", labels=labels),
            cluster=f"c{place % n_clusters}" if n_clusters else "",
            prompts=tuple(Prompt(role=role, text=f"{role} {place}") for role in roles),
        )
        for place in range(len(kappas))
    ]
    made = [
        make_verdict(
            case.case_id,
            Outcome.PASS if kappa > 0 else Outcome.FAIL,
            check=check,
            model=name,
            scores={**scores, "kappa": kappa},
        )
        for case, kappa in zip(of, kappas, strict=True)
    ]
    by = ComponentSpec(role="check", name=check)
    suite = ComponentSpec(role="suite", name="semvar")
    records = RunRecords(
        cases=tuple(of), verdicts=tuple(made), asked=asked((name,), checks=(by,), suite=suite), name=name
    )
    return _finished(directory, records)


def number(case: Case) -> int:
    """Its place in its category."""
    return int(case.case_id.rpartition("-")[2])
