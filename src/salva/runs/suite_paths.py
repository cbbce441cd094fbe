"""PATH of the command line and `path=` of Python: the suite's file or folder, or the sentence of `scene`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from salva.core.about import options_of
from salva.core.options import fields_of
from salva.errors import UsageError
from salva.messages import message
from salva.registry import entries, load

_OPTIONS = ("path", "scene")
"""What a suite calls it; the first that it has."""


def with_paths(suite: str, paths: Sequence[str], settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with the paths given to a suite; UsageError for a suite without files."""
    _refuse_path(suite)
    if not paths:
        return dict(settings)
    known = fields_of(options_of(load("suite", suite.partition("/")[0])))
    option = next((name for name in _OPTIONS if name in known), None)
    if option is None:
        raise UsageError(message("path-unused", suite=suite, path=paths[0]))
    key = f"suite.{option}"
    if key in settings:
        raise UsageError(message("options-conflict", first=repr(paths[0]), second=f"--set {key}", why="both name it"))
    return {**settings, key: ",".join(paths)}


def _refuse_path(suite: str) -> None:
    """Say which command tests a file or folder that was typed in the place of the suite."""
    place = Path(suite)
    if suite in {entry.name for entry in entries("suite")} or not place.exists():
        return
    shown = shlex.quote(str(place))
    is_folder = place.is_dir()
    command = f"salva run prompts PROMPTS --model folder/{shown}" if is_folder else f"salva run prompts {shown}"
    kind = "folder" if is_folder else "file"
    raise UsageError(message("suite-is-path", path=suite, kind=kind, command=command))
