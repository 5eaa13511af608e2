from snakka.quotas.token_bucket import TokenBucket


def test_it_holds_what_comes_in_during_a_burst_and_no_more() -> None:
    bucket = TokenBucket(rate=2.0, burst_s=5.0, now_ms=0)
    bucket.take(10, 0)
    assert (bucket.wait_ms(0), bucket.is_full(0)) == (0, False)
    assert bucket.is_full(1_000_000)
    bucket.take(10, 1_000_000)
    assert bucket.wait_ms(1_000_000) == 0
    bucket.take(1, 1_000_000)
    assert bucket.wait_ms(1_000_000) == 500


def test_a_debt_is_paid_off_at_the_rate() -> None:
    bucket = TokenBucket(rate=2.0, burst_s=1.0, now_ms=0)
    bucket.take(5, 0)
    assert bucket.wait_ms(0) == 1_500
    assert bucket.wait_ms(500) == 1_000
    assert bucket.wait_ms(1_499) == 1
    assert bucket.wait_ms(1_500) == 0


def test_a_debt_stays_when_the_rate_changes() -> None:
    bucket = TokenBucket(rate=1.0, burst_s=1.0, now_ms=0)
    bucket.take(5, 0)
    bucket.rate = 8.0
    assert bucket.wait_ms(0) == 500


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = TokenBucket(rate=1.0, burst_s=1.0, now_ms=10_000)
    bucket.take(2, 10_000)
    assert bucket.wait_ms(5_000) == 1_000
    assert bucket.wait_ms(10_500) == 500
