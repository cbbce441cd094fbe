"""A whole run with fakes as a process of its own, to be killed or interrupted: fake_run.py DIR N OPTIONS-AS-JSON.

Prints "ready" when painting begins and the summary's outcomes when it ends.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.runs.pipeline import execute
from salva.testing.fakes import FakeReader
from salva.testing.specs import bound, fake_spec


class Telling(SilentProgress):
    """Says when work begins, so that a test can kill in its midst."""

    def advance(self, stage: str, n: int = 1) -> None:
        print(stage, flush=True)


def main() -> None:
    directory, n, options = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    spec = fake_spec(n, options, repeats=2, control=True, reader=bound("reader", FakeReader, "fake-reader"))
    try:
        summary = execute(spec, directory, Telling())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
    except SalvaError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(2)
    print(json.dumps(dict(summary.outcomes)), flush=True)


if __name__ == "__main__":
    main()
