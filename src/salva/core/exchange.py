"""Records of import and export: what was read, what was written, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.run_spec import ComponentSpec
from salva.core.table import Table
from salva.core.verdict import Verdict

COPIES_FOLDER = "imported"
"""Where a run keeps the files it was made of, if it is asked about them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Something in a file that cannot be used, or only so, and what was done about it."""

    file: str
    where: str = ""
    """line 3, or entry 3 of a JSON list; empty when no single one is to blame."""
    what: str

    def __str__(self) -> str:
        return f"{self.file} {self.where}: {self.what}" if self.where else f"{self.file}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """What files cannot say about themselves, whatever their format."""

    model: str = ""
    """The name of the model that generated; empty takes it from the files."""
    names: tuple[str, ...] = ()
    """What to call the files in messages; empty for their own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadIn:
    """What an importer made of its files."""

    suite: str
    models: tuple[str, ...]
    cases: tuple[Case, ...]
    verdicts: tuple[Verdict, ...]
    problems: tuple[Flaw, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was read, in words and numbers: {"answers": 1000}."""
    rules: tuple[ComponentSpec, ...] = ()
    """The checks the scores follow."""
    repeats: int = 1
    observers: Mapping[str, str] = field(default_factory=dict)
    """Who observed, as verdicts name them, and what they are: person, detector or judge."""
    check: str = ""
    """The check that makes every result; empty for the best one of each case that has a verdict."""
    deciding: tuple[str, ...] = ()
    """The observers whose verdicts make the results, where there are several."""
    about: Mapping[str, Json] = field(default_factory=dict)
    """What else run.json should say about the files."""
    needs_files: bool = False
    """Whether the run needs the files themselves later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportCount:
    """How many of what an exporter wrote: 20 pairs."""

    n: int
    what: str
    tables: tuple[Table, ...] = ()
    """What the user should see of how they were chosen."""
    warning: str = ""
    """What whoever uses them must mind."""
