"""Tables of several models put together, with means over groups of them."""

from __future__ import annotations

from report.fake_runs import make_case

from salva.core.result import Result
from salva.core.table import Table
from salva.core.verdict import Outcome
from salva.report.joined import failed_together, joined, without_empty_groups


def test_groups_of_models_are_averaged_and_models_without_a_group_are_not() -> None:
    def of(model: str, group: str, value: float | None) -> Table:
        return Table(
            name="t",
            columns=("model", "group", "judge", "PRR"),
            rows=((model, group, "j", value), (model, group, "k", 1.0)),
            is_joined=True,
            averaged_by="group",
        )

    table = joined([of("a", "open", 0.2), of("b", "open", 0.4), of("c", "closed", 0.9), of("d", "", 0.1)])
    assert len(table.rows) == 10
    assert table.rows[8][:3] == ("mean of 2 open", "open", "j")
    assert abs(float(table.rows[8][3] or 0) - 0.3) < 1e-9
    assert joined([of("a", "open", None), of("b", "open", None)]).rows[4] == ("mean of 2 open", "open", "j", None)


def test_a_column_of_groups_that_nobody_set_is_left_out() -> None:
    def of(model: str, group: str) -> Table:
        columns, rows = ("model", "group", "PRR"), ((model, group, 0.5), (model, group, 0.7))
        return without_empty_groups(Table(name="t", columns=columns, rows=rows, is_joined=True, averaged_by="group"))

    alone = of("a", "")
    assert alone.columns == ("model", "PRR")
    assert alone.rows == (("a", 0.5), ("a", 0.7))
    assert of("a", "open").columns == ("model", "group", "PRR")
    together = joined([alone, of("b", "open")])
    assert together.columns == ("model", "group", "PRR")
    assert together.rows[0] == ("a", None, 0.5)
    assert together.rows[-1] == ("mean of 2 open", "open", 0.6)
    assert joined([alone, alone]).columns == ("model", "PRR")


def results(model: str, outcomes: str) -> list[Result]:
    """One a letter: F, P or U."""
    kinds = {"F": Outcome.FAIL, "P": Outcome.PASS, "U": Outcome.UNDECIDED}
    return [
        Result(case=make_case(f"case-{number // 2}"), repeat=number % 2, model=model, outcome=kinds[letter])
        for number, letter in enumerate(outcomes)
    ]


def test_two_models_fail_together_alone_or_not_where_both_are_decided() -> None:
    table = failed_together({"one": results("one", "FFFPPUF"), "two": results("two", "FFPFPFU")})
    assert table is not None
    assert table.rows == (("both", 2, 0.4), ("only one", 1, 0.2), ("only two", 1, 0.2), ("none", 1, 0.2))
    nothing = failed_together({"one": results("one", "U"), "two": results("two", "U")})
    assert nothing is not None
    assert nothing.rows[0] == ("both", 0, None)
    assert failed_together({"one": results("one", "F")}) is None
