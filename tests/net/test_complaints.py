from snakka.net.complaints import LINES_MAX, PERIOD_S, Complaints


def test_some_lines_a_period_and_how_many_more_there_were() -> None:
    complaints = Complaints()
    admitted = [complaints.admit(index / 10) for index in range(LINES_MAX + 7)]
    assert admitted == [True] * LINES_MAX + [False] * 7
    assert complaints.admit(PERIOD_S)
    assert complaints.take_unsaid() == 7
    assert complaints.take_unsaid() == 0
