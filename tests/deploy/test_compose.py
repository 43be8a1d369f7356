"""compose.yaml, the configuration of its proxy and the Containerfile: they name what exists, and the proxy works."""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from directory_server import config
from directory_server.config import Config

from ..cluster.conftest import Cluster, cluster
from ..cluster.conftest import engine as engine
from ..ports import free_port
from ..process.conftest import TIMEOUT, Client, entry_line, environment, until
from ..process.test_proxies import replaced
from .container import CONTAINERFILE, ROOT, context, last_words, stages

__all__ = ["cluster"]

COMPOSE: Mapping[str, Any] = importlib.import_module("yaml").safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: Mapping[str, Mapping[str, Any]] = COMPOSE["services"]
IMAGE = "localhost/directory-server"
OURS = [name for name, service in SERVICES.items() if service["image"] == IMAGE]
PROXY = ROOT / "deploy" / "haproxy.cfg"


def settings(service: str) -> Config:
    """Return the configuration that the server of `service` reads. Raises ConfigError for a wrong setting."""
    defaults = next(text for name, text in stages()[-1].instructions if name == "ENV")
    variables = dict(pair.split("=", 1) for pair in defaults.split()) | SERVICES[service]["environment"]
    return config.load(file=None, environ=variables, settings=[])


def seconds(text: str) -> float:
    """Return the seconds of a duration such as 30s."""
    found = re.fullmatch(r"(\d+)s", text)
    assert found
    return float(found[1])


@pytest.mark.parametrize("service", OURS)
def test_the_variables_of_the_server_are_settings(service: str) -> None:
    loaded = settings(service)
    assert "host=database" in loaded.database
    assert f"dbname={SERVICES['database']['environment']['POSTGRES_DB']}" in loaded.database
    assert f"user={SERVICES['database']['environment']['POSTGRES_USER']}" in loaded.database
    assert "localhost" in loaded.http.allowed_hosts
    (subnet,) = COMPOSE["networks"]["front"]["ipam"]["config"]
    assert [ip_network(each) for each in loaded.http.trusted_proxies] == [ip_network(subnet["subnet"])]
    assert loaded.web.url.rpartition(":")[2] == SERVICES["proxy"]["ports"][0].split(":")[1]
    assert seconds(SERVICES[service]["stop_grace_period"]) > loaded.streams.grace


def test_the_single_container_has_valid_settings_and_a_volume_for_its_data() -> None:
    compose = importlib.import_module("yaml").safe_load((ROOT / "compose.single.yaml").read_text("utf-8"))
    (service,) = compose["services"].values()
    defaults = next(text for name, text in stages()[-1].instructions if name == "ENV")
    variables = dict(pair.split("=", 1) for pair in defaults.split()) | service["environment"]
    loaded = config.load(file=None, environ=variables, settings=[])
    assert "localhost" in loaded.http.allowed_hosts
    assert loaded.web.url.rpartition(":")[2] == service["ports"][0].split(":")[1]
    assert seconds(service["stop_grace_period"]) > loaded.streams.grace
    (volume,) = service["volumes"]
    assert volume.split(":") == [*compose["volumes"], str(loaded.data_dir)]


def test_everything_that_a_service_uses_is_defined() -> None:
    assert set(OURS) == {"upgrade", "directory-1", "directory-2"}
    for service in SERVICES.values():
        assert set(service["networks"]) <= COMPOSE["networks"].keys()
        assert set(service.get("secrets", ())) <= COMPOSE["secrets"].keys()
        assert service.get("depends_on", {}).keys() <= SERVICES.keys()
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).is_file(), volume
    conditions = {
        name: each["condition"] for service in SERVICES.values() for name, each in service.get("depends_on", {}).items()
    }
    for name, condition in conditions.items():
        assert condition != "service_healthy" or name in OURS or "healthcheck" in SERVICES[name]


def test_no_password_is_in_a_file_of_the_project() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert "PASSWORD" not in name or (name.endswith("_FILE") and value.startswith("/run/secrets/")), name
            assert "password=" not in value
    secret = ROOT / COMPOSE["secrets"]["database_password"]["file"]
    done = subprocess.run(["git", "check-ignore", str(secret)], cwd=ROOT, capture_output=True, check=False)
    # 128: the sources are not a checkout.
    assert done.returncode in (0, 128)
    assert secret.relative_to(ROOT) not in set(context())


