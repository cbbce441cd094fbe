"""Messages about detectors, readers, embedders and judges."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "checkpoint-invalid": Entry(
        "{component} cannot use {model!r}: {why}.",
        "Checkpoints are safetensors or ONNX; pickles can run code and are not loaded.",
    ),
    "hub-refused": Entry(
        "{component}: the hub refuses {repo!r} at {revision!r} ({why}). If it is gated, accept its terms at https://huggingface.co/{repo} and use `hf auth login`."
    ),
    "hub-unreachable": Entry(
        "{component}: {repo!r} at {revision!r} is not here, and the hub cannot be reached ({why})."
    ),
    "memory-too-small": Entry("{component} does not fit the memory of {device} ({why}): {advice}."),
    "labels-missing": Entry("{detector} needs labels. {instead}"),
    "label-unusable": Entry("{detector} has no words for the label {label!r}."),
    "labels-differ": Entry(
        "{model!r} has {n} classes, and {names!r} {m} names. Use --set detector.labels_file=FILE.", "One name a line."
    ),
    "too-many-tokens": Entry("{component} reads at most {limit} tokens, and {text} takes {n}. {instead}"),
    "text-unknown": Entry("{component} knows no word of {text}."),
    "answer-cut": Entry(
        "{component}'s answer has over {limit} tokens: {answer}... Raise detector.max_tokens, or set detector.cut=keep."
    ),
    "observation-failed": Entry("{component} failed on a {width} x {height} image: {why}."),
    "numbers-invalid": Entry("{component} gave {what}.", "Numbers are finite, and scores from 0 to 1."),
    "image-unknown": Entry(
        "The {component} files do not cover this image. Use --model folder/PATH with their images, and --set run.preflight=off."
    ),
    "texts-unsupported": Entry("{component} embeds no texts, as this check needs. Use --embedder clip/MODEL."),
    "judge-cannot-read": Entry("The judge {judge} sees no pixels. Use --reader rapidocr."),
    "judge-prompt-invalid": Entry("The judge's prompt {path!r} {problem}."),
    "judge-refused": Entry("{judge} refused to judge: {why}."),
    "reply-missing": Entry("{judge} answered without a reply: {answer!r}."),
    "input-unexpected": Entry("{component} needs {wanted}, got {got}."),
    "reader-broken": Entry("rapidocr cannot be used ({why}). Install it with: {install}, or use --reader none."),
    "package-needed": Entry("{component} needs {package} ({why}). Install it with: {install}"),
    "download-failed": Entry("{component}: {url} cannot be downloaded ({why}). Give a file: {example}."),
    "asset-damaged": Entry("salva's file {name!r} is {problem}. Repair it with: {repair}"),
}
