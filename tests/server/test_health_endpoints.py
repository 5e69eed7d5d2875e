"""The health endpoints and the metrics."""

import logging

import httpx
import msgspec
import pytest
from sqlalchemy import text

from holdfast import logs
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import Service, run_service, wait_for


def test_a_running_service_is_live(service: Service) -> None:
    """The liveness endpoint answers GET and HEAD without authentication, and POST gets 405."""
    with service.client() as client:
        assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok\n")
        assert client.head("/healthz").status_code == 200
        assert client.post("/healthz").status_code == 405


def test_a_working_service_is_ready(service: Service) -> None:
    """Readiness is 200 without problems while database and data folder work."""
    with service.client() as client:
        response = client.get("/readyz")
    assert (response.status_code, response.json()) == (200, {"ready": True, "problems": {}})


def test_a_database_of_another_schema_is_reported(service: Service) -> None:
    """Readiness is 503 with the problem `migrations` if the schema version is wrong."""
    with service.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with service.client() as client:
        response = client.get("/readyz")
    assert response.status_code == 503
    assert list(response.json()["problems"]) == ["migrations"]


def test_the_health_endpoint_of_gitea_reports_the_same(service: Service) -> None:
    """`/api/healthz`, which container health checks use, has the status of each check."""
    with service.client() as client:
        healthy = client.get("/api/healthz")
        assert client.post("/api/healthz").status_code == 405
    assert (healthy.status_code, healthy.json()["status"]) == (200, "pass")
    assert [check[0]["status"] for check in healthy.json()["checks"].values()] == ["pass"] * 3
    with service.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))

    def failed() -> bool:
        with service.client() as client:
            response = client.get("/api/healthz")
        checks = {name: check[0]["status"] for name, check in response.json()["checks"].items()}
        wrong = {"database": "pass", "migrations": "fail", "data": "pass"}
        return (response.status_code, response.json()["status"], checks) == (503, "fail", wrong)

    wait_for(failed)


def test_a_missing_folder_is_reported(service: Service) -> None:
    """Readiness is 503 while the data folder is missing, as if not mounted, and 200 once it is back."""
    aside = service.settings.data.with_name("aside")
    service.settings.data.rename(aside)
    with service.client() as client:
        response = client.get("/readyz")
        assert response.status_code == 503
        assert "data" in response.json()["problems"]
        aside.rename(service.settings.data)
        wait_for(lambda: client.get("/readyz").status_code == 200)


def test_health_requests_are_not_logged(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    """Health and metrics requests are not logged, because frequent checks would hide other lines."""
    logs.configure(level="info")
    with service.client() as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert client.get(path).status_code == 200
        client.get("/api/v1/version")
    logged = capsys.readouterr().err
    assert "/api/v1/version" in logged
    assert not any(path in logged for path in ("/healthz", "/readyz", "/metrics"))
    assert logging.getLogger().level == logging.INFO


def test_requests_are_counted_by_route_and_never_by_path(service: Service) -> None:
    """The labels of metrics have routes only, since paths may contain names and are unlimited."""
    with service.client() as client:
        client.get("/api/v1/users/somebody-secret")
        client.get("/no/such/page-secret")
        client.request("PROPFIND", "/api/v1/coffee-secret")
        told = client.get("/metrics").text
    assert 'holdfast_request_seconds_count{method="GET",route="/api/v1/users/{username}",status="4xx"}' in told
    assert 'method="GET",route="none",status="4xx"' in told
    assert 'method="other",route="none"' in told
    assert "secret" not in told
    assert "holdfast_deliveries_waiting 0.0" in told
    assert "holdfast_deliveries_oldest_seconds 0.0" in told


def test_metrics_are_served_without_a_database(service: Service) -> None:
    """Metrics are served without those that need the database if a query fails."""
    with service.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE deliveries RENAME TO elsewhere")
    with service.client() as client:
        response = client.get("/metrics")
    assert response.status_code == 200
    assert "holdfast_deliveries_waiting" not in response.text


@pytest.mark.parametrize(
    "headers", [{"X-Forwarded-For": "127.0.0.1"}, {"Via": "1.1 proxy"}, {"Forwarded": "for=203.0.113.7"}]
)
def test_forwarded_requests_do_not_get_metrics(service: Service, headers: dict[str, str]) -> None:
    """A request with a header of a proxy gets 403, even from this machine."""
    with service.client() as client:
        assert client.get("/metrics", headers=headers).status_code == 403


def test_with_a_token_only_the_token_counts(settings: Settings, database: Database) -> None:
    """The right token gives 200 also through a proxy, and a local request without it gets 403."""
    guarded = msgspec.structs.replace(settings, metrics_token=Secret("a-token"))
    responses: list[int] = []
    for service in run_service(guarded, database):
        responses += [
            httpx.get(
                f"{service.url}/metrics", headers=[(b"Authorization", given), (b"Via", b"proxy")]
            ).status_code
            for given in (b"", b"Bearer wrong", "Bearer wr\u00f6ng".encode(), b"Bearer a-token")
        ]
        responses.append(httpx.get(f"{service.url}/metrics").status_code)
    assert responses == [403, 403, 403, 200, 403]
