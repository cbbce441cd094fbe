"""A whole run with fakes on Ray as a process of its own: ray_run.py DIR N OPTIONS-AS-JSON EXECUTOR-OPTIONS-AS-JSON.

Says what it has done as it goes, so that it can be killed or interrupted in its midst.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.runs.pipeline import execute
from salva.runs.workplaces import bind_executor
from salva.testing.specs import fake_spec


class Telling(SilentProgress):
    """Says what was done."""

    def advance(self, stage: str, n: int = 1) -> None:
        print(stage, flush=True)


def main() -> None:
    directory, n, options, settings = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
    spec = fake_spec(n, options, repeats=2, control=True)
    try:
        summary = execute(spec, directory, Telling(), executor=bind_executor("ray", json.loads(settings)))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as `salva` does: one more would change the exit code
        print("interrupted", flush=True)
        sys.exit(130)
    except SalvaError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(2)
    print(json.dumps(dict(summary.outcomes)), flush=True)


if __name__ == "__main__":
    main()
