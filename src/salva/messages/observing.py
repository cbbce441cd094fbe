"""Messages about detectors, readers, embedders and judges."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "checkpoint-invalid": Entry(
        "{component} cannot use {model!r}: {why}.",
        "A checkpoint must be complete and stored as safetensors or ONNX; pickles can run code and are not loaded.",
    ),
    "hub-refused": Entry(
        "{component}: the hub refuses {repo!r} at {revision!r} ({why}). Check "
        "https://huggingface.co/{repo}; for a gated one accept its terms and log in with `hf auth login`.",
    ),
    "hub-unreachable": Entry(
        "{component}: {repo!r} at {revision!r} is not on this machine, and the hub cannot be reached "
        "({why}). Connect, or give a folder.",
    ),
    "memory-too-small": Entry(
        "{component} does not fit the memory of {device}, even with one image ({why}): {advice}.",
    ),
    "labels-missing": Entry(
        "{detector} needs labels, and this suite names none. {instead}",
    ),
    "label-unusable": Entry(
        "{detector} has no words for the label {label!r}.",
    ),
    "labels-differ": Entry(
        "{model!r} has {n} classes, and {names!r} has {m} names. Use --set detector.labels_file=FILE, one name a line.",
    ),
    "too-many-tokens": Entry(
        "{component} reads at most {limit} tokens, and {text} takes {n}. {instead}",
    ),
    "text-unknown": Entry(
        "{component} knows no word of {text}. Use another embedder.",
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
        "Scores and features must be finite numbers, scores from 0 to 1.",
    ),
    "image-unknown": Entry(
        "The {component} files do not cover this image. Use --model folder/PATH with their images, and "
        "--set run.preflight=off.",
    ),
    "texts-unsupported": Entry(
        "{component} embeds images only, and this check embeds texts. Use --embedder clip/MODEL.",
    ),
    "judge-cannot-read": Entry(
        "The judge {judge} sees no pixels. Use --reader rapidocr, or a judge that sees images.",
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
    ),
    "reader-broken": Entry(
        "rapidocr needs its package and models ({why}). Install it with: {install}, or use --reader none.",
    ),
    "package-needed": Entry(
        "{component} needs {package} ({why}). Install it with: {install}",
    ),
    "download-failed": Entry(
        "{component}: {url} cannot be downloaded ({why}). Download it and name it: {example}.",
    ),
    "asset-damaged": Entry(
        "salva's file {name!r} is {problem}. Repair the installation with: {repair}",
    ),
}
