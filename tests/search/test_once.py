"""Values that are made once."""

from __future__ import annotations

from threading import Event, Thread

from directory_server.search.text.once import Once


def test_several_threads_make_the_value_once() -> None:
    made, is_making, may_end = list[object](), Event(), Event()

    def make() -> object:
        is_making.set()
        assert may_end.wait(60)
        made.append(object())
        return made[-1]

    once, found = Once(make), list[object]()
    threads = [Thread(target=lambda: found.append(once())) for _ in range(4)]
    for each in threads:
        each.start()
    assert is_making.wait(60)
    assert not once.is_made
    may_end.set()
    for each in threads:
        each.join(60)
    assert once.is_made
    assert len(made) == 1
    assert found == made * 4
