from snakka.storage.compaction.throttle import Throttle


def test_throttle() -> None:
    now_s, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    throttle = Throttle(1000, lambda: now_s[0], sleep)
    for _ in range(10):
        throttle.after(500)
    assert 4.9 < now_s[0] < 5.1
    yielding = Throttle(float("inf"), lambda: now_s[0], sleep)
    slept.clear()
    for _ in range(100):
        now_s[0] += 0.0005
        yielding.after(1 << 20)
    assert 20 < len(slept) < 50
    assert max(slept) < 0.001
