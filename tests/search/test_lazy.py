"""Values that are computed lazy."""

from __future__ import annotations

from threading import Event, Thread

from directory_server.search.text.tables import Lazy


def test_several_threads_compute_the_value_once() -> None:
    computed, is_computing, may_end = list[object](), Event(), Event()

    def compute() -> object:
        is_computing.set()
        assert may_end.wait(60)
        computed.append(object())
        return computed[-1]

    lazy, found = Lazy(compute), list[object]()
    threads = [Thread(target=lambda: found.append(lazy())) for _ in range(4)]
    for each in threads:
        each.start()
    assert is_computing.wait(60)
    assert not lazy.is_computed
    may_end.set()
    for each in threads:
        each.join(60)
    assert lazy.is_computed
    assert len(computed) == 1
    assert found == computed * 4
