"""Observers that are never used: everybody in a dry run, and a suite that is told that nothing can be painted."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from salva.core.options import fields_of
from salva.core.spec import Binding
from salva.registry import rebind


class Untouched(Container[tuple[str, str]]):
    """Everybody but the suite, for who is bound only to be planned with: nobody is opened, contacted or loaded."""

    def __contains__(self, part: object) -> bool:
        return isinstance(part, tuple) and part[0] != "suite"


def for_given(suite: Binding, models: Sequence[Binding], told: Mapping[str, str]) -> tuple[Binding, list[str]]:
    """The suite with the options it has where no model paints, for pictures that are there, and a note on each."""
    changes = {
        name: str(field.metadata["given"])
        for name, field in fields_of(type(suite.options)).items()
        if field.metadata.get("given") is not None and name not in told
    }
    if not changes or not models or not all(model.about.is_given for model in models):
        return suite, []
    names = ", ".join(model.label for model in models)
    return rebind(suite, changes), [f"suite.{k} is {v}: {names} can paint no new prompt" for k, v in changes.items()]
