"""Messages about detectors, readers, embedders and judges."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "checkpoint-invalid": Entry(
        "{component} cannot use {model!r}: {why}.",
        "A checkpoint must be complete, of a type the component knows, and stored as safetensors or ONNX. Pickles are "
        "not loaded, because loading one can run code.",
    ),
    "hub-refused": Entry(
        "{component}: the hub does not give {repo!r} at {revision!r} ({why}). Check the name on "
        "https://huggingface.co/{repo}; if it is gated or private, accept its terms and log in with `hf auth login`.",
    ),
    "hub-unreachable": Entry(
        "{component}: {repo!r} at {revision!r} is neither a folder here nor whole in the hub's cache, and the hub cannot "
        "be reached ({why}). Connect, or download it elsewhere and give the folder.",
    ),
    "memory-too-small": Entry(
        "{component} does not fit the memory of {device}, not even one image at a time ({why}): {advice}.",
    ),
    "labels-missing": Entry(
        "{detector} needs labels to search for, and this suite names none. {instead}",
    ),
    "label-unusable": Entry(
        "{detector} has no words for the label {label!r}.",
    ),
    "labels-differ": Entry(
        "{model!r} has {n} classes, and {names!r} has {m} names. "
        "Give one name a line with --set detector.labels_file=FILE.",
    ),
    "too-many-tokens": Entry(
        "{component} reads at most {limit} tokens, and {text} takes {n}. {instead}",
    ),
    "text-unknown": Entry(
        "{component} knows no word of {text}. Use another embedder for such texts.",
    ),
    "answer-cut": Entry(
        "{component}'s answer is longer than {limit} tokens: {answer}... Raise detector.max_tokens, "
        "or set detector.cut=keep.",
    ),
    "observation-failed": Entry(
        "{component} failed on a {width} x {height} image: {why}.",
    ),
    "numbers-invalid": Entry(
        "{component} gave {what}.",
        "Scores are finite numbers from 0 to 1, and features are finite. Anything else is a failure of the network.",
    ),
    "image-unknown": Entry(
        "The {component} files hold nothing about this image. Use --model folder/PATH with the images they were made "
        "from, and --set run.preflight=off.",
    ),
    "texts-unsupported": Entry(
        "{component} embeds images only, and this check embeds texts. Use --embedder clip/MODEL.",
    ),
    "judge-cannot-read": Entry(
        "The judge {judge} sees no pixels, so it cannot read text. Use --reader rapidocr or a judge that sees images.",
    ),
    "judge-prompt-invalid": Entry(
        "The judge's prompt {path!r} {problem}.",
    ),
    "judge-refused": Entry(
        "{judge} refused to judge: {why}.",
    ),
    "reply-missing": Entry(
        "{judge} answered without a reply: {answer!r}.",
    ),
    "input-unexpected": Entry(
        "{component} needs {wanted}, got {got}.",
        "A component was called with something that no suite of salva gives; its caller must be corrected.",
    ),
    "reader-broken": Entry(
        "rapidocr needs its package and models ({why}). Install it with: {install}, or read no text with --reader none.",
    ),
    "package-needed": Entry(
        "{component} needs {package} ({why}). Install it with: {install}",
    ),
    "download-failed": Entry(
        "{component}: {url} cannot be downloaded ({why}). Download it yourself and name it: {example}.",
    ),
    "asset-damaged": Entry(
        "salva's file {name!r} is {problem}. Repair the installation with: {repair}",
    ),
}
