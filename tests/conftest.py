"""For all tests: Ctrl-C is heard, and what was compared with whom is told at the end."""

import signal
from collections import Counter

import pytest

# Ignored in whatever a shell runs in the background, and so in all that the tests start from there.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    compared: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "compared":
                peer, message, _ = value.split()
                compared[peer, message] += 1
    for peer in sorted({peer for peer, _ in compared}):
        counts = {message: n for (p, message), n in compared.items() if p == peer}
        terminalreporter.write_line(
            f"compared with {peer}: {len(counts)} messages, {sum(counts.values())} versions"
        )
        if terminalreporter.config.option.verbose > 0:
            for message, count in sorted(counts.items()):
                terminalreporter.write_line(f"    {message}: {count} versions")
