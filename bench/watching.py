"""What every thread of a process does, looked at from a thread of its own; imports nothing that takes time."""

from __future__ import annotations

import sys
import threading
import time
import traceback


def watch(file: str, every_s: float = 0.5) -> None:
    """Write every other thread's stack to a file again and again, for as long as the process lives."""

    def write() -> None:
        began, own = time.perf_counter(), threading.get_ident()
        with open(file, "w", encoding="utf-8") as told:
            while True:
                time.sleep(every_s)
                told.write(f"== {time.perf_counter() - began:.1f} s\n")
                for ident, frame in sys._current_frames().items():
                    if ident != own:
                        told.write(f"thread {ident}\n")
                        told.writelines(
                            f"  {part.filename}:{part.lineno} {part.name}\n"
                            for part in reversed(
                                traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
                            )
                        )
                told.flush()

    threading.Thread(target=write, name="watching", daemon=True).start()
