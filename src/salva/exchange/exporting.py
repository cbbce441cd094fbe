"""Exports by the registry's formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from salva import registry
from salva.core.exchange import ExportCount
from salva.core.protocols import Exporter, RunExporter
from salva.core.run_spec import ComponentSpec
from salva.store.queries import open_source


def export_run(directory: Path, form: str, out: Path, options: Mapping[str, str] | None = None) -> ExportCount:
    """Write the run in a directory as files of a format; returns how many of what."""
    exporter: Exporter | RunExporter = registry.bind(
        ComponentSpec(role="exporter", name=form, options=options or {})
    ).build()
    if isinstance(exporter, RunExporter):
        return exporter.write_run(directory, out)
    with open_source(directory) as source:
        return exporter.write(source, out)
