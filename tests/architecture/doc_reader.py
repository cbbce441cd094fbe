"""A reader who follows a page in an empty folder: saves its files, runs its Python, obeys its commands in order.

A run that needs a network, weights or a GPU is planned instead (`--dry-run`), and a run here has few cases.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import in_process
from architecture.doc_pages import DOCS, ROOT, Block, blocks, commands, salva_words, values
from backends.judge_servers import Say, Turn

HERE = {"painter", "pocket", "scene", "rapidocr", "none", "local", "my-model", "my-detector"}
"""Components that run in a test; all others are planned."""
MOST_CASES = {"metalogic": 3, "semvar": 2, "geneval": 6, "faithfulness": 2, "actesting": 2}
ROLES = ("--model", "--detector", "--reader", "--embedder", "--judge", "--executor")

_CFWORLD_ROW = {"id": "0", "category": "Light"} | {
    f"{key}_l{level}": f"Draw a mirror, {level}." for level in (1, 2, 3) for key in ("prompt", "ap")
}
_CFWORLD_QUESTIONS = [
    {
        "source_id": "0",
        "prompt_level": f"l{level}",
        "question_type": "Assessment Point",
        "question": f"A mirror, {level}?",
        "evaluation_criteria": "1.0 - yes. 0.5 - partly. 0.0 - no.",
        "weight": 15,
    }
    for level in (1, 2, 3)
]
_TRIPLE = ("1", "a cat chases a dog", "a dog chases a cat", "a dog is chased by a cat")
_GENEVAL = {"tag": "single_object", "include": [{"class": "bench", "count": 1}], "prompt": "a photo of a bench"}
FILES = {
    "prompts.txt": "a cat and a dog\na fluffy cat that sleeps\n",
    "prompts.csv": "prompt\na cat and a dog\na dog\n",
    "captions.csv": "image_id,caption\n1,a cat on a chair that is next to a dog\n2,a dog on a table\n",
    "principles.txt": "optics: Mirrors reflect light.\n",
    "questions.csv": "item_id,text,proposition_id,dependency,question_natural_language\n"
    "1,a fluffy cat that sleeps,1,0,Is there a cat?\n",
    "triples.jsonl": json.dumps(dict(zip(("id", "T_a", "T_pv", "T_pi"), _TRIPLE, strict=True))),
    "SemVarBench/test.txt": "\t".join(_TRIPLE) + "\n",
    "evaluation_metadata.jsonl": json.dumps(_GENEVAL),
    "outputs/00000/metadata.jsonl": json.dumps(_GENEVAL),
    "cf-world/prompt/physics/Optics.json": json.dumps([_CFWORLD_ROW]),
    "cf-world/eval_questions/Optics_gemini.json": json.dumps(_CFWORLD_QUESTIONS),
    "workflow.json": "{}",
    "generate.py": "",
    "ratings.csv": "id,prompt,model,human_1,human_2,clip,tifa\n"
    + "".join(f"{n},p{n // 2},{'xy'[n % 2]},{1 + n % 5},{1 + n % 4},0.{n % 9},0.{n % 7}\n" for n in range(24)),
    "my-images/manifest.csv": "prompt,path\na cat,cat.png\n",
    "release-check.toml": (DOCS / "how-to" / "release-check.toml")
    .read_text(encoding="utf-8")
    .replace("size = 200", "size = 4")
    .replace("size = 40", "size = 2"),
}
"""What a reader has before opening a page."""


def text_model(body: dict[str, Any]) -> Turn:
    """The reply of a text model that follows its instructions."""
    asked = json.dumps(body["messages"])
    if "propositions" in asked:
        whole = {"id": 1, "category": "entity", "detail": "whole", "tuple": ["cat"], "question": "Is there a cat?"}
        return Say(text=json.dumps({"propositions": [{**whole, "depends_on": []}]}))
    if "paraphrase" in asked:
        return Say(text='{"paraphrase": "a dog and a cat"}')
    if "formula" in asked:
        return Say(text='{"formula": "cat"}')
    about = {"element": "cat", "element_type": "object", "choices": ["yes", "no"]}
    questions = [("Is there a cat?", "yes"), ("Is there a whale?", "no")]
    return Say(text=json.dumps({"questions": [{**about, "question": q, "answer": a} for q, a in questions]}))


class Reader:
    """Someone who follows a page, in a folder."""

    def __init__(self, folder: Path, endpoint: str = "http://127.0.0.1:9/v1") -> None:
        self.folder = folder
        self.python: dict[str, Any] = {}
        """The names that the Python of the page left."""
        self._variables = {
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": endpoint,
            "GEMINI_API_KEY": "key",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        for name, text in FILES.items():
            self.save(name, text)

    def save(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def follow(self, page: Path, instead: dict[str, str] | None = None) -> None:
        """Do all that a page says. instead: Python that needs a download or much time, and what stands in for it."""
        for block in blocks(page):
            text = block.text
            for printed, ours in (instead or {}).items():
                text = text.replace(printed, ours)
            if block.file:
                self.save(block.file, text)
            elif block.language == "python":
                exec(compile(text, page.name, "exec"), self.python)
            elif block.language == "sh":
                for command in commands(block):
                    self.obey(command)
            elif block.language == "bash":
                self.plan(block)

    def obey(self, command: str) -> None:
        """Execute one command."""
        words = shlex.split(command, comments=True)
        if salva_words(command):
            self.salva(salva_words(command))
        elif words[0] == "export":
            name, _, value = words[1].partition("=")
            self._variables[name] = value
        elif words == ["pip", "install", "."]:
            offline = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--target", "site"]
            install = [sys.executable, "-m", "pip", "install", *offline, "."]
            subprocess.run(install, cwd=self.folder, check=True, capture_output=True)
        elif words[0].rpartition("/")[2] == "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            named = re.findall(r"\[(.*)\]", command)
            assert {extra for names in named for extra in names.split(",")} <= set(extras), command
        elif words[0] == "make":
            subprocess.run([*words, "--dry-run"], cwd=ROOT, check=True, capture_output=True)
        else:
            self.bash(command)

    def bash(self, command: str) -> str:
        """Execute a command that is not salva's."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        around = {**os.environ, **self._variables, "PATH": path}
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=around, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def salva(self, words: list[str]) -> None:
        """Execute a salva command; exit code 2 would mean that the page is wrong."""
        file = ""
        if ">" in words:
            words, file = words[: words.index(">")], words[-1]
        done = in_process.salva(*words, *self._more(words), cwd=self.folder, **self._variables)
        assert done.returncode in (0, 1, 3), f"salva {shlex.join(words)}\n{done.stderr}"
        if file:
            self.save(file, done.stdout)
        for sheet in values(words, "--sheet"):
            self._review(sheet)
        for form in {"ratings", "review"} & {*values(words, "--as")} if words[0] == "export" else ():
            self._rate(f"{values(words, '-o')[0]}/{form}.csv")
        planned = "--dry-run" in self._more(words)
        if planned and values(words, "--out"):
            self.salva(["run", words[1], "--model", "painter", "--out", values(words, "--out")[0]])

    def _more(self, words: list[str]) -> list[str]:
        """What is added to a command so that a test can execute it."""
        if words[0] == "selftest":
            return ["--pairs", "10"]
        if words[0] != "run":
            return []
        size, most = (values(words, "--size") or ["quick"])[-1], MOST_CASES.get(words[1], 0)
        few = ["--size", str(most)] if most and not (size.isdigit() and int(size) <= most) else []
        # A plan of a suite from a file may have fewer; only metalogic has thousands.
        planned = few if words[1] == "metalogic" else []
        if "--dry-run" in words:
            return planned
        named = {value.rpartition("=")[2].partition("/")[0] for flag in ROLES for value in values(words, flag)}
        if named - HERE:
            return ["--dry-run", *planned]
        return ["--only", "law=number"] if words[1] == "cfworld" else few

    def _review(self, sheet: str) -> None:
        """Three people fill in a sheet; one of them calls the first row invalid."""
        if not (self.folder / sheet).exists():
            return
        with (self.folder / sheet).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for name in ("ann", "bob", "carol"):
            with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]) if rows else ["reviewer", "valid"])
                writer.writeheader()
                valid = ["no" if name == "bob" and not n else "yes" for n in range(len(rows))]
                writer.writerows({**row, "reviewer": name, "valid": v} for row, v in zip(rows, valid, strict=True))

    def _rate(self, path: str) -> None:
        """A person rates everything on a sheet with the most points, and finds that nothing failed."""
        sheet = self.folder / path
        with sheet.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            most = {"rater": "ann", "objects": "50", "relations": "50", "failed": "no"}
            writer.writerows({column: cell or most.get(column, "") for column, cell in row.items()} for row in rows)

    def plan(self, block: Block) -> None:
        """A script that cannot run here: its syntax, and the runs in it."""
        subprocess.run(["bash", "-n", "-c", block.text], check=True)
        for command in commands(block):
            asked = salva_words(command)
            path = next((value.partition("=")[2] for value in values(asked, "--set") if "suite.path" in value), ".")
            if asked[:1] == ["run"] and (self.folder / path).exists() and "$" not in "".join(values(asked, "--shard")):
                self.salva([*asked, "--dry-run"])
