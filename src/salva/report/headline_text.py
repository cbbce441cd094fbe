"""The headline of a run in words: the same sentences on the terminal, the page, in Markdown and PDF."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from salva.charts.formats import interval_text, percent, percent_text
from salva.component_facts import is_shown_pictures
from salva.core.quantity import quantity
from salva.core.run_spec import OFF, PREFLIGHT, STOPPED, WARNED
from salva.core.verdict import Outcome
from salva.report.examples import Example
from salva.report.summary import ModelSummary, Summary
from salva.results.chance import CHANCE
from salva.results.gate import FAILURE_RATE, INCONCLUSIVE, WITH_UNDECIDED, GateDecision, pairs_text
from salva.results.rates import MACRO, CategoryCount
from salva.results.trust import OK
from salva.run_results import error_code

_FAILED = "failed"
_N_WORST = 3
_WITHOUT_RATE = {Outcome.UNDECIDED: "undecided", Outcome.ERROR: "errors"}
_PREFLIGHT_NOTES = {
    OFF: f"made with {PREFLIGHT}={OFF}: the observers were not checked before the run",
    WARNED: "{who} failed the preflight check on known drawings, not enforced here; inspect some images first",
    STOPPED: "{who} failed the preflight check on known drawings, and the run stopped before any image was generated",
}


def range_text(low: float, high: float) -> str:
    """Both ends of an interval in whole percent: 44 to 69 %."""
    return f"{percent_text(low).removesuffix(' %')} to {percent_text(high)}"


def headline_title(summary: Summary, model: ModelSummary) -> str:
    """What was run on what."""
    return f"{summary.suite} on {model.model}"


def coverage_text(summary: Summary, model: ModelSummary) -> str:
    """How many results there are, and how many are decided."""
    rate = model.rate
    total = quantity(rate.total, summary.unit)
    if rate.n == rate.total:
        return f"{total}, all decided"
    counts = model.results
    parts = [
        f"{counts[name]} {word}" for name, word in (("undecided", "undecided"), ("error", "errors")) if counts[name]
    ]
    return f"{total}, {rate.n} decided ({', '.join(parts)})"


def headline_sentence(summary: Summary, model: ModelSummary, *, is_short: bool = False) -> str:
    """How many failed, and the failure rate, in one sentence."""
    return "; ".join(filter(None, (failed_text(summary, model), rate_text(model, is_short=is_short))))


def headline_row(summary: Summary, model: ModelSummary) -> tuple[str, str]:
    """The same as a label and what stands beside it."""
    return _FAILED, "; ".join(filter(None, (_failed_of(summary, model), rate_text(model))))


def failed_text(summary: Summary, model: ModelSummary) -> str:
    """How many of the decided failed."""
    is_decided = bool(rate_text(model))
    return f"{_failed_of(summary, model)} {_FAILED}" if is_decided else _failed_of(summary, model)


def _failed_of(summary: Summary, model: ModelSummary) -> str:
    rate = model.rate
    if rate.rate is None or rate.interval is None:
        return f"nothing was decided of {quantity(rate.total, summary.unit)}"
    return f"{rate.failed:,} of {quantity(rate.n, summary.unit)}"


def rate_text(model: ModelSummary, *, is_short: bool = False) -> str:
    """The failure rate with its interval and what it is averaged over; empty where nothing is decided."""
    rate = model.rate
    if rate.rate is None or rate.interval is None:
        return ""
    ends = f"95 % CI {range_text(rate.interval.low, rate.interval.high)}"
    if is_short:
        return f"{percent_text(rate.rate)} ({ends})"
    over = f", {quantity(rate.n_averaged, 'categories')}" if rate.average == MACRO and rate.n_averaged > 1 else ""
    return f"failure rate {percent_text(rate.rate)} ({ends}{over})"


def bounds_sentence(model: ModelSummary) -> str:
    """What the undecided could make of the rate; empty where that is inside its interval."""
    rate = model.rate
    if rate.bounds is None or rate.interval is None or rate.n == rate.total:
        return ""
    if rate.interval.low <= rate.bounds.low and rate.bounds.high <= rate.interval.high:
        return ""
    counts = rate.counts
    names = [name for outcome, name in _WITHOUT_RATE.items() if counts[outcome]]
    return f"{range_text(rate.bounds.low, rate.bounds.high)} if all {' and '.join(names)} had passed, or failed"


def entities_sentence(model: ModelSummary) -> str:
    """The interval for other entities; empty where there are too few."""
    if model.interval_entities is None:
        return ""
    return f"for similar prompts about other entities: 95 % CI {range_text(*model.interval_entities)}"


def people_note(model: ModelSummary) -> str:
    """The failure rate as people find it; empty where nobody reviewed the run."""
    found = model.corrected
    if not isinstance(found, dict) or not isinstance(ends := found["interval"], list):
        return ""
    low, high = (float(str(end)) for end in ends)
    between, reviewed = range_text(low, high), f"{found['n_reviewed']} reviewed"
    if (rate := found["failure_rate"]) is None:
        return f"people: {between}, {reviewed}"
    return f"people: {percent_text(float(str(rate)))} ({between}, {reviewed})"


def worst_text(model: ModelSummary) -> str:
    """The categories that fail most; empty where there is one, or none fails."""
    failing = [category for category in model.categories if category.failed]
    if len(model.categories) < 2 or not failing:
        return ""
    failing.sort(key=lambda category: (-(category.rate or 0.0), -category.failed))
    return ", ".join(map(_category_text, failing[:_N_WORST]))


def _category_text(category: CategoryCount) -> str:
    return f"{category.name} {category.failed}/{category.n}"


def example_text(example: Example, width: int = 0) -> str:
    """A failing prompt and what is wrong with its image; width: shortened to so many characters, the prompt first."""
    if not width:
        return f'"{example.prompt}" -> {example.message}'
    message = textwrap.shorten(example.message, width // 2, placeholder=" ...")
    prompt = textwrap.shorten(example.prompt, width - len(message) - len('"" -> '), placeholder=" ...")
    return f'"{prompt}" -> {message}'


def trust_text(model: ModelSummary) -> str:
    """The trust line: the status, and the first reason."""
    trust = model.trust
    if trust.status == OK:
        return OK
    more = f" (and {len(trust.reasons) - 1} more)" if len(trust.reasons) > 1 else ""
    first = trust.reasons[0]
    return f"{trust.status}: {first.text} [{first.code}]{more}"


def chance_note(model: ModelSummary) -> str:
    """That the rate cannot be told from that of shuffled images; empty where it can, or that is unknown."""
    chance = model.metrics.get(CHANCE)
    if chance is None or not chance.value or model.interval is None or model.interval[1] < chance.value:
        return ""
    return f"not distinguishable from shuffled images, which fail {percent_text(chance.value)}"


def gate_text(decision: GateDecision) -> str:
    """What a gate decided, with the numbers it went by."""
    if decision.metric == FAILURE_RATE:
        value, limit = percent_text(decision.value), percent_text(decision.limit)
        ends = "" if decision.interval is None else f" ({range_text(*decision.interval)}{WITH_UNDECIDED})"
        text = f"{decision.decision}: failure rate {value}{ends}, limit {limit}"
    elif decision.is_share and decision.value is not None:
        ends = "" if decision.interval is None else f" ({interval_text(*decision.interval)})"
        limit = f"{decision.limit * 100:g} %"
        text = f"{decision.decision}: {decision.metric} {percent(decision.value)}{ends}, limit {limit}"
    else:
        value = "not measured" if decision.value is None else f"{decision.value:.3f}"
        ends = "" if decision.interval is None else f" ({decision.interval[0]:.3f} to {decision.interval[1]:.3f})"
        text = f"{decision.decision}: {decision.metric} {value}{ends}, limit {decision.limit:g}"
    needed = pairs_text(decision) if decision.decision == INCONCLUSIVE else ""
    return "; ".join(part for part in (text, decision.reason, needed) if part)


def preflight_note(summary: Summary) -> str:
    """The warning where the preflight failed or was switched off; empty elsewhere."""
    who = ", ".join(summary.preflight_about) or "an observer"
    return _PREFLIGHT_NOTES.get(summary.preflight, "").replace("{who}", who)


def unread_note(summary: Summary) -> str:
    """The note where a judge was shown images whose text was not read; empty elsewhere."""
    asked = summary.asked
    is_read = any(observer.role == "reader" for observer in asked.observers)
    if is_read or asked.imported or not is_shown_pictures(asked):
        return ""
    return "not read, so instructions to the judge in images would go unnoticed"


def notes_of(summary: Summary, model: ModelSummary) -> Iterator[str]:
    """What changes what to do: what people say, chance, bounds, the preflight, instructing text, an unfinished run."""
    yield from filter(None, (people_note(model), chance_note(model), bounds_sentence(model), preflight_note(summary)))
    if model.n_instructed:
        cases = quantity(model.n_instructed, summary.unit)
        yield f"text in an image instructs the judge in {cases}; see the report page"
    errors = Counter(error_code(result) for result in model.all_results if result.outcome is Outcome.ERROR)
    if n_errors := errors["results-failed"]:
        yield f"{quantity(n_errors, 'errors')}; the same command tries them again"
    if n_unknown := errors["results-unknown-words"]:
        yield f"the model does not know a word of {quantity(n_unknown, summary.unit)}"
    if n_refused := model.results["refused"]:
        yield f"the model refused {quantity(n_refused, summary.unit)}; --retry refused asks again"
