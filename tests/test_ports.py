"""Ports for programs that cannot choose one themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import ports

FIXED = Path("/proc/sys/net/ipv4/ip_local_port_range")


@pytest.mark.skipif(not FIXED.exists(), reason="the kernel does not tell its ephemeral ports")
def test_no_port_is_one_that_the_kernel_gives_to_clients() -> None:
    first, last = map(int, FIXED.read_text().split())
    found = [ports.free_port() for _ in range(100)]
    assert len(set(found)) == len(found)
    assert first <= ports._LOWEST or not any(first <= port <= last for port in found)
