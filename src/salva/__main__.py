"""`python -m salva`: the command line, where the command itself is not on the path."""

from __future__ import annotations

from salva.cli.main import main

if __name__ == "__main__":
    main()
