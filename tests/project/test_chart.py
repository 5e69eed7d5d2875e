"""The Helm chart: its values, and the manifests that Helm renders from it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml  # type: ignore[import-untyped]  # it exports no types

from tests.conftest import ROOT

CHART = ROOT / "packaging/helm/holdfast"
CLIENTS = Path(f"{sys.prefix}-clients") / "bin"
# The oldest Kubernetes of the chart, and one that is current.
KUBERNETES = ("1.25", "1.34")

VALUES: dict[str, dict[str, Any]] = {
    "default": {},
    "nodes": {"replicas": 3, "existingSecret": "holdfast", "persistence": {"enabled": False}},
    "ingress": {
        "rootUrl": "https://git.example.org",
        "ingress": {"enabled": True, "className": "nginx", "host": "git.example.org", "tlsSecret": "git-tls"},
        "service": {"type": "NodePort", "port": 80},
    },
    "settings": {
        "settings": {"sign_up": True, "max_push_mb": 1048576, "log_format": 'a"b', "trace_sample": 0.5},
        "persistence": {"size": "2Ti", "storageClass": "fast"},
        "image": {"repository": "registry.example.org/holdfast", "tag": "1.2", "pullPolicy": "Always"},
        "resources": {"limits": {"cpu": 2, "memory": "1Gi"}},
    },
}


def program(name: str) -> Path:
    """Return a program that `make clients` installs where it has a build."""
    path = CLIENTS / name
    if not path.exists():
        pytest.skip(f"no {name}: run `make clients` (on Linux, x86-64)")
    return path


def run_helm(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run Helm."""
    return subprocess.run([program("helm"), *arguments], check=False, capture_output=True, text=True)


def render(folder: Path, values: dict[str, Any], chart: Path = CHART) -> Path:
    """Write the manifests for these values, which are read from a file, as most users pass them."""
    given, manifests = folder / "values.yaml", folder / "manifests.yaml"
    given.write_text(yaml.safe_dump(values))
    rendered = run_helm("template", "holdfast", chart, "--values", given)
    assert rendered.returncode == 0, rendered.stderr
    manifests.write_text(rendered.stdout)
    return manifests


def load(manifests: Path) -> dict[str, dict[str, Any]]:
    """Read manifests, by their kind."""
    return {one["kind"]: one for one in yaml.safe_load_all(manifests.read_text()) if one}


