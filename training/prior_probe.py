"""What pocket assumes when nothing is said: paint each thing plainly many times, and see its place, colour and number.

    python training/prior_probe.py [--each 24] [--member pocket]      writes docs/explanation/pocket-priors.csv

One line a thing: "a banana" painted so many times gives how often it stands in the upper and in the lower half and
which colour it has most often (by the pixels in its box), "bananas" gives how many are painted. Only pictures in which
the detector sees the thing and nothing else count; how many those are stands beside each share.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections import Counter
from pathlib import Path

from pocket_captions import plural

from salva.core.boxes import boxes_above
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.detectors.pocket_detector import PocketDetector
from salva.generators.pocket import MEMBERS, Pocket, PocketOptions
from salva.observers.colours import PixelColours

TABLE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "pocket-priors.csv"
SEED = 70_001


class Probe:
    """A painter, and those who look at what it paints."""

    def __init__(self, member: str) -> None:
        self.painter = Pocket(PocketOptions(member=member))
        self.detector, self.colour_reader = PocketDetector(PocketDetector.Options()), PixelColours(NoOptions())

    def painted(self, text: str, n: int) -> list[Picture]:
        """The sentence painted n times."""
        requests = [RenderRequest(prompt=Prompt(role="a", text=text), seed=SEED + i) for i in range(n)]
        return [outcome.picture for outcome in self.painter.render(requests) if isinstance(outcome, Rendered)]

    def seen(self, picture: Picture, thing: str) -> Detections:
        """The boxes with their colours."""
        (boxes,) = self.detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])
        query = Query(role="colour_reader", labels=(thing,))
        assert isinstance(boxes, Detections), boxes
        (coloured,) = self.colour_reader.observe(
            [ObserveRequest(picture=picture, query=query, given={"detector": boxes})]
        )
        assert isinstance(coloured, Detections), coloured
        return coloured

    def row(self, thing: str, each: int) -> dict[str, object]:
        """One thing's line."""
        article = "a pair of" if thing == "scissors" else "an" if thing[0] in "aeiou" else "a"
        halves, colours = Counter[str](), Counter[str]()
        for picture in self.painted(f"{article} {thing}", each):
            boxes = boxes_above(self.seen(picture, thing))
            if [box.label for box in boxes] == [thing]:
                halves["upper" if boxes[0].box[1] + boxes[0].box[3] < 1 else "lower"] += 1
                colours[boxes[0].colour or "not told"] += 1
        numbers = []
        for picture in self.painted(plural(thing), each):
            boxes = boxes_above(self.seen(picture, thing))
            if {box.label for box in boxes} == {thing}:
                numbers.append(len(boxes))
        n = halves.total()
        usual, n_usual = colours.most_common(1)[0] if colours else ("", 0)
        return {
            "thing": thing,
            "pictures": n,
            "upper_half": round(halves["upper"] / n, 2) if n else "",
            "colour": usual,
            "colour_share": round(n_usual / n, 2) if n else "",
            "pictures_of_several": len(numbers),
            "median_number": f"{statistics.median(numbers):g}" if numbers else "",
            "most_and_least": f"{min(numbers)} to {max(numbers)}" if numbers else "",
        }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=24)
    parser.add_argument("--member", choices=MEMBERS, default=MEMBERS[0])
    parser.add_argument("--to", type=Path, default=TABLE)
    args = parser.parse_args()
    probe = Probe(args.member)
    rows = [probe.row(thing, args.each) for thing in PocketDetector.labels()]
    with args.to.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} things in {args.to}")


if __name__ == "__main__":
    main()
