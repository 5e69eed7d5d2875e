"""Made-up requests are answered as the OpenAPI document says, and never with a 5xx."""

import pytest

from tests.compat.made_up_requests import fill_service, send_requests
from tests.conftest import Service

SECONDS = 12
SEED = 1


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("who", ["admin", "owner"])
def test_generated_requests_cause_no_internal_error(service: Service, who: str) -> None:
    """Neither as an administrator nor as somebody plain; an hour of it is `make schemathesis SECONDS=3600`."""
    send_requests(service.url, fill_service(service)[who], seconds=SECONDS, seed=SEED)
