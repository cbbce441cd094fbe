"""What `salva run` and `salva rejudge` say, and exit with, where a rate rests on too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from salva.report.summary import Summary


def tell_too_little(figures: Summary) -> bool:
    """Name every model of which too little is decided, or whose oracle is blind; whether there is one."""
    too_little = [model for model in figures.by_model if model.leading.decides_too_little or model.leading.reason]
    for model in too_little:
        click.echo(f"salva: {model.model}: {model.leading.reason or 'too little is decided'}", err=True)
    return bool(too_little)