@pytest.mark.parametrize("service", [*OURS, "proxy"])
def test_services_have_no_rights_that_they_do_not_need(service: str) -> None:
    assert SERVICES[service]["read_only"] is True
    assert SERVICES[service]["cap_drop"] == ["ALL"]
    assert SERVICES[service]["security_opt"] == ["no-new-privileges:true"]


def test_open_files_suffice_for_all_connections() -> None:
    (connections,) = re.findall(r"^    maxconn (\d+)$", PROXY.read_text("utf-8"), re.MULTILINE)
    assert SERVICES["proxy"]["ulimits"]["nofile"] > 2 * int(connections)
    loaded = settings("directory-1")
    assert SERVICES["directory-1"]["ulimits"]["nofile"] > loaded.http.connections + loaded.streams.total


def test_other_images_have_a_version() -> None:
    for name, service in SERVICES.items():
        assert name in OURS or re.search(r":\d[\w.]*$", service["image"]), service["image"]


def test_the_image_runs_a_program_of_the_package_as_another_user_than_root() -> None:
    instructions = dict(stages()[-1].instructions)
    assert instructions["USER"] == "10001:10001"
    assert instructions["STOPSIGNAL"] == "SIGTERM"
    assert last_words("CMD") == ["twistd", "--nodaemon", "--pidfile=", "directory"]
    for name in ("ENTRYPOINT", "HEALTHCHECK"):
        (program,) = last_words(name)
        assert os.access(ROOT / "deploy" / program, os.X_OK)
        assert program in instructions["COPY"]
    assert instructions["VOLUME"] == settings("directory-1").data_dir.as_posix() == instructions["WORKDIR"]


def test_the_build_gets_the_sources_of_the_package_and_nothing_else() -> None:
    files = {str(path) for path in context()}
    assert {"setup.py", "pyproject.toml", "requirements.lock", "deploy/entrypoint", "deploy/healthcheck"} <= files
    # The build renders the documents.
    documents = runpy.run_path(str(ROOT / "docs" / "render.py"))["DOCUMENTS"]
    assert {"requirements-build.lock", "docs/render.py", *documents} <= files
    for each in (ROOT / "directory_server").rglob("*"):
        if each.suffix in {".py", ".sql", ".toml", ".css", ".js", ".html", ".json"}:
            assert str(each.relative_to(ROOT)) in files
    assert not [name for name in files if name.startswith((".git", "tests/", "data/", "deploy/secrets/"))]
    sources = re.findall(r"^COPY ([^-].*) \S+$", CONTAINERFILE.read_text("utf-8"), re.MULTILINE)
    for word in " ".join(sources).split():
        assert word == "." or word in files


def test_the_build_installs_locked_packages_only() -> None:
    text = re.sub(r"\\\n\s*", "", CONTAINERFILE.read_text("utf-8"))
    commands = re.findall(r"pip (?:install|wheel) [^&\n]*", text)
    assert len(commands) == 4
    for command in commands:
        # The package itself is the only one without a hash, and its build gets nothing.
        is_own = "--no-deps" in command and command.endswith((" . ", " .", "/wheels/*.whl"))
        assert "--require-hashes" in command or is_own, command
        assert "pip wheel" not in command or "--no-build-isolation" in command


