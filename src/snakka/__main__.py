"""`python -m snakka`, and the `snakka` command."""

from snakka.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
