"""The command that paints one case of a run again: what was asked goes in, a line to paste into a shell comes out."""

from __future__ import annotations

import shlex

from salva.core.asked import CANARY, OFF, Asked
from salva.core.case import Case
from salva.core.handed import FUNCTION, PIPELINE
from salva.core.options import as_typed


def command_for(case: Case, model: str, chosen: Asked) -> str:
    """`salva run` narrowed to one case and model, quoted for a shell; nothing for pictures that no shell can paint.

    chosen: what was asked, of all of the suite and less what stands at its default.
    """
    if chosen.imported or not chosen.size:
        return ""
    painter = next((component for component in chosen.models if component.name == model), None)
    if painter is not None and painter.typed.partition("/")[0] in (FUNCTION, PIPELINE):
        return ""
    words = ["salva", "run", case.suite, "--model", painter.spelled if painter else model]
    for observer in chosen.observers:
        words += [f"--{observer.role}", observer.spelled]
    # A role nobody played must be said too: the command line has observers of its own by default.
    for role in ("detector", "reader"):
        if f"--{role}" not in words and not (role == "reader" and chosen.injection_reader):
            words += [f"--{role}", "none"]
    words += ["--size", chosen.size]
    words += ["--repeats", str(chosen.repeats), "--seed", str(chosen.seed)]
    if chosen.control:
        words.append("--control")
    for name, value in case.labels.items():
        words += ["--only", f"{name}={value}"]
    settings = [
        f"{component.prefix}.{option}={as_typed(value)}"
        for component in chosen.components()
        if component.role != "model" or component.name == model
        for option, value in component.options.items()
    ]
    if not chosen.preflight:
        settings.append(f"{CANARY}={OFF}")
    for setting in dict.fromkeys(settings):
        words += ["--set", setting]
    return shlex.join(words)
