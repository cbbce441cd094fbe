"""Which verdict speaks for a case.

Verdicts come in and are put beside their cases; of each case one check's leave, as its main observers saw it.
Knows checks by what they say of themselves, never by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from salva.core.case import Case
from salva.core.judgements import CaseVerdict, Judgements, Rate, RunCheck
from salva.core.run_spec import OWN
from salva.core.verdict import CONTROL, PAIR, Observers, Verdict

Rates = Mapping[str, Rate | None]
"""What each check's failures are a rate of; a check nobody knows is left out."""
MACRO, POOLED = "macro", "pooled"


def judgements(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    checks: Mapping[str, RunCheck],
    chosen: str = "",
    leads: str = "",
    apart: tuple[str, str] | None = None,
) -> Judgements:
    """All verdicts on one model, joined and with the leading ones chosen.

    leads: what the suite leads with; apart: the label and value of cases that it counts apart.
    """
    pairs = join(cases, verdicts, PAIR)
    rates = {name: check.rate for name, check in checks.items()}
    counted, beside = parted(headline(pairs, rates, chosen, leads), checks, chosen, apart)
    return Judgements(
        cases=tuple(cases),
        verdicts=tuple(verdicts),
        pairs=tuple(pairs),
        controls=tuple(join(cases, verdicts, CONTROL)),
        headline=tuple(counted),
        beside=tuple(beside),
        chosen=chosen,
        checks=checks,
        has_own_figure=bool(leads) and not chosen,
        apart=apart,
    )


def leading_verdicts(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    rates: Rates,
    chosen: str = "",
    leads: str = "",
) -> dict[str, list[CaseVerdict]]:
    """Each model's headline verdicts beside their cases."""
    return {
        model: headline(join(cases, group, PAIR), rates, chosen, leads) for model, group in by_model(verdicts).items()
    }


