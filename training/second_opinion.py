"""What the embedder says of a MetaLogic run: a second opinion on pictures that the detector judged or selected.

    python training/second_opinion.py RUN [RUN ...]

Of the sets that a case's things form (and each alone twice), the one whose caption is nearest to the picture is what
the embedder takes it to show; a picture is right when that set makes its prompt's formula true. Only cases with and
and or: of places an embedder says little. The runs' cases are compared one by one.
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from pathlib import Path

import salva
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query
from salva.core.scene import Scene, Thing
from salva.embedders.pocket_embedder import PocketEmbedder
from salva.errors import SalvaError
from salva.imaging.files import decode_picture
from salva.logic.notation import parse
from salva.logic.satisfaction import satisfies
from salva.stats.intervals import wilson

BLANK = Picture(rgb=bytes(3), width=1, height=1)


def candidates(things: list[str]) -> list[tuple[str, ...]]:
    """What a picture could show: every set of the things, and each of them twice."""
    sets = [chosen for n in range(1, len(things) + 1) for chosen in itertools.combinations(things, n)]
    return [*sets, *((thing, thing) for thing in things)]


def caption(shown: tuple[str, ...]) -> str:
    """The plainest sentence about it."""
    if len(shown) == 2 and shown[0] == shown[1]:
        return f"two {shown[0]}s"
    named = [f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}" for thing in shown]
    return " and ".join((", ".join(named[:-1]), named[-1]) if len(named) > 1 else named)


class SecondOpinion:
    """An embedder, and the vectors of captions it has read."""

    def __init__(self) -> None:
        self.embedder = PocketEmbedder(NoOptions())
        self.read: dict[str, tuple[float, ...]] = {}

    def _vector(self, picture: Picture, text: str = "") -> tuple[float, ...]:
        (seen,) = self.embedder.observe([ObserveRequest(picture=picture, query=Query(role="embedder", text=text))])
        assert isinstance(seen, Vector), seen
        return seen.values

    def shown(self, picture: Picture, things: list[str]) -> tuple[str, ...]:
        """The candidate nearest to the picture."""
        seen = self._vector(picture)

        def nearness(shown: tuple[str, ...]) -> float:
            text = caption(shown)
            if text not in self.read:
                self.read[text] = self._vector(BLANK, text)
            return sum(a * b for a, b in zip(seen, self.read[text], strict=True))

        return max(candidates(things), key=nearness)


def opinions(directory: Path, opinion: SecondOpinion) -> dict[tuple[str, str], tuple[str, bool]]:
    """For each case and prompt its law and whether its picture is right; what could not be painted is left out."""
    run = salva.open_run(directory)
    cases = {case.case_id: case for case in run.case_list}
    said = {}
    for row in run.verdicts[run.verdicts["check"] == "truth"].to_dict("records"):
        case = cases[row["case_id"]]
        if case.labels.get("modifier") not in ("and", "or"):
            continue
        for prompt in case.prompts:
            image_id = row[f"image.{prompt.role}"]
            if not isinstance(image_id, str):
                continue
            picture = decode_picture(run.image_bytes(image_id))
            shown = opinion.shown(picture, case.labels["entities"].split(","))
            things = tuple(Thing(label=name, box=(i / 5, 0.4, (i + 1) / 5, 0.6)) for i, name in enumerate(shown))
            assert prompt.formula
            said[case.case_id, prompt.role] = (
                case.labels["law"],
                bool(satisfies(parse(prompt.formula), Scene(things=things))),
            )
    return said


def main() -> None:
    """Print the share of wrong pictures by law, a column a run."""
    if len(sys.argv) < 2:
        raise SystemExit("name one run of metalogic or more: python training/second_opinion.py RUN [RUN ...]")
    opinion = SecondOpinion()
    try:
        runs = [opinions(Path(name), opinion) for name in sys.argv[1:]]
    except SalvaError as error:
        raise SystemExit(str(error)) from error
    both = sorted(set.intersection(*(set(run) for run in runs)))
    if not both:
        raise SystemExit("nothing to compare: no case with and or or has a verdict of truth in every run")
    laws: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key in both:
        laws[runs[0][key][0]].append(key)
    for law, keys in [*laws.items(), ("all", both)]:
        cells = []
        for run in runs:
            n_wrong = sum(not run[key][1] for key in keys)
            interval = wilson(n_wrong / len(keys), len(keys))
            cells.append(f"{n_wrong / len(keys):6.1%} ({interval.low:.0%} to {interval.high:.0%})")
        print(f"{law:14} n {len(keys):4}  " + "  ".join(cells))


if __name__ == "__main__":
    main()
