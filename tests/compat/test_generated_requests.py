"""A short run of the requests generated from the OpenAPI document."""

import pytest

from tests.compat.generated_requests import fill_service, send_requests
from tests.conftest import Service

SECONDS = 12
SEED = 1


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("who", ["admin", "owner"])
def test_generated_requests_cause_no_internal_error(service: Service, who: str) -> None:
    """Random requests of an administrator and of a user cause no 5xx; `make schemathesis` runs longer."""
    send_requests(service.url, fill_service(service)[who], seconds=SECONDS, seed=SEED)
