"""Messages about results: trust, gates, and what a run could not decide."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "detector-blind": Entry(
        "The detector found what the prompts name in {n} of {images} images. Look at some, or try another --detector."
    ),
    "detector-domain": Entry(
        "The detector {detector!r} is made for {domain}. This model's images need another --detector.",
        "If a folder holds images of the painter or of pocket: --set model.made_by=painter.",
    ),
    "identical-images": Entry("One image stands for {n} prompts. Check what generates it."),
    "recall-unknown": Entry(
        "{n} of {failures} failures are missing entities; how many {detector} misses is unknown. Measure it: `salva selftest --labels`."
    ),
    "recall-low": Entry("{n} of {failures} failures are missing entities, and {detector} finds only {recall} of them."),
    "agreement-only": Entry(
        "Most decided cases were only compared, and both images can be wrong. Name a --judge, or give formulas."
    ),
    "judge-no-contrast": Entry(
        "The judge {judge!r} sees no difference, or the model draws none: it accepted {accepted} of {n} control images.",
        "Look at some images, or try another --judge with `salva rejudge`.",
    ),
    "judge-unprobed": Entry(
        "The judge {judge!r} answered only {n} control questions of at least 8.",
        "They may be off (--set run.contrast=off) or left out by a limit.",
    ),
    "few-pairs": Entry("Too few decided results: {n}. Use a larger --size or more --repeats."),
    "uneven": Entry(
        "The category {category!r} has under five decided results, another twenty times as many; both weigh the same."
    ),
    "few-decided": Entry("Only {n} of {total} results were decided; mostly: {why}."),
    "incomplete": Entry("The run is not finished. The same command continues."),
    "gate-no-trust": Entry("The numbers cannot be trusted."),
    "gate-few-decided": Entry("{n} results were decided; passing takes {wanted} (--min-decided)."),
    "gate-agreement-only": Entry("Most cases were only compared."),
    "gate-undecided": Entry("Undecided results and errors leave it open; more pairs would not help."),
    "gate-no-direction": Entry("{metric!r} cannot be gated: it has no better direction."),
    "gate-no-value": Entry("{metric} was not measured."),
    "gate-no-interval": Entry("{metric} has no interval."),
}
