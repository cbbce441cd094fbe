"""A run whose painter is an endpoint, as a process of its own, to be interrupted: endpoint_run.py DIR URL N."""

from __future__ import annotations

import sys
from pathlib import Path

from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.generators.openai_images import OpenAiImages
from salva.runs.pipeline import execute
from salva.testing.specs import bound, fake_spec


def main() -> None:
    directory, url, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    model = bound("model", OpenAiImages, "openai/m", model="m", base_url=f"{url}/v1", send_seed=True)
    try:
        execute(fake_spec(n, models=(model,)), directory, SilentProgress())
    except KeyboardInterrupt:
        sys.exit(130)
    except SalvaError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
