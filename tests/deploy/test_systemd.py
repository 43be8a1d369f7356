"""The systemd units and configurations for two machines."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from directory_server import config
from directory_server.config import Config

from ..process._certificates import holder
from ..process.test_proxies import replaced
from .container import ROOT

SYSTEMD = ROOT / "deploy" / "systemd"
UNIT = SYSTEMD / "directory-server@.service"
TWISTD = str(Path(sys.executable).with_name("twistd"))


def lines(text: str) -> list[str]:
    """Return the lines of a unit that set something."""
    return [line for line in text.splitlines() if re.match(r"\w+=", line)]


def loaded() -> Config:
    return config.load(file=SYSTEMD / "directory-server.toml", environ={}, settings=[])


@pytest.mark.parametrize("name", ["directory-server.service", "directory-server@.service"])
def test_the_unit_is_valid(tmp_path: Path, name: str) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / name.replace("@", "@01")
    unit.write_text(replaced((SYSTEMD / name).read_text("utf-8"), {"/opt/directory-server/bin/twistd": TWISTD}))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False, timeout=60
    )
    # The exit code does not tell unknown settings.
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def test_the_unit_has_all_restrictions_of_the_one_without_a_template() -> None:
    _, _, restrictions = (SYSTEMD / "directory-server.service").read_text("utf-8").partition("LimitNOFILE")
    own = lines(UNIT.read_text("utf-8"))
    assert set(lines(restrictions)) <= set(own)
    assert len(lines(restrictions)) > 15


def test_the_command_has_known_options_and_settings() -> None:
    (command,) = [line for line in lines(UNIT.read_text("utf-8")) if line.startswith("ExecStart=")]
    words = command.removeprefix("ExecStart=").replace("%i", "01").split()
    assert words[0] == "/opt/directory-server/bin/twistd"
    assert "--config /etc/directory-server.toml" in command
    done = subprocess.run(
        [TWISTD, *words[1:-1], "metrics.nonsense=1"], capture_output=True, text=True, check=False, timeout=60
    )
    # All other options are read first.
    assert done.returncode != 0
    assert "/etc/directory-server.toml" in done.stdout + done.stderr
    assert config.load(file=None, environ={}, settings=[words[-1]]).metrics.listen == "tcp:9101:interface=127.0.0.1"


def test_the_configuration_is_valid_and_has_no_password() -> None:
    found = loaded()
    assert "password" not in found.database
    assert found.data_dir == Path("data")
    assert f"/{found.index_dir.rpartition('/')[2]}" == "/directory-server"
    assert f"StateDirectory={Path(found.index_dir).name}" in UNIT.read_text("utf-8")


def test_the_proxy_checks_and_knows_the_servers(tmp_path: Path) -> None:
    if shutil.which("haproxy") is None:
        pytest.skip("HAProxy is not installed")
    text = (SYSTEMD / "haproxy.cfg").read_text("utf-8")
    pem = tmp_path / "directory.pem"
    both = holder("localhost", authority=True)
    pem.write_bytes(both.private_pem + both.pem)
    file = tmp_path / "haproxy.cfg"
    file.write_text(replaced(text, {"/etc/ssl/private/directory.pem": str(pem), "maxconn 20000": "maxconn 200"}))
    done = subprocess.run(["haproxy", "-c", "-f", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    port = loaded().listen[0].removeprefix("tcp:")
    servers = re.findall(r"^    server \w+ \S+:(\d+)$", text, re.MULTILINE)
    assert servers == [port] * 2
