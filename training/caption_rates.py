"""How people word captions, and how pocket's writer does: the same patterns counted over both.

    SALVA_TEST_DATA=FOLDER python training/caption_rates.py [--scenes 60000] [--examples]

FOLDER/coco holds captions in COCO's JSON shape. The writer's rates in pocket_priors.py are those of the left column;
run this after a change to either.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

COLOUR = "red|orange|yellow|green|blue|purple|pink|brown|black|white|gray|grey"
NUMBER = "two|three|four|five|six|seven|eight|nine|ten|[2-9]|10"
# What people repeat without naming a thing again.
NO_NOUN = set(COLOUR.split("|")) | set(
    re.findall(
        r"[a-z']+",
        "the and with for that this are its his her their them has have from into out off one two three four five six "
        "seven eight nine ten some each other another who which while there here very next side top front back left "
        "right middle along both also near around over under being is on of in to at as by an it a up down it's",
    )
)


def words_of(caption: str) -> list[str]:
    """Lower-case words."""
    return re.findall(r"[a-z']+|[0-9]+", caption.lower())


def repeats_noun(caption: str) -> bool:
    """Whether a word that can name a thing comes twice, once in the plural maybe."""
    nouns = [re.sub(r"(?<=[a-z]{3})s$", "", word) for word in words_of(caption)]
    counts = Counter(noun for noun in nouns if noun not in NO_NOUN and len(noun) > 2 and not noun.endswith("ing"))
    return any(n > 1 for n in counts.values())


def matching(pattern: str) -> Callable[[str], bool]:
    """A test for a pattern anywhere in the lower-case caption."""
    compiled = re.compile(pattern)
    return lambda caption: compiled.search(caption.lower()) is not None


PATTERNS: dict[str, Callable[[str], bool]] = {
    "no, without": matching(r"\b(no|without)\b"),
    "or, either": matching(r"\b(or|either)\b"),
    "not, n't": matching(r"\bnot\b|n't\b"),
    "neither, nor": matching(r"\b(neither|nor)\b"),
    "a noun said twice": repeats_noun,
    "another, other": matching(r"\b(an)?others?\b"),
    "a colour": matching(rf"\b({COLOUR})\b"),
    "two different colours": lambda caption: len(set(re.findall(rf"\b(?:{COLOUR})\b", caption.lower()))) > 1,
    "a colour after its noun": matching(rf"\b(is|are|painted|colored|, all) (\w+ )?({COLOUR})\b(?! \w)|, ({COLOUR})$"),
    "that, which, who": matching(r"\b(that|which|who)\b"),
    "while, as, where, when": matching(r"\b(while|where|when|(?<!well )as)\b(?! well)"),
    "two sentences": matching(r"[a-z]{3}\s?[.!?]\s+[a-z]"),
    "a number, two to ten": matching(rf"\b({NUMBER})\b"),
    "some, several, many, a group of": matching(r"\b(some|several|many|few|lots|couple|group|bunch|herd)\b"),
    "left, right": matching(r"\b(left|right)\b"),
    "top, bottom, above, below, under, over": matching(r"\b(on top|at the top|bottom|above|below|under|over)\b"),
    "next to, beside, near, by": matching(r"\b(next to|beside|near|by)\b"),
    "in front of, behind": matching(r"\b(in front of|behind)\b"),
    "there is, there are": matching(r"^there (is|are)\b"),
}


def read_people(folder: Path) -> list[str]:
    """Every caption of the JSON files in the folder."""
    captions = []
    for path in sorted((folder / "coco").glob("*.json")):
        captions += [row["caption"].strip() for row in json.loads(path.read_text())["annotations"]]
    return captions


def write_ours(n: int) -> list[str]:
    """Captions of n random scenes."""
    from pocket_captions import write_caption
    from pocket_drawing import drawing_extents
    from pocket_world import sample_scene

    rng, extents = random.Random(4), drawing_extents()
    return [write_caption(rng, sample_scene(rng, extents)) for _ in range(n)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=60_000)
    parser.add_argument("--examples", action="store_true")
    args = parser.parse_args()
    data = os.environ.get("SALVA_TEST_DATA")
    if not data:
        raise SystemExit("SALVA_TEST_DATA is not set; name the folder that holds coco/ with captions in COCO's shape")
    people = read_people(Path(data))
    if not people:
        raise SystemExit(f"no captions in {data!r}; SALVA_TEST_DATA names the folder that holds coco/ with JSON files")
    ours = write_ours(args.scenes) if args.scenes else []
    print(f"| pattern | people, {len(people)} captions | pocket's writer, {len(ours)} |\n|---|---|---|")
    for name, is_there in PATTERNS.items():
        hits = [caption for caption in people if is_there(caption)]
        own = f"{100 * sum(map(is_there, ours)) / len(ours):.2f} %" if ours else ""
        print(f"| {name} | {100 * len(hits) / len(people):.2f} % | {own} |")
        if args.examples:
            for caption in random.Random(2).sample(hits, min(8, len(hits))):
                print("      ", caption)
    mean = [sum(len(words_of(caption)) for caption in rows) / max(1, len(rows)) for rows in (people, ours)]
    print(f"| words in the mean | {mean[0]:.1f} | {mean[1]:.1f} |")


if __name__ == "__main__":
    main()
