"""The headline in words: the same sentences in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from salva.charts.formats import interval_text, percent
from salva.component_facts import is_shown_pictures
from salva.core.judgements import Rate
from salva.core.quantity import quantity
from salva.core.run_spec import OFF, PREFLIGHT, STOPPED, WARNED, RunSpec
from salva.core.table import KeyFigure
from salva.results.headline import MACRO
from salva.results.leading import Leading
from salva.results.rates import BOTH_WRONG, Figure
from salva.results.wordings import WordingDifference

_SAYS = {
    str(Rate.WRONG): "have an image that does not show its prompt",
    str(Rate.INCONSISTENT): "have images that disagree",
}
_NOTES = {
    str(Rate.WRONG): "an image does not show its prompt",
    str(Rate.INCONSISTENT): "the two images disagree (the published measure)",
    BOTH_WRONG: "the images agree and neither shows its prompt",
}
_PREFLIGHT_NOTES = {
    OFF: f"made with {PREFLIGHT}={OFF}: the observers were not checked before the run",
    WARNED: "{who} failed the preflight check on known drawings, not enforced here: a detector without scores "
    "found entities in noise, or an observer of the judge found none in a drawing; inspect some images first",
    STOPPED: "{who} failed the preflight check on known drawings, and the run stopped before any image was generated: "
    f"use another observer, or --set {PREFLIGHT}={OFF}",
}
_TITLES = {str(Rate.WRONG): "wrong", str(Rate.INCONSISTENT): "inconsistent", BOTH_WRONG: "both wrong"}


def title_of(leading: Leading) -> str:
    """What the leading rate is called."""
    return _TITLES.get(leading.rate or "", "failure rate")


def sentence_of(leading: Leading, unit: str) -> str:
    """What the leading rate is a share of, and what it is an average over; follows the number."""
    figure = leading.figure
    if figure is None:
        return f"of no decided {unit}"
    says = _SAYS.get(leading.rate or "", "failed")
    if leading.rate == str(Rate.INCONSISTENT) and figure.n_unlike:
        says = f"have images that disagree ({figure.n_unlike:,} pairs are not equivalent: a perfect generator fails)"
    left = figure.without_one
    apart = f", {interval_text(left.low, left.high)} without any one of them" if left else ""
    return f"of {decided_of(figure, unit)} {says}{averaged_over(figure)}{apart}"


def averaged_over(figure: Figure) -> str:
    """What a rate is a mean over; empty for a plain share, which the mean over one category is too."""
    return f", averaged over {figure.over}" if figure.average == MACRO and figure.without_one else ""


def decided_of(figure: Figure, unit: str) -> str:
    """What a rate rests on, and the share of all that this is; stands beside every rate."""
    share = "" if figure.coverage is None else f" ({percent(figure.coverage)} of all)"
    return f"{quantity(figure.n, f'decided {unit}')}{share}"


def bounds_of(leading: Leading) -> str:
    """What the undecided could have made of the leading rate."""
    figure = leading.figure
    if figure is None or figure.bounds is None:
        return ""
    low, high = figure.bounds.low, figure.bounds.high
    return f"; with these decided either way, the rate lies within {interval_text(low, high)}"


def interval_of(leading: Leading) -> str:
    """The interval that gates and comparisons use, named by what it generalises to."""
    interval = leading.figure.interval if leading.figure else None
    return interval_text(interval.low, interval.high) if interval else "–"


def asides_of(leading: Leading, unit: str) -> Iterator[KeyFigure]:
    """What stands beside the leading rate: the other interval, the other rates, chance."""
    figure = leading.figure
    if figure is not None:
        yield from _other_entities(figure)
        yield from _other_average(figure, unit)
    for name, title in _TITLES.items():
        rate = leading.rates.get(name)
        if rate is not None and name != leading.rate:
            note = _NOTES[name]
            if name == str(Rate.INCONSISTENT) and rate.n_unlike:
                note += f"; {rate.n_unlike:,} pairs are not equivalent"
            yield _key_figure(title, rate, f"{decided_of(rate, 'pairs')}: {note}")
    if leading.chance is not None:
        note = "the rate of images shuffled within the suite; a perfect generator gets 0"
        yield KeyFigure(title="chance", value=leading.chance, is_share=True, is_aside=True, note=note)


def wording_figures(wording: WordingDifference | None, numbers: Mapping[str, float | None]) -> Iterator[KeyFigure]:
    """What rewording does: the paired difference first, then the distance of what the two wordings show."""
    if wording is not None:
        noise = f"seed noise: one wording under two seeds differs in {percent(wording.seed_noise)}"
        if wording.seed_noise is None:
            noise = f"seed noise unknown: {wording.why_no_seed_noise}"
        low, high = (wording.interval.low, wording.interval.high) if wording.interval else (None, None)
        pairs = quantity(wording.n, "pairs")
        yield KeyFigure(
            title="second wording against first",
            value=wording.difference,
            low=low,
            high=high,
            is_difference=True,
            is_aside=True,
            note=f"failure rate {percent(wording.second)} against {percent(wording.first)} in {pairs}; {noise}",
        )
    if numbers.get("excess") is not None:
        yield KeyFigure(
            title="squared distance of wordings",
            value=numbers["excess"],
            low=numbers.get("excess_low"),
            high=numbers.get("excess_high"),
            is_share=True,
            is_aside=True,
            note="half the squared distance between the two wordings, without seed noise",
        )


def warning_of(leading: Leading) -> str:
    """Why the number is not to be trusted, or says nothing of the model; empty where it is and does."""
    if leading.reason:
        return f"the oracle is {leading.oracle}: {leading.reason}"
    figure, chance = leading.figure, leading.chance
    if leading.is_unanimous:
        return (
            "every answer is the expected one: the model makes no mistake here, or the judge agrees to every question; "
            "`salva selftest --judge` shows whether it can answer no"
        )
    if not chance or figure is None or figure.rate is None:
        return ""
    shuffled = f"images shuffled within the suite, which get {percent(chance)}"
    if figure.rate >= chance:
        return f"no better than {shuffled}"
    if figure.interval is not None and figure.interval.high >= chance:
        return f"{quantity(figure.n, 'verdicts are', 'verdict is')} too few to tell this from {shuffled}"
    return ""


def untried(preflight: str, about: Sequence[str] = ()) -> str:
    """The warning where the preflight check failed or was switched off; empty elsewhere."""
    return _PREFLIGHT_NOTES.get(preflight, "").replace("{who}", ", ".join(about) or "an observer")


def unread(asked: RunSpec, n_failed: int = 0) -> str:
    """The note where a judge was shown images whose text was not read; empty elsewhere.

    n_failed: how many images the injection_reader could not read.
    """
    if n_failed:
        return f"{n_failed:,} could not be read, so instructions to the judge in them would go unnoticed"
    is_read = asked.injection_reader or any(observer.role == "reader" for observer in asked.observers)
    if is_read or asked.imported or not is_shown_pictures(asked):
        return ""
    return "not read, so instructions to the judge in images would go unnoticed"


def instructed(n: int, unit: str) -> str:
    """The warning about images whose text instructs a judge; empty where there are none."""
    return f"text in an image instructs the judge in {quantity(n, unit)}; see the report page" if n else ""


def unless_stopped(leading: Leading, preflight: str) -> Leading:
    """What leads; where the preflight ended the run, that is why nothing is judged."""
    if preflight != STOPPED:
        return leading
    return replace(leading, reason="the preflight stopped the run, so no pair was judged")


def _other_entities(figure: Figure) -> Iterator[KeyFigure]:
    interval = figure.interval_entities
    if interval is not None:
        yield KeyFigure(
            title="for similar prompts about other entities",
            value=figure.rate,
            low=interval.low,
            high=interval.high,
            is_share=True,
            is_aside=True,
            note="the same rate, with the interval for other entities",
        )
    elif figure.rate is not None:
        title = "for similar prompts about other entities"
        yield KeyFigure(
            title=title, value=None, is_share=True, is_aside=True, note=f"not measured: {figure.why_no_entities}"
        )


def _other_average(figure: Figure, unit: str) -> Iterator[KeyFigure]:
    if figure.average == MACRO and figure.pooled != figure.rate:
        yield KeyFigure(
            title="plain share", value=figure.pooled, is_share=True, is_aside=True, note=decided_of(figure, unit)
        )


def _key_figure(title: str, figure: Figure, note: str) -> KeyFigure:
    low, high = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
    return KeyFigure(title=title, value=figure.rate, low=low, high=high, is_share=True, is_aside=True, note=note)
