"""What leads a report, in words: the same sentences in every form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from salva.charts.formats import interval_text, percent
from salva.component_facts import is_shown_pictures
from salva.core.counted import counted
from salva.core.judged import Rate
from salva.core.run_spec import OFF, PREFLIGHT, STOPPED, WARNED, RunSpec
from salva.core.table import KeyFigure
from salva.results.headline import MACRO
from salva.results.leading import Leading
from salva.results.rates import BOTH_WRONG, Figure
from salva.results.wordings import WordingDifference

_SAYS = {
    str(Rate.WRONG): "have a picture that does not show what its own prompt says",
    str(Rate.INCONSISTENT): "of one meaning show different things",
}
_NOTES = {
    str(Rate.WRONG): "a picture breaks its own prompt",
    str(Rate.INCONSISTENT): "the two pictures differ, the published measure",
    BOTH_WRONG: "they agree, and both are wrong",
}
_CANARY = {
    OFF: f"made with {PREFLIGHT}={OFF}: observers were not tried first, so whether they can tell anything is unknown",
    WARNED: "{who} failed when tried on salva's own pictures, and could not be held to it: a detector without scores "
    "saw things in noise, or what a judge goes by saw nothing in a drawing; look at some pictures first",
    STOPPED: "{who} failed when tried on salva's own pictures, which stopped the run before anything was painted: "
    f"run it again with another one, or with --set {PREFLIGHT}={OFF}",
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
    says = _SAYS.get(leading.rate or "", "broke their check")
    if leading.rate == str(Rate.INCONSISTENT) and figure.n_unlike:
        says = f"show different things ({figure.n_unlike:,} of them are no equivalence: a faultless painter is flagged)"
    left = figure.without_one
    apart = f", {interval_text(left.low, left.high)} without any one of them" if left else ""
    return f"of {decided_of(figure, unit)} {says}{averaged_over(figure)}{apart}"


def averaged_over(figure: Figure) -> str:
    """What a rate is a mean over; empty for a plain share, which the mean over one category is too."""
    return f", averaged over {figure.over}" if figure.average == MACRO and figure.without_one else ""


def decided_of(figure: Figure, unit: str) -> str:
    """What a rate rests on, and the share of all that this is; stands beside every rate."""
    share = "" if figure.coverage is None else f" ({percent(figure.coverage)} of those asked)"
    return f"{counted(figure.n, f'decided {unit}')}{share}"


def bounds_of(leading: Leading) -> str:
    """What the undecided could have made of the leading rate."""
    figure = leading.figure
    if figure is None or figure.bounds is None:
        return ""
    low, high = figure.bounds.low, figure.bounds.high
    return f"; whatever they were, the leading rate lies within {interval_text(low, high)}"


def interval_of(leading: Leading) -> str:
    """The interval that gates and comparisons use, named by what it generalises to."""
    interval = leading.figure.interval if leading.figure else None
    return interval_text(interval.low, interval.high) if interval else "–"


def asides_of(leading: Leading, unit: str) -> Iterator[KeyFigure]:
    """What stands beside the leading rate: the other interval, the other rates, chance."""
    figure = leading.figure
    if figure is not None:
        yield from _other_things(figure)
        yield from _other_average(figure, unit)
    for name, title in _TITLES.items():
        rate = leading.rates.get(name)
        if rate is not None and name != leading.rate:
            note = _NOTES[name]
            if name == str(Rate.INCONSISTENT) and rate.n_unlike:
                note += f"; {rate.n_unlike:,} are no equivalence"
            yield _key_figure(title, rate, f"{decided_of(rate, 'pairs')}: {note}")
    if leading.chance is not None:
        note = "pictures shuffled within the suite would get this; a faultless painter gets 0"
        yield KeyFigure(title="chance", value=leading.chance, is_share=True, is_aside=True, note=note)


def wording_figures(wording: WordingDifference | None, numbers: Mapping[str, float | None]) -> Iterator[KeyFigure]:
    """What rewording does: the paired difference first, then the distance of what the two wordings show."""
    if wording is not None:
        noise = f"seed noise: one wording under two seeds differs in {percent(wording.seed_noise)}"
        if wording.seed_noise is None:
            noise = f"seed noise unknown: {wording.why_no_seed_noise}"
        low, high = (wording.interval.low, wording.interval.high) if wording.interval else (None, None)
        pairs = counted(wording.n, "pairs")
        yield KeyFigure(
            title="second wording against first",
            value=wording.difference,
            low=low,
            high=high,
            is_difference=True,
            is_aside=True,
            note=f"wrong {percent(wording.second)} against {percent(wording.first)} in {pairs}; {noise}",
        )
    if numbers.get("excess") is not None:
        yield KeyFigure(
            title="squared distance of wordings",
            value=numbers["excess"],
            low=numbers.get("excess_low"),
            high=numbers.get("excess_high"),
            is_share=True,
            is_aside=True,
            note="half the squared distance of what two wordings show, seed noise taken off",
        )


def warning_of(leading: Leading) -> str:
    """Why the number is not to be trusted, or says nothing of the model; empty where it is and does."""
    if leading.reason:
        return f"the oracle is {leading.oracle}: {leading.reason}"
    figure, chance = leading.figure, leading.chance
    if leading.is_unanimous:
        return (
            "every answer is the expected one: nothing is wrong here, or the judge agrees to all it is asked; "
            "`salva selftest --judge` tells whether it can say no"
        )
    if not chance or figure is None or figure.rate is None:
        return ""
    shuffled = f"pictures shuffled within the suite, which get {percent(chance)}"
    if figure.rate >= chance:
        return f"no better than {shuffled}"
    if figure.interval is not None and figure.interval.high >= chance:
        return f"{counted(figure.n, 'verdicts are', 'verdict is')} too few to tell this from {shuffled}"
    return ""


def untried(preflight: str, about: Sequence[str] = ()) -> str:
    """What is said where observers were not tried, or failed; empty elsewhere."""
    return _CANARY.get(preflight, "").replace("{who}", ", ".join(about) or "an observer")


def unread(asked: RunSpec, n_failed: int = 0) -> str:
    """What is said where a judge was shown pictures and nobody read what is written in them; empty elsewhere.

    n_failed: how many pictures the injection_reader could not read.
    """
    if n_failed:
        return f"{n_failed:,} could not be read: whether some tells the judge what to say is not known of these"
    is_read = asked.injection_reader or any(observer.role == "reader" for observer in asked.observers)
    if is_read or asked.imported or not is_shown_pictures(asked):
        return ""
    return "not read: whether some tells the judge what to say is not known"


def instructed(n: int, unit: str) -> str:
    """What is said where text in pictures tells a judge what to say; empty elsewhere."""
    told = f"text in a picture tells the judge what to say; the page shows {'each' if n > 1 else 'it'}"
    return f"in {counted(n, unit)} {told}" if n else ""


def unless_stopped(leading: Leading, preflight: str) -> Leading:
    """What leads; where the preflight ended the run, that is why nothing is judged."""
    if preflight != STOPPED:
        return leading
    return replace(leading, reason="the preflight stopped the run, so no pair was judged")


def _other_things(figure: Figure) -> Iterator[KeyFigure]:
    interval = figure.interval_entities
    if interval is not None:
        yield KeyFigure(
            title="for prompts like these about other things",
            value=figure.rate,
            low=interval.low,
            high=interval.high,
            is_share=True,
            is_aside=True,
            note="the same rate with the interval to generalise by",
        )
    elif figure.rate is not None:
        title = "for prompts like these about other things"
        yield KeyFigure(
            title=title, value=None, is_share=True, is_aside=True, note=f"not said: {figure.why_no_entities}"
        )


def _other_average(figure: Figure, unit: str) -> Iterator[KeyFigure]:
    if figure.average == MACRO and figure.pooled != figure.rate:
        yield KeyFigure(
            title="plain share", value=figure.pooled, is_share=True, is_aside=True, note=decided_of(figure, unit)
        )


def _key_figure(title: str, figure: Figure, note: str) -> KeyFigure:
    low, high = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
    return KeyFigure(title=title, value=figure.rate, low=low, high=high, is_share=True, is_aside=True, note=note)
