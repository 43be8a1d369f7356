"""Shares of accepted inputs."""

from __future__ import annotations

from .shares import DAMAGED, Shares


def test_names_with_few_accepted_inputs() -> None:
    shares = Shares()
    for number in range(6):
        shares.add("few", accepted=number < 1)
        shares.add("a third", accepted=number < 2)
        shares.add(DAMAGED + "files", accepted=False)
    assert shares.too_low() == ["few"]
    assert shares.lines() == [
        "few: 1 of 6 accepted",
        "a third: 2 of 6 accepted",
        "damaged files: 0 of 6 accepted",
    ]