def test_the_locked_build_tools_are_those_of_the_package() -> None:
    locked = dict(re.findall(r"(?m)^([a-z-]+)==(\S+) ", (ROOT / "requirements-build.lock").read_text("utf-8")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for requirement in map(Requirement, project["build-system"]["requires"]):
        assert locked[requirement.name] in requirement.specifier


def test_the_base_image_can_be_pinned() -> None:
    text = CONTAINERFILE.read_text("utf-8")
    assert re.findall(r"(?m)^FROM (\S+)", text) == ["${PYTHON}"] * 2
    assert "--build-arg PYTHON=docker.io/library/python:3.13-slim@sha256:" in text


def test_the_locked_versions_have_the_driver_of_the_database() -> None:
    assert "\npsycopg-binary==" in (ROOT / "requirements.lock").read_text("utf-8")


def test_the_entry_point_reads_the_password_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a b$c\n")
    entrypoint = ROOT / "deploy" / "entrypoint"
    for variables, expected in (({"DATABASE_PASSWORD_FILE": str(tmp_path / "secret")}, "a b$c"), ({}, "")):
        done = subprocess.run(
            [entrypoint, "sh", "-c", 'printf %s "${PGPASSWORD:-}"'],
            env=os.environ | variables,
            capture_output=True,
            check=True,
        )
        assert done.stdout.decode() == expected
    missing = os.environ | {"DATABASE_PASSWORD_FILE": str(tmp_path / "missing")}
    assert subprocess.run([entrypoint, "true"], env=missing, capture_output=True, check=False).returncode != 0


def test_the_proxy_knows_the_servers() -> None:
    text = PROXY.read_text("utf-8")
    port = settings("directory-1").listen[0].removeprefix("tcp:")
    assert re.findall(r"^    server (\S+) (\S+)$", text, re.MULTILINE) == [
        (name, f"{name}:{port}") for name in OURS if name != "upgrade"
    ]
    assert f"bind :{SERVICES['proxy']['ports'][0].rpartition(':')[2]}\n" in text
    assert f'HTTPConnection("127.0.0.1", {port}, ' in (ROOT / "deploy" / "healthcheck").read_text("utf-8")


@pytest.fixture
def proxied(cluster: Cluster, tmp_path: Path) -> Iterator[tuple[Client, Any, Any]]:
    """Return a client of the proxy of compose.yaml, and the two servers behind it."""
    if shutil.which("haproxy") is None:
        pytest.skip("HAProxy is not installed")
    variables = {
        name: text
        for name, text in SERVICES["directory-1"]["environment"].items()
        if name.startswith("DIRECTORY_SERVER_")
        and not name.endswith(("__DATABASE", "_DATABASE", "__LISTEN", "INDEX_DIR"))
    }
    variables["DIRECTORY_SERVER_HTTP__TRUSTED_PROXIES"] = "127.0.0.1"
    options = [word for name, text in variables.items() for word in ("--set", _option(name, text))]
    with cluster.serve("one", *options) as one, cluster.serve("two", *options) as two:
        port = free_port()
        changes = {
            "bind :8080": f"bind 127.0.0.1:{port}",
            # The limit of open files of the tests.
            "maxconn 20000": "maxconn 200",
            "directory-1:8080": f"127.0.0.1:{one.port}",
            "directory-2:8080": f"127.0.0.1:{two.port}",
        }
        file = tmp_path / "haproxy.cfg"
        file.write_text(replaced(PROXY.read_text("utf-8"), changes))
        subprocess.run(["haproxy", "-c", "-f", file], check=True, capture_output=True)
        with (tmp_path / "haproxy.log").open("wb") as log:
            process = subprocess.Popen(["haproxy", "-db", "-f", file], stdout=log, stderr=log, env=environment())
        client = Client(port)
        try:

            def answers() -> bool:
                with suppress(OSError):
                    return client.request("/readyz").status == 200
                return False

            until(answers, "the proxy answers")
            yield client, one, two
        finally:
            process.kill()
            process.wait(TIMEOUT)


def _option(name: str, text: str) -> str:
    return f"{name.removeprefix('DIRECTORY_SERVER_').lower().replace('__', '.')}={text}"


@pytest.mark.process
def test_requests_reach_both_servers_and_none_fails_while_one_stops(
    cluster: Cluster, proxied: tuple[Client, Any, Any], tmp_path: Path
) -> None:
    client, one, two = proxied
    key = cluster.new_key("--limit", "unlimited")
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    until(lambda: one.entry_count() == two.entry_count() == 1, "the entry is in both indexes")
    with ThreadPoolExecutor(4) as threads:
        pending = [threads.submit(client.search, "weather", key) for _ in range(200)]
        until(lambda: sum(each.done() for each in pending) >= 50, "some requests are answered")
        one.process.terminate()
        statuses = [each.result(TIMEOUT).status for each in pending]
    assert statuses == [200] * 200
    one.process.wait(TIMEOUT)
    assert client.search("weather", key).status == 200
    log = (tmp_path / "haproxy.log").read_text()
    assert "directory-1" in log
    assert "directory-2" in log
    assert key not in log
