"""All that run.json says: what was asked, which components answered, where, and what the run was made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from salva.core.run_spec import RunSpec

FORMAT = 15
"""The format of run.json and salva.db; a run of another one is refused."""


class ResolvedComponent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A component with everything that can change an outcome."""

    role: str
    identity: Mapping[str, Any]
    component_id: str = ""
    """For a model: the key its images are stored under."""
    label: str = ""
    """What an observer is called, where that is not its name as typed."""


class Judging(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How `salva rejudge` last judged the run, or which observers lead an import."""

    spec: RunSpec
    """What the run would be asked, to be judged so."""
    deciding: tuple[str, ...] = ()
    """Labels of the observers whose verdicts make the results; the first judge before the others."""


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file that a run was made from."""

    name: str
    sha256: str
    kept: str = ""
    """Its name inside the run, where it is kept."""


class Imported(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The files that a run was made from."""

    form: str
    files: tuple[ImportedFile, ...]
    n_problems: int = 0
    about: Mapping[str, Any] = {}
    """What the format itself needs again."""


class RunFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of run.json; a key that is missing has its default, but for the format and the suite."""

    spec: RunSpec
    choice: Mapping[str, Any] = {}
    """What the user chose; empty for an import."""
    components: tuple[ResolvedComponent, ...] = ()
    environment: Mapping[str, Any] = {}
    resumed_in: tuple[Mapping[str, Any], ...] = ()
    """Other environments in which the run went on."""
    judging: Judging | None = None
    """None when the run is judged as it was asked."""
    imported: Imported | None = None
    images: str = ""
    """Where the image files are, if not in the run's directory."""
    format: int

    def current_judging(self) -> Judging:
        """How the run is judged now."""
        return self.judging or Judging(spec=self.spec, deciding=tuple(part.name for part in self.spec.observers))


def new_run_file(spec: RunSpec, **fields: Any) -> RunFile:
    """A run.json of this format."""
    return RunFile(spec=spec, format=FORMAT, **fields)
