"""Metrics, dashboard, alerts and log events, compared with the monitoring guide."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache

import yaml  # type: ignore[import-untyped]  # it exports no types

from tests.conftest import ROOT

SOURCE = ROOT / "src"
MONITORING = ROOT / "packaging/monitoring"
GUIDE = (ROOT / "docs/guides/monitoring.md").read_text()
INSTRUMENTS = {"Histogram": "histogram", "Counter": "counter", "Gauge": "gauge"}
SAMPLES = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("_total",), "gauge": ("",)}
LEVELS = {"debug", "info", "warning", "error", "exception"}


def calls(names: Iterable[str]) -> Iterator[ast.Call]:
    """Find the calls in modules that call a function or method of one of these names; others are not parsed."""
    pattern = re.compile(rf"\b({'|'.join(names)})\(")
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if pattern.search(text):
            yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


@cache
def metrics() -> dict[str, str]:
    """Find the metrics in the code: the names and kinds of instruments."""
    kinds = {}
    for call in calls(INSTRUMENTS):
        if isinstance(call.func, ast.Name) and call.func.id in INSTRUMENTS:
            for argument in call.args[:1]:
                if isinstance(argument, ast.Constant):
                    kinds[str(argument.value)] = INSTRUMENTS[call.func.id]
    return kinds


def samples() -> set[str]:
    """Return the names that a scrape has."""
    return {name + ending for name, kind in metrics().items() for ending in SAMPLES[kind]}


def test_every_metric_is_documented() -> None:
    """The guide lists exactly the metrics of the service, each with its type."""
    rows = dict(re.findall(r"^\| `(holdfast_\w+)` \| (\w+) \|", GUIDE, re.MULTILINE))
    named = {name + ("_total" if kind == "counter" else ""): kind for name, kind in metrics().items()}
    assert len(named) >= 6
    assert rows == named


def test_dashboard_and_alerts_ask_for_metrics_that_exist() -> None:
    """A renamed metric would leave an empty panel, or an alert that never fires."""
    for name in ("dashboard.json", "alerts.yaml"):
        queried = set(re.findall(r"\bholdfast_\w+", (MONITORING / name).read_text()))
        assert queried
        assert queried <= samples(), name


def test_panels_of_the_dashboard_have_unique_ids_and_queries() -> None:
    """Each panel has a unique id and each target a query, as Grafana requires for an import."""
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(target["expr"] for panel in panels for target in panel["targets"])


def test_every_alert_is_explained() -> None:
    """The guide lists exactly the alerts of the rules file, and each rule has annotations."""
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    assert {rule["alert"] for rule in group["rules"]} == set(
        re.findall(r"^\| `(Holdfast\w+)` \|", GUIDE, re.MULTILINE)
    )
    for rule in group["rules"]:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}


def test_the_guide_lists_the_events_of_the_log() -> None:
    """The guide lists exactly the events of the log, with their levels and fields; `debug` is for developers."""
    events: dict[str, tuple[set[str], set[str]]] = {}
    for call in calls(LEVELS):
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "log":
            (event,) = call.args
            assert isinstance(event, ast.Constant), ast.unparse(call)
            levels, fields = events.setdefault(str(event.value), (set(), set()))
            levels.add("error" if call.func.attr == "exception" else call.func.attr)
            fields |= {keyword.arg or "**" for keyword in call.keywords} - {"exc_info"}
    rows = re.findall(r"^\| `([^`]+)` \| ((?:info|warning|error)[a-z, ]*) \| ?(.*) \|$", GUIDE, re.MULTILINE)
    assert len(rows) > 30
    listed = {event: (set(named.split(", ")), set(re.findall(r"`(\w+)`", facts))) for event, named, facts in rows}
    assert listed == {event: shown for event, shown in events.items() if shown[0] != {"debug"}}
