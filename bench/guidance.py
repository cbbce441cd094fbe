"""How many more failures a guided run finds than an unguided one, on a painter with planted weaknesses.

No picture is painted: the painter is a rule that fails on some things far more often than on others, which is all
that guidance can go by. The rate weighted back to a uniform draw stands beside both.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

from salva.core.case import Case
from salva.suites.actesting.suite import Actesting, ActestingOptions

_OPERATORS = ("ec", "er-a")
_FAILS, _SELDOM = 0.7, 0.05
_N_WEAK = 5


def _cases(guide: str, seed: int) -> list[Case]:
    return list(Actesting(ActestingOptions(operators=_OPERATORS, guide=guide, seed=seed)).cases("full"))


def _painted(cases: Iterable[Case], weak: set[str], luck: random.Random) -> list[tuple[Case, bool]]:
    """Each case and whether its picture is wrong."""
    return [(case, luck.random() < (_FAILS if case.labels["entity"] in weak else _SELDOM)) for case in cases]


def _told(name: str, verdicts: list[tuple[Case, bool]]) -> float:
    weights = [float(case.labels["weight"]) for case, _ in verdicts]
    found = sum(is_wrong for _, is_wrong in verdicts) / len(verdicts)
    uniform = sum(w for w, (_, is_wrong) in zip(weights, verdicts, strict=True) if is_wrong) / sum(weights)
    print(f"{name:10} {len(verdicts):6d} {found:17.3f} {uniform:26.3f}")
    return found


def main() -> None:
    """Print the table."""
    luck = random.Random(0)
    first = _cases("", 0)
    things = sorted({case.labels["entity"] for case in first})
    weak = set(luck.sample(things, _N_WEAK))
    verdicts = _painted(first, weak, luck)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verdicts.csv"
        rows = [
            f'{case.case_id},{"FAIL" if is_wrong else "PASS"},{case.labels["entity"]},"{case.labels["predicate"]}",true'
            for case, is_wrong in verdicts
        ]
        header = "case_id,outcome,label.entity,label.predicate,is_primary"
        path.write_text("\n".join((header, *rows)) + "\n")
        guided = _painted(_cases(str(path), 1), weak, luck)
    print(f"{_N_WEAK} of {len(things)} things fail {_FAILS:.0%} of the time, the others {_SELDOM:.0%}")
    print("            cases  failures a case  weighted to a uniform draw")
    unguided = _told("unguided", _painted(_cases("", 1), weak, luck))
    print(f"ratio {_told('guided', guided) / unguided:.1f}")


if __name__ == "__main__":
    main()
