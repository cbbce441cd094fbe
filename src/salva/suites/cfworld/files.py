"""CF-World's own files: prompts, evaluation questions and ablations, as published, and lines of our own form.

A folder comes in; groups and probes go out, each with everything that is wrong with it. Files are known by what is in
them, since folders and names differ. Nothing is mended in silence, and an odd entry never costs its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from salva.core.case import Finding
from salva.core.fingerprint import Json
from salva.core.question import Question
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import read_json
from salva.messages import message
from salva.suites.cfworld.gaps import gap
from salva.suites.cfworld.groups import KINDS, LEVELS, Entry, LevelGroup, LevelPrompt, Probe, read_entries
from salva.suites.cfworld.official_probes import id_of, read_pairs, read_rules
from salva.suites.cfworld.official_questions import read_level, read_question

Row = Mapping[str, Json]
N_GROUPS = 1091
"""What the paper says the whole set has."""
_DENORM_KEYS = ("prompt_denorm", "denorm_prompt", "prompt_de_norm", "de_norm", "denorm", "prompt_l2", "prompt")
_NORM = re.compile(r"de[-_]?norm", re.IGNORECASE)
_PROMPT = re.compile(r"prompt[\W_]*l?[\W_]*1", re.IGNORECASE)
_N_SHOWN = 3
_OTHER = {"l2": "l3", "l3": "l2"}


@dataclass(slots=True)
class _Contents:
    """What the files hold, by kind."""

    prompts: dict[str, list[Row]] = field(default_factory=dict)
    """By discipline."""
    questions: dict[str, list[Row]] = field(default_factory=dict)
    """By the name of their file."""
    denorm: dict[str, list[Row]] = field(default_factory=dict)
    rules: list[Row] = field(default_factory=list)
    pairs: list[Row] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """Lines of our own form."""
    findings: list[Finding] = field(default_factory=list)


class CfWorldFiles(NamedTuple):
    """What some files hold."""

    entries: list[Entry]
    """Groups and probes, each with what was found wrong with it."""
    findings: tuple[Finding, ...]
    """What was found wrong with the files themselves, whatever part of them is generated."""


def read_files(paths: Sequence[str]) -> CfWorldFiles:
    """Every group and probe of some files and folders, with what was found wrong."""
    contents = _Contents()
    for path, place in _files(paths):
        _sort_in(contents, path, place)
    groups = _groups(contents)
    probes = [*read_rules(contents.rules, contents.findings), *read_pairs(contents.pairs, contents.findings)]
    entries: list[Entry] = [*map(_with_gaps, [*contents.entries, *groups]), *probes]
    if not entries:
        found = "; ".join(finding.sentence for finding in contents.findings[:_N_SHOWN])
        raise UsageError(
            message(
                "suite-file-empty",
                path=",".join(paths),
                what=f"groups of CF-World{f' ({found})' if found else ''}",
                wanted="CF-World's folder, or JSON lines",
            )
        )
    if groups and len(groups) != N_GROUPS:
        contents.findings.append(gap("count-differs", f"{len(groups)} groups; paper: {N_GROUPS}"))
    return CfWorldFiles(entries, tuple(contents.findings))


def _files(paths: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Every file, with where it lies in the folder that was given; empty for a file that was given itself."""
    for text in paths:
        path = Path(text).expanduser()
        if not path.exists():
            raise UsageError(message("file-missing", path=text))
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in (".json", ".jsonl") and p.is_file())
            yield from ((file, file.relative_to(path).as_posix()) for file in inside)
        else:
            yield path, ""


def _sort_in(contents: _Contents, path: Path, place: str) -> None:
    """Put a file where it belongs, by what is in it; one of a folder that cannot be read is named and left."""
    if path.suffix.lower() == ".jsonl":
        # Cut at newlines alone: a sentence may hold other characters that count as ends of lines.
        contents.entries += read_entries(file_text(path).split("\n"), str(path))
        return
    try:
        content = read_json(path)
    except UsageError as error:
        if not place:
            raise
        contents.findings.append(gap("unknown-file", str(error), path.name))
        return
    listed = content if isinstance(content, list) else []
    rows = [row for row in listed if isinstance(row, dict)]
    if len(rows) < len(listed) or not rows:
        what = f"{len(listed) - len(rows)} entries that are no objects" if rows else "no list of objects"
        contents.findings.append(gap("unknown-file", f"{path.name}: {what}", path.name))
    keys = {key for row in rows for key in row}
    if "question" in keys and keys & {"source_id", "prompt_level"}:
        contents.questions.setdefault(path.stem, []).extend(rows)
    elif _NORM.search(place or path.name) and keys & {*_DENORM_KEYS}:
        contents.denorm.setdefault(path.stem, []).extend(rows)
    elif any(_PROMPT.fullmatch(key) for key in keys):
        contents.prompts.setdefault(path.stem, []).extend(rows)
    elif "rule_id" in keys:
        contents.rules += rows
    elif {"A", "B"} <= keys:
        contents.pairs += rows
    elif rows:
        contents.findings.append(gap("unknown-file", f"{path.name} with {', '.join(sorted(keys)[:6])}", path.name))


