"""The manifests for Kubernetes: they fit their schemas, the image and the settings of the server."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest

from directory_server import config
from directory_server.config import Config

from .container import ROOT, last_words, stages

MANIFESTS = ROOT / "deploy" / "kubernetes" / "directory.yaml"
OBJECTS: Mapping[str, Any] = {
    each["kind"]: each for each in importlib.import_module("yaml").safe_load_all(MANIFESTS.read_text("utf-8"))
}
POD: Mapping[str, Any] = OBJECTS["Deployment"]["spec"]["template"]["spec"]
(SERVER,) = POD["containers"]
(UPGRADE,) = POD["initContainers"]


def settings() -> Config:
    """Return the configuration that the server reads. Raises ConfigError for a wrong setting."""
    defaults = next(text for name, text in stages()[-1].instructions if name == "ENV")
    variables = dict(pair.split("=", 1) for pair in defaults.split()) | OBJECTS["ConfigMap"]["data"]
    return config.load(file=None, environ=variables, settings=[])


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_fit_the_schemas_of_kubernetes(kind: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="the schemas of Kubernetes are not installed")
    validator.validate(OBJECTS[kind], "1.30", strict=True)


@pytest.mark.parametrize("kind", sorted(OBJECTS))
def test_objects_select_the_pods_of_the_deployment(kind: str) -> None:
    labels = OBJECTS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    spec = OBJECTS[kind].get("spec", {})
    selector = spec.get("selector", spec.get("podSelector"))
    assert selector is None or selector.get("matchLabels", selector) == labels
    assert OBJECTS[kind]["metadata"]["name"] == "directory"


def test_the_variables_of_the_server_are_settings() -> None:
    loaded = settings()
    assert loaded.web.url.removeprefix("https://") in loaded.http.allowed_hosts
    assert "password" not in loaded.database
    ports = {port["name"]: port["containerPort"] for port in SERVER["ports"]}
    assert loaded.listen == (f"tcp:{ports['http']}",)
    assert loaded.metrics.listen == f"tcp:{ports['metrics']}"


def test_the_time_to_stop_is_longer_than_the_wait_for_requests_and_streams() -> None:
    *_, wait = SERVER["lifecycle"]["preStop"]["exec"]["command"]
    assert POD["terminationGracePeriodSeconds"] > int(wait) + settings().streams.grace


def test_probes_call_the_health_of_the_server() -> None:
    paths = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in paths.items():
        request = SERVER[probe]["httpGet"]
        assert (request["path"], request["port"]) == (path, "http")


def test_the_pod_runs_the_image_without_rights() -> None:
    instructions = dict(stages()[-1].instructions)
    user = POD["securityContext"]
    assert f"{user['runAsUser']}:{user['runAsGroup']}" == instructions["USER"]
    for container in (UPGRADE, SERVER):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        places = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {instructions["VOLUME"], "/tmp"} <= places
        (password,) = container["env"]
        assert password["value"].startswith("/run/secrets/directory/")
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in POD["volumes"]}
    # Arguments replace CMD; the entry point reads the password.
    assert UPGRADE["args"] == ["directory-server", "database", "upgrade"]
    assert not {"command", "args"} & SERVER.keys()
    assert last_words("ENTRYPOINT") == ["entrypoint"]


def test_a_process_serves_while_others_are_replaced_or_evicted() -> None:
    spec = OBJECTS["Deployment"]["spec"]
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert OBJECTS["PodDisruptionBudget"]["spec"]["minAvailable"] < spec["replicas"]
