"""Where components run: an executor by its name and settings, then ready.

No part of a specification: it changes no outcome and no key, and a run can go on elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from salva.core.plan import Binding
from salva.core.protocols import Executor
from salva.core.run_spec import ComponentSpec
from salva.engine.guard import build
from salva.engine.progress import note_if_slow
from salva.registry import bind

_ROLE = "executor"


def bind_executor(name: str, settings: Mapping[str, str]) -> Binding:
    """An executor with what is set for it; settings: ROLE.OPTION to value, of any role."""
    parts = [(key.partition("."), value) for key, value in settings.items()]
    own = {option: value for (role, _, option), value in parts if role == _ROLE}
    return bind(ComponentSpec(role=_ROLE, name=name, options=own))


def open_executor(executor: Binding | Executor | None, note: Callable[[str], None]) -> Executor:
    """An executor ready to work; None for the threads of this process. note: told what takes a while."""
    binding = executor or bind_executor("local", {})
    if not isinstance(binding, Binding):
        return binding
    with note_if_slow(note, "starting", f"the executor {binding.label!r}"):
        return cast(Executor, build(binding))
