"""CF-World's layout of images, such as optics/0_l1.png, with the benchmark's prompt files.

Reads names and lists, never pixels; the suite's own reader reports errors in the prompt files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import parse_json
from salva.messages import message

LAYOUT = "cfworld"
RULES, PAIRS, DENORM = "rule_decouple", "sampled_attribute_decoupling", "de-norm"
"""The folders of the probes, in lower case."""
_LEVEL = re.compile(r"(?P<id>.+)_(?P<level>l[123])", re.IGNORECASE)
_PROMPT = re.compile(r"prompt[\W_]*l?[\W_]*([123])", re.IGNORECASE)
Texts = dict[tuple[str, str, str], str]
"""Part (levels, the discipline, or a probe's folder), id and level to the prompt."""


def is_of_cfworld(folder: Path) -> bool:
    """Whether a folder has this layout: levels in folders of disciplines, or the folders of the probes."""
    names = {path.name.lower() for path in folder.iterdir() if path.is_dir()}
    return bool(names & {RULES, PAIRS, DENORM}) or any(folder.glob("*/*_l1.*")) or any(folder.glob("*/*/*_l1.*"))


def prompts_beside(folder: Path) -> Path | None:
    """The folder with CF-World's prompt files: that of the images, or one of its parents."""
    places = (folder, *folder.absolute().parents[:2])
    return next((place for place in places if (place / "prompt").is_dir()), None)


def named_images(folder: Path, listing: Path | None, pictures: list[Path]) -> Iterator[tuple[Path, str]]:
    """Every image with its prompt; images without a prompt are skipped."""
    where = listing or prompts_beside(folder)
    if where is None:
        wanted = "folder of CF-World's prompt and prompt_ablation"
        raise UsageError(message("prompt-list-missing", folder=str(folder), wanted=wanted))
    texts = _texts(where)
    if not texts:
        raise UsageError(message("file-empty", path=str(where)))
    for path in pictures:
        parts = [part.lower() for part in path.relative_to(folder).parts[:-1]]
        if text := texts.get(_key(parts, path.stem)):
            yield path, text


def _key(parts: list[str], stem: str) -> tuple[str, str, str]:
    """The part, id and level of an image, by its folders and name."""
    probe = next((name for name in (RULES, PAIRS) if name in parts), "")
    if probe:
        return probe, stem.lower(), ""
    discipline = parts[-1] if parts else ""
    if DENORM in parts:
        return discipline, stem.lower(), DENORM
    match = _LEVEL.fullmatch(stem)
    return (discipline, match["id"].lower(), match["level"].lower()) if match else ("", "", "")


def _texts(where: Path) -> Texts:
    texts: Texts = {}
    for path in sorted(where.rglob("*.json")):
        try:
            content = parse_json(path, file_text(path))
        except UsageError:
            continue  # the suite's reader reports it
        inside = [part.lower() for part in path.relative_to(where).parts[:-1]]
        for row in content if isinstance(content, list) else ():
            if isinstance(row, dict):
                texts |= _of_row(row, path.stem.lower(), is_denorm=DENORM in inside)
    return texts


def _of_row(row: Mapping[str, Json], name: str, *, is_denorm: bool) -> Texts:
    row_id, text = str(row.get("id", "")).strip().lower(), row.get("prompt")
    if isinstance(text, str) and text.strip():
        if "rule_id" in row:
            return {(RULES, row_id, ""): text.strip()}
        if {"A", "B"} <= row.keys():
            return {(PAIRS, row_id, ""): text.strip()}
        return {(name, row_id, DENORM): text.strip()} if is_denorm else {}
    levels = ((_PROMPT.fullmatch(key), value) for key, value in row.items())
    return {
        (name, row_id, f"l{match[1]}"): value.strip()
        for match, value in levels
        if match and isinstance(value, str) and value.strip()
    }
