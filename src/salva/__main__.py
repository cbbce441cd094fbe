"""`python -m salva`: the command line, where the command itself is not on the path."""

from salva.entry import main

if __name__ == "__main__":
    main()
