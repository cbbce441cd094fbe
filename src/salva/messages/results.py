"""Messages about results: trust, gates, and what a run could not decide."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "detector-blind": Entry(
        "Something that the prompts name was found in {n} of {images} images. Look at some images: the model draws "
        "nothing, or the detector cannot see it.",
        "Trust is none: every failure may be the detector's. Try another --detector with `salva rejudge`.",
    ),
    "detector-domain": Entry(
        "The detector {detector!r} was made for {domain}, and this model's images are not. Use another --detector.",
        "Trust is none whatever its scores are: outside its domain a detector finds things that are not there and "
        "misses things that are. `salva list detectors` shows the others. Images of the painter or of pocket in a "
        "folder: --set model.made_by=painter.",
    ),
    "identical-images": Entry(
        "One and the same image stands for {n} prompts. Look at it, then at what generates it.",
        "Trust is none: a model that follows no prompt never contradicts itself.",
    ),
    "recall-unknown": Entry(
        "{n} of {failures} failures are missing entities, and nobody has measured how many {detector} misses. Look at "
        "some, or measure with `salva selftest --labels`.",
        "A detector that misses an entity makes a right image fail. Its recall for the missing entities is unknown.",
    ),
    "recall-low": Entry(
        "{n} of {failures} failures are missing entities, and {detector} finds only {recall} of them on labelled "
        "images. Look at some, or use another --detector.",
    ),
    "agreement-only": Entry(
        "Over half of the decided cases could only be compared with each other, not with their prompts. Name a --judge, "
        "or give formulas.",
        "Two images can agree and both be wrong. No failure-rate gate passes, unless --check or --published chose the "
        "comparison.",
    ),
    "judge-no-contrast": Entry(
        "The judge {judge!r} sees no difference, or the model draws none: it accepted {accepted} of {n} control images "
        "of other prompts.",
        "What the judge accepted about the right image, it is asked about images of other prompts that share nothing "
        "with it. Try another --judge with `salva rejudge`, and look at some images.",
    ),
    "judge-unprobed": Entry(
        "The judge {judge!r} answered only {n} control questions, so it may accept everything.",
        "Control questions are about images of other prompts; it takes 8. They are off (--set run.contrast=off), left "
        "out by a limit, or the run has too few images that the judge accepted.",
    ),
    "few-pairs": Entry(
        "Too few decided results for a useful interval: {n}. Use a larger --size or more --repeats.",
        "The interval is valid, but wider than about 40 points. It takes 16 results in even categories.",
    ),
    "uneven": Entry(
        "The category {category!r} has under five decided results beside one with twenty times as many, and both weigh "
        "the same in the rate.",
        "The rate is a mean over categories. See the table by category before comparing it with other runs.",
    ),
    "few-decided": Entry(
        "Only {n} of {total} results were decided; most others: {why}.",
        "The bounds say what the rate would be if all others had passed, or failed.",
    ),
    "incomplete": Entry(
        "The run is not finished. The same command continues it.",
    ),
    "gate-no-trust": Entry(
        "The numbers cannot be trusted; see the trust line.",
    ),
    "gate-few-decided": Entry(
        "{n} results were decided, and passing takes {wanted} (--min-decided).",
    ),
    "gate-agreement-only": Entry(
        "Most cases were only compared, so agreement alone would pass.",
    ),
    "gate-undecided": Entry(
        "Undecided results and errors leave it open; more pairs would not.",
        "A gate holds with all of them as PASS and as FAIL. See what could not be decided in `salva report RUN -v`.",
    ),
    "gate-no-direction": Entry(
        "The metric {metric!r} has no better direction, so it cannot be gated. Choose another with --gate METRIC=X.",
    ),
    "gate-no-value": Entry(
        "{metric} was not measured.",
    ),
    "gate-no-interval": Entry(
        "{metric} has no interval.",
    ),
}