def by_model(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts of the pair arm by model: who looked is told for each by itself, as in its report."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.arm == PAIR:
            groups.setdefault(verdict.model, []).append(verdict)
    return groups


def headline(
    pairs: Sequence[CaseVerdict],
    rates: Rates,
    chosen: str = "",
    leads: str = "",
) -> list[CaseVerdict]:
    """The verdicts that speak: of one check, by its main observers.

    That is the check the run chose; else what the suite leads with; else the one that holds each image against
    its own prompt, since agreeing on nonsense is no success; else the one most cases name as their own.
    """
    seen = of_main_observers(pairs)
    if (chosen or leads) == OWN:
        return _each_its_own(seen, rates)
    judged_by = dict.fromkeys(judged.verdict.check for judged in seen)
    leading = leading_check(judged_by, (case.check for case, _ in seen), rates, chosen, leads)
    led = [judged for judged in seen if judged.verdict.check == leading]
    return led if rates.get(leading) is Rate.WRONG else _of_one_way(led)


def _of_one_way(led: list[CaseVerdict]) -> list[CaseVerdict]:
    """Those of cases that were made for the check: one that took it for want of a better way has a rate of its own.

    All of them, where none was made for it.
    """
    own = [judged for judged in led if not judged.case.check_groups or judged.case.check == judged.verdict.check]
    return own or led


def parted(
    leading: Sequence[CaseVerdict], checks: Mapping[str, RunCheck], chosen: str, apart: tuple[str, str] | None
) -> tuple[list[CaseVerdict], list[CaseVerdict]]:
    """Of the verdicts that speak those that the leading rate counts, and those of cases that the suite counts apart.

    A plain share is over all of them, and a run of nothing else counts what stands apart elsewhere.
    """
    counted = [pair for pair in leading if not is_apart(pair.case, apart)]
    if not counted or average_of(checks, check_of(leading), chosen) != MACRO:
        return list(leading), []
    return counted, [pair for pair in leading if is_apart(pair.case, apart)]


def check_of(leading: Sequence[CaseVerdict]) -> str:
    """The check of the verdicts that speak; OWN where each case is judged by its own."""
    checks = {pair.verdict.check for pair in leading}
    return min(checks) if len(checks) == 1 else OWN


def average_of(checks: Mapping[str, RunCheck], check: str, chosen: str) -> str:
    """How a check's rate is averaged; runs from before it could be chosen are pooled."""
    if chosen == OWN:
        return POOLED
    return str(checks[check].options.get("average", MACRO)) if check in checks else MACRO


def is_apart(case: Case, apart: tuple[str, str] | None) -> bool:
    """Whether a suite counts a case apart from its leading rate."""
    return apart is not None and case.labels.get(apart[0]) == apart[1]


def leading_check(
    judged_by: Collection[str], own: Iterable[str], rates: Rates, chosen: str = "", leads: str = ""
) -> str:
    """Which of the checks that judge speaks for the run; own: the one that each case names."""
    by_truth = next((name for name in judged_by if rates.get(name) is Rate.WRONG), "")
    usual = [name for name, _ in Counter(name for name in own if name in judged_by).most_common(1)]
    # A suite of several checks, each for its own cases, is spoken for by the one that has most of them.
    named = (chosen, *(usual if leads == OWN else (leads,)), by_truth, *usual, *judged_by)
    return next((name for name in named if name in judged_by), "")


def _each_its_own(seen: Sequence[CaseVerdict], rates: Rates) -> list[CaseVerdict]:
    """Each case by its own check; but a case with several worlds that was compared all the same, by the comparison,
    because the run asked for that rule."""
    judged_by: dict[str, set[str]] = {}
    for case, verdict in seen:
        judged_by.setdefault(case.case_id, set()).add(verdict.check)

    def own(case: Case) -> str:
        if rates.get(case.check) is Rate.WRONG and case.determinate is False:
            compared = (name for name in judged_by[case.case_id] if rates.get(name) is Rate.INCONSISTENT)
            return min(compared, default=case.check)
        return case.check

    return [judged for judged in seen if judged.verdict.check == own(judged.case)]


def is_open(judged: CaseVerdict, rate: Rate | None) -> bool:
    """Whether a case is its check's, of this rate, because several worlds fit: two right images may differ."""
    case, verdict = judged
    return rate is Rate.WRONG and verdict.check == case.check and case.determinate is False


def join(cases: Iterable[Case], verdicts: Iterable[Verdict], arm: str = PAIR) -> list[CaseVerdict]:
    """Every verdict of an arm beside its case, in the order of the cases; one without a case is left out.

    A judge that had a detector's help with some cases, because only they have formulas, is one judge and not two; and
    a detector that needed no judge for some is the one that did for the others.
    """
    joined = _in_order(cases, verdicts, arm)
    names = _whole_names([verdict for _, verdict in joined])
    return [
        CaseVerdict(case, verdict if name == verdict.observers else replace(verdict, observers=name))
        for case, verdict in joined
        for name in (names[verdict.check, verdict.observers],)
    ]


def whole_names(cases: Iterable[Case], verdicts: Iterable[Verdict]) -> dict[tuple[str, Observers], Observers]:
    """What observers of pairs, by check and as they are stored, are called where verdicts are joined."""
    return _whole_names([verdict for _, verdict in _in_order(cases, verdicts, PAIR)])


def _in_order(cases: Iterable[Case], verdicts: Iterable[Verdict], arm: str) -> list[CaseVerdict]:
    ranked = {case.case_id: (rank, case) for rank, case in enumerate(cases)}
    joined = [
        (ranked[verdict.case_id], verdict) for verdict in verdicts if verdict.arm == arm and verdict.case_id in ranked
    ]
    joined.sort(key=lambda row: (row[0][0], row[1].repeat, row[1].check))
    return [CaseVerdict(case, verdict) for (_, case), verdict in joined]


def _whole_names(verdicts: Sequence[Verdict]) -> dict[tuple[str, Observers], Observers]:
    """For each check and its observers the fullest name they go by.

    Two sets of observers are the same at work on different cases when the last of them (the judge, where there is
    one) is the same or one set is a part of the other (a judge is only asked what boxes cannot tell), and they never
    looked at the same images; otherwise they are two opinions.
    """
    looked: dict[tuple[str, Observers], set[tuple[str, int, str]]] = {}
    for verdict in verdicts:
        units = looked.setdefault((verdict.check, verdict.observers), set())
        units.add((verdict.case_id, verdict.repeat, verdict.model))
    names: dict[tuple[str, Observers], Observers] = {}
    groups: dict[str, list[tuple[Observers, set[tuple[str, int, str]]]]] = {}
    for (check, observers), units in sorted(looked.items(), key=lambda row: -len(row[0][1])):
        mine = groups.setdefault(check, [])
        alike = [group for group in mine if group[0][-1:] == observers[-1:] or {*observers} <= {*group[0]}]
        name, together = next((group for group in alike if not group[1] & units), (observers, set()))
        if not together:
            mine.append((name, together))
        together |= units
        names[check, observers] = name
    return names


def by_observers(judgements: Judgements) -> dict[tuple[str, Observers], list[CaseVerdict]]:
    """The verdicts on pairs by check and observers, each with all that it takes them to say.

    A judge is only asked what boxes cannot tell: what was told without it counts for every judge, where joined verdicts
    count it for one, and for a judge that came later too.
    """
    groups: dict[tuple[str, Observers], list[CaseVerdict]] = {}
    for judged in judgements.pairs:
        groups.setdefault((judged.verdict.check, judged.verdict.observers), []).append(judged)
    stored = _in_order(judgements.cases, judgements.verdicts, PAIR)
    # The fuller first: of two that did without the judge, the one with more eyes is nearer to it.
    stored.sort(key=lambda judged: -len(judged.verdict.observers))
    for (check, observers), group in groups.items():
        there = {(judged.case.case_id, judged.verdict.repeat) for judged in group}
        for judged in stored:
            unit = judged.case.case_id, judged.verdict.repeat
            is_part = judged.verdict.check == check and {*judged.verdict.observers} < {*observers}
            if is_part and unit not in there:
                there.add(unit)
                group.append(judged)
    return groups


def main_observers(group: Iterable[CaseVerdict]) -> dict[str, Observers]:
    """For each check the observers that most verdicts come from; the first seen wins a tie."""
    counts = Counter((verdict.check, verdict.observers) for _, verdict in group)
    main: dict[str, Observers] = {}
    for (check, observers), _ in counts.most_common():
        main.setdefault(check, observers)
    return main


def of_main_observers(group: Sequence[CaseVerdict]) -> list[CaseVerdict]:
    """The verdicts of each check's main observers."""
    main = main_observers(group)
    return [judged for judged in group if judged.verdict.observers == main[judged.verdict.check]]
