"""``python -m scorer`` is the command ``score``."""

from scorer.cli.main import main

if __name__ == "__main__":
    main()
