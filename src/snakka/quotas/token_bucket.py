"""A bucket that fills at a steady rate, and holds what comes in during a burst (KIP-599). Pure.

Whoever finds no debt in it may take as much as there is to take, and leaves a debt: one large
request is let through rather than never, and those after it wait.
"""


class TokenBucket:
    """`rate`, in tokens a second, may change: a debt stays, and is paid off at the new one."""

    def __init__(self, rate: float, burst_s: float, now_ms: int) -> None:
        self.rate = rate
        self._burst_s = burst_s
        self._tokens = rate * burst_s
        self._filled_at_ms = now_ms

    def take(self, count: float, now_ms: int) -> None:
        self._fill(now_ms)
        self._tokens -= count

    def wait_ms(self, now_ms: int) -> int:
        """How long until the debt is paid off; 0 where there is none."""
        self._fill(now_ms)
        return round(max(0.0, -self._tokens) / self.rate * 1000)

    def is_full(self, now_ms: int) -> bool:
        """Whether forgetting it would change nothing."""
        self._fill(now_ms)
        return self._tokens >= self.rate * self._burst_s

    def _fill(self, now_ms: int) -> None:
        elapsed_ms = max(0, now_ms - self._filled_at_ms)
        tokens = self._tokens + self.rate * elapsed_ms / 1000
        self._tokens = min(tokens, self.rate * self._burst_s)
        self._filled_at_ms = max(now_ms, self._filled_at_ms)