def _groups(contents: _Contents) -> list[LevelGroup]:
    asked, denorms = _questions(contents), _denorms(contents)
    groups: dict[tuple[str, str], LevelGroup] = {}
    for discipline, rows in contents.prompts.items():
        for number, row in enumerate(rows, 1):
            key = discipline, id_of(row.get("id"))
            if not key[1]:
                contents.findings.append(gap("no-id", f"{discipline}, entry {number}", discipline))
            elif key in groups:
                contents.findings.append(gap("repeated-id", " ".join(key), key[1]))
            else:
                groups[key] = replace(_group(*key, row, asked), denorm=denorms.get(key, ""))
    for (discipline, name, level), (questions, odd) in sorted(asked.items(), key=lambda one: one[0]):
        if (discipline, name) not in groups or level not in LEVELS:
            weights = ", ".join(f"{question.kind} weighs {question.weight:g}" for question in questions)
            detail = f"{discipline} {name} {level}: {weights or 'no text'}"
            contents.findings += [gap("orphan-questions", detail, name), *odd]
    for discipline, name in sorted(denorms.keys() - groups.keys()):
        contents.findings.append(gap("orphan-denorm", f"{discipline} {name} l2", name))
    return list(groups.values())


_Asked = dict[tuple[str, str, str], tuple[list[Question], list[Finding]]]


def _questions(contents: _Contents) -> _Asked:
    """By discipline, group and level."""
    asked: _Asked = {}
    for name, rows in contents.questions.items():
        discipline = _discipline(name, contents.prompts)
        for row in rows:
            level = read_level(row.get("prompt_level"))
            questions, findings = asked.setdefault((discipline, id_of(row.get("source_id")), level), ([], []))
            where = f"{discipline} {id_of(row.get('source_id'))} {level}"
            question, odd = read_question(row, where)
            if level != str(row.get("prompt_level")).strip().lower():
                findings.append(gap("misspelt-key", f"{where}: {row.get('prompt_level')!r}", level))
            findings += odd
            if question is not None and any(question.text == one.text for one in questions):
                findings.append(gap("repeated-question", f"{where}: {question.text[:60]!r}"))
            elif question is not None:
                questions.append(question)
    return asked


def _denorms(contents: _Contents) -> dict[tuple[str, str], str]:
    """By discipline and group."""
    texts: dict[tuple[str, str], str] = {}
    for name, rows in contents.denorm.items():
        for row in rows:
            key = _discipline(name, contents.prompts), id_of(row.get("id"))
            text, where = _first_text(row, _DENORM_KEYS), f"{name} {key[1]}, de-nominalised"
            if not text or key in texts:
                contents.findings.append(gap("repeated-id" if text else "no-prompt", where, key[1]))
            else:
                texts[key] = text
    return texts


def _discipline(name: str, disciplines: Iterable[str]) -> str:
    """What a file is about: the discipline it is called like, with something after it or not; else its own name."""
    plain = _plain(name)
    called = [d for d in disciplines if f"{plain}_".startswith(f"{_plain(d)}_")]
    return max(called, key=len, default=name)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.lower())


def _group(discipline: str, group_id: str, row: Row, asked: _Asked) -> LevelGroup:
    where = f"{discipline} {group_id}"
    findings: list[Finding] = []
    points = {level: _spelt(row, "ap", level, where, findings) for level in LEVELS}
    levels: dict[str, LevelPrompt] = {}
    for level in LEVELS:
        prompt = _spelt(row, "prompt", level, where, findings)
        point = points[level]
        other = _OTHER.get(level, "")
        if not point and other and points[other]:
            point = points[other]
            findings.append(gap("point-of-another-level", f"{where}: {level} takes that of {other}", level))
        elif not point:
            findings.append(gap("no-point", f"{where} {level}", level))
        questions, odd = asked.get((discipline, group_id, level), ([], []))
        findings += odd
        levels[level] = LevelPrompt(prompt=prompt, point=point, questions=tuple(questions))
    return LevelGroup(
        discipline=discipline,
        group_id=group_id,
        category=_first_text(row, ("category",)),
        l1=levels["l1"],
        l2=levels["l2"],
        l3=levels["l3"],
        findings=tuple(findings),
    )


def _spelt(row: Row, name: str, level: str, where: str, findings: list[Finding]) -> str:
    """The text under ap_l3 or prompt_l3, or under a key that must mean it."""
    right = f"{name}_{level}"
    like = re.compile(rf"{name}[\W_]*l?[\W_]*{level[1]}", re.IGNORECASE)
    for key in (right, *(key for key in row if key != right and like.fullmatch(key))):
        if text := _first_text(row, (key,)):
            if key != right:
                findings.append(gap("misspelt-key", f"{where}: {key}", key))
            return text
    return ""


def _first_text(row: Row, keys: Sequence[str]) -> str:
    texts = (row.get(key) for key in keys)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")


def _with_gaps(entry: Entry) -> Entry:
    """A group or probe, told of what its levels lack."""
    wanted: Sequence[str] = ()
    if isinstance(entry, Probe):
        name = f"{entry.part} {entry.probe_id}"
        levels = {f"prompt {n}": level for n, level in enumerate((*entry.factual, *entry.counterfactual), 1)}
    else:
        name, wanted = f"{entry.discipline} {entry.group_id}", KINDS
        levels = {level: entry.level(level) for level in LEVELS}
    found: list[Finding] = []
    for role, level in levels.items():
        where = f"{name} {role}"
        kinds = {question.kind for question in level.questions}
        found += [] if level.prompt else [gap("no-prompt", where, role)]
        found += [] if kinds else [gap("no-questions", where, role)]
        found += [gap("unread-formula", f"{where}: {level.unread}", role)] if level.unread else []
        if kinds and (lacks := [kind for kind in wanted if kind not in kinds]):
            found.append(gap("lacks-kind", f"{where}: {', '.join(lacks)}", role))
    return replace(entry, findings=(*entry.findings, *found))
