"""The warning of `salva run` and `salva rejudge` about a rate that rests on too few decided cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from salva.messages import message

if TYPE_CHECKING:
    from salva.report.summary import Summary


def warn_too_few_decided(figures: Summary) -> bool:
    """Name every model of which too little is decided, or whose detector is blind; whether there is one."""
    found = [model for model in figures.by_model if model.leading.decides_too_little or model.leading.reason]
    for model in found:
        why = model.leading.reason or "too few cases are decided"
        click.echo(f"salva: {message('too-few-decided', model=model.model, why=why)}", err=True)
    return bool(found)
