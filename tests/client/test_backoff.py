"""How long to wait before trying again."""

from random import Random

from snakka.client.backoff import Backoff


def test_waits_double_up_to_a_limit_give_or_take_a_fifth() -> None:
    backoff = Backoff(100, 1_000)
    rng = Random(7)
    expected = {0: 0, 1: 100, 2: 200, 3: 400, 4: 800, 5: 1_000, 6: 1_000, 10_000: 1_000}
    for failures, middle_ms in expected.items():
        delays = [backoff.delay_ms(failures, rng) for _ in range(200)]
        assert all(0.8 * middle_ms <= each <= 1.2 * middle_ms for each in delays)
        assert failures == 0 or max(delays) - min(delays) > 0.3 * middle_ms
