"""The command line: `snakka`."""