def variables(manifests: Path) -> dict[str, str]:
    """Return the environment variables of the container."""
    (container,) = load(manifests)["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    found = {one["name"]: one["value"] for one in container["env"]}
    assert len(found) == len(container["env"])
    return found


def schema_problems(manifests: Path, kubernetes: str) -> str:
    """Validate manifests against the schemas of a Kubernetes version; return what is wrong with them."""
    command: list[str | Path] = [
        program("kubernetes-validate"),
        "--strict",
        "--quiet",
        "-k",
        kubernetes,
        manifests,
    ]
    completed = subprocess.run(command, check=False, capture_output=True, text=True)
    return "" if completed.returncode == 0 else completed.stdout + completed.stderr


def test_helm_finds_no_mistake_in_the_chart() -> None:
    """`helm lint` has no warnings."""
    completed = run_helm("lint", "--strict", CHART)
    assert completed.returncode == 0, completed.stdout


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_manifests_fit_the_schemas_of_kubernetes(values: dict[str, Any], tmp_path: Path) -> None:
    """Every manifest is valid and has no unknown field, in the oldest supported version and in a current one."""
    manifests = render(tmp_path, values)
    assert {"StatefulSet", "Service"} <= load(manifests).keys()
    for kubernetes in KUBERNETES:
        assert schema_problems(manifests, kubernetes) == ""


def test_a_misspelled_field_is_found(tmp_path: Path) -> None:
    """The schemas are strict: Kubernetes itself would drop an unknown field, with a warning."""
    chart = tmp_path / "holdfast"
    shutil.copytree(CHART, chart)
    template = chart / "templates/statefulset.yaml"
    template.write_text(template.read_text().replace("enableServiceLinks:", "enableServiceLink:"))
    for kubernetes in KUBERNETES:
        assert "enableServiceLink" in schema_problems(render(tmp_path, {}, chart), kubernetes)


def test_the_oldest_kubernetes_is_the_one_that_the_chart_names() -> None:
    """The manifests are validated for the version below which Helm refuses the chart."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["kubeVersion"] == f">={KUBERNETES[0]}.0-0"


def test_settings_are_passed_as_they_were_written(tmp_path: Path) -> None:
    """Helm reads a number as a float, of which `quote` makes 1.048576e+06: no setting, so the start would fail."""
    manifests = render(tmp_path, VALUES["settings"])
    assert (
        variables(manifests).items()
        >= {
            "HOLDFAST_MAX_PUSH_MB": "1048576",
            "HOLDFAST_SIGN_UP": "true",
            "HOLDFAST_LOG_FORMAT": 'a"b',
            "HOLDFAST_TRACE_SAMPLE": "0.5",
        }.items()
    )


@pytest.mark.parametrize("name", ["data", "host", "port", "root_url", "trusted_proxies"])
def test_settings_that_the_chart_makes_are_refused(name: str, tmp_path: Path) -> None:
    """Another port would fail the probes; what has a value of its own would be a variable twice."""
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"settings": {name: "1"}}))
    completed = run_helm("template", "holdfast", CHART, "--values", values)
    assert completed.returncode != 0
    assert name in completed.stderr


def test_more_replicas_need_a_secret() -> None:
    """Without a database and a bucket, each replica would be an installation of its own."""
    completed = run_helm("template", "holdfast", CHART, "--set", "replicas=2")
    assert completed.returncode != 0
    assert "more than one replica needs existingSecret" in completed.stderr


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_manifests_belong_together(values: dict[str, Any], tmp_path: Path) -> None:
    """Selectors match the labels of the pods, every mount has a volume, and ports are found by their names."""
    manifests = load(render(tmp_path, values))
    stateful, service = manifests["StatefulSet"]["spec"], manifests["Service"]
    labels = stateful["template"]["metadata"]["labels"]
    assert stateful["selector"]["matchLabels"].items() <= labels.items()
    assert service["spec"]["selector"].items() <= labels.items()
    assert stateful["serviceName"] == service["metadata"]["name"]
    pod = stateful["template"]["spec"]
    (container,) = pod["containers"]
    claims = [one["metadata"] for one in stateful.get("volumeClaimTemplates", [])]
    volumes = [one["name"] for one in [*pod["volumes"], *claims]]
    assert sorted(volumes) == sorted(one["name"] for one in container["volumeMounts"]) == ["data", "tmp"]
    (port,) = container["ports"]
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    assert {container[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "readiness", "liveness")} == {
        port["name"]
    }
    assert ("PodDisruptionBudget" in manifests) == (values.get("replicas", 1) > 1)
    if budget := manifests.get("PodDisruptionBudget"):
        assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert ("Ingress" in manifests) == ("ingress" in values)
    if ingress := manifests.get("Ingress"):
        (rule,) = ingress["spec"]["rules"]
        backend = rule["http"]["paths"][0]["backend"]["service"]
        assert backend["name"] == service["metadata"]["name"]
        assert backend["port"] == {"name": service["spec"]["ports"][0]["name"]}
        assert ingress["spec"]["tls"] == [{"hosts": [rule["host"]], "secretName": "git-tls"}]


def test_values_of_the_chart_fit_their_schema() -> None:
    """The schema accepts the default values and refuses an unknown one."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.validate(values, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**values, "replica": 2}, schema)
    assert values.keys() == schema["properties"].keys() - {"global"}


def test_templates_of_the_chart_use_values_that_exist() -> None:
    """Each value in a template exists, because a misspelled one would be empty without an error."""
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    used = {
        name
        for path in (CHART / "templates").iterdir()
        for name in re.findall(r"\.Values\.([\w.]+)", path.read_text())
    }
    assert len(used) > 10
    for name in used:
        node: Any = values
        for part in name.split("."):
            assert part in node, name
            node = node[part]


def test_pods_get_no_variables_of_services() -> None:
    """Kubernetes sets no `HOLDFAST_PORT=tcp://...` for a service named `holdfast`; the start would fail."""
    (template,) = CHART.glob("templates/statefulset.yaml")
    (pod,) = re.findall(r"^    spec:\n((?:      .*\n)+)", template.read_text(), re.MULTILINE)
    assert "      enableServiceLinks: false\n" in pod


def test_the_chart_has_the_version_of_the_package() -> None:
    """The appVersion of the chart, which selects the image, is the version of the package."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{chart["appVersion"]}"\n' in project
