"""The chart of Helm: its values, its templates, and, where helm is installed, what it renders."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from directory_server import __version__, config

from .container import ROOT
from .test_kubernetes import OBJECTS

CHART = ROOT / "deploy" / "helm" / "directory-server"
TEMPLATES = {path.name: path.read_text("utf-8") for path in sorted((CHART / "templates").iterdir())}
TEXT = "\n".join(TEMPLATES.values())
yaml = importlib.import_module("yaml")
VALUES: Mapping[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
SCHEMA: Mapping[str, Any] = json.loads((CHART / "values.schema.json").read_text("utf-8"))

OTHER: Mapping[str, Any] = {
    "replicas": 3,
    "image": {"tag": "1.2.3", "pullSecrets": ["pull"]},
    "url": "https://mcp.acme.example",
    "allowedHosts": ["other.example"],
    "trustedProxies": [],
    "config": '[log]\naccess = "text"\n\n[[upstream]]\nname = "a"\nurl = "https://registry.example"\n',
    "secrets": ["traces", "oidc"],
    "env": [{"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "a=b"}],
    "ingress": {"enabled": True, "className": "nginx", "annotations": {"a/b": "off"}, "tlsSecret": "acme"},
    "metrics": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
    "podAnnotations": {"a": "b"},
    "podLabels": {"team": "platform"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
}
"""Values other than the defaults, with all optional parts."""


def paths(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the paths of all values; a table that users fill is one value."""
    for name, value in values.items():
        if isinstance(value, dict) and value and "esources" not in name:
            yield from paths(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def test_templates_use_all_values_and_no_others() -> None:
    used = set(re.findall(r"\.Values\.([\w.]+)", TEXT))
    assert used == set(paths(VALUES))


def test_the_schema_names_all_values_and_allows_the_defaults() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)
    jsonschema.validate({**VALUES, **OTHER, "image": {**VALUES["image"], **OTHER["image"]}}, SCHEMA)
    named = {name: property for name, property in SCHEMA["properties"].items() if name != "global"}
    assert named.keys() == VALUES.keys()
    for name, value in VALUES.items():
        if "properties" in named[name]:
            assert named[name]["properties"].keys() == value.keys()


@pytest.mark.parametrize(
    "wrong", [{"typo": 1}, {"replicas": 0}, {"url": "ftp://a"}, {"secrets": ["directory"]}, {"metrics": {"port": 8080}}]
)
def test_the_schema_rejects_wrong_values(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**VALUES, **wrong}, SCHEMA)


@pytest.mark.parametrize("name", TEMPLATES)
def test_blocks_of_templates_are_closed(name: str) -> None:
    words = re.findall(r"\{\{-?\s*(if|with|range|define|end)\b", TEMPLATES[name])
    assert words.count("end") * 2 == len(words)
    assert TEMPLATES[name].count("{{") == len(re.findall(r"\{\{[^{}]*\}\}", TEMPLATES[name]))


def test_included_templates_are_defined_and_used() -> None:
    assert set(re.findall(r'include "([\w.]+)"', TEXT)) == set(re.findall(r'define "([\w.]+)"', TEXT))


def test_the_chart_has_the_version_of_the_server() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["apiVersion"] == "v2"
    assert chart["name"] == CHART.name
    assert chart["appVersion"] == chart["version"] == __version__


@pytest.fixture
def helm() -> str:
    """Return the path of helm; skip the test without it."""
    path = shutil.which("helm")
    if path is None:
        pytest.skip("helm is not installed")
    return path


def render(helm: str, folder: Path, values: Mapping[str, Any]) -> list[Any]:
    """Return the objects that the chart renders with `values`."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(dict(values)))
    text = subprocess.check_output([helm, "template", "directory-server", CHART, "--values", file], text=True)
    return [each for each in yaml.safe_load_all(text) if each]


def test_helm_accepts_the_chart(helm: str) -> None:
    result = subprocess.run([helm, "lint", "--strict", CHART], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("values", [{}, OTHER], ids=["defaults", "others"])
def test_rendered_objects_fit_the_schemas_of_kubernetes(helm: str, tmp_path: Path, values: Mapping[str, Any]) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="the schemas of Kubernetes are not installed")
    for rendered in render(helm, tmp_path, values):
        if rendered["kind"] != "ServiceMonitor":
            validator.validate(rendered, "1.30", strict=True)


def test_the_defaults_are_those_of_the_plain_manifests(helm: str, tmp_path: Path) -> None:
    rendered = {each["kind"]: each for each in render(helm, tmp_path, {})}
    assert rendered.keys() == OBJECTS.keys()
    assert rendered["ConfigMap"]["data"] == OBJECTS["ConfigMap"]["data"]
    assert comparable(rendered["Deployment"]["spec"]) == comparable(OBJECTS["Deployment"]["spec"])
    for kind, member in (("Service", "ports"), ("PodDisruptionBudget", "minAvailable"), ("NetworkPolicy", "ingress")):
        assert rendered[kind]["spec"][member] == OBJECTS[kind]["spec"][member]


def comparable(deployment: Any) -> Any:
    """Return the specification of a Deployment without names, labels and images, and with the defaults of fields."""
    spec: Any = json.loads(json.dumps(deployment))
    pod = spec["template"]["spec"]
    del spec["selector"], spec["template"]["metadata"], pod["topologySpreadConstraints"][0]["labelSelector"]
    for container in (*pod["containers"], *pod["initContainers"]):
        del container["image"], container["envFrom"]
        container.pop("imagePullPolicy", None)
    return spec


def test_the_server_reads_the_rendered_settings(helm: str, tmp_path: Path) -> None:
    settings, file = [each["data"] for each in render(helm, tmp_path, OTHER) if each["kind"] == "ConfigMap"]
    (tmp_path / "directory.toml").write_text(file["directory.toml"])
    loaded = config.load(file=tmp_path / "directory.toml", environ=settings, settings=[])
    assert loaded.http.allowed_hosts == ("mcp.acme.example", "other.example")
    assert loaded.http.trusted_proxies == ()
    assert [upstream.name for upstream in loaded.upstream] == ["a"]
