"""Headers and signatures of webhook requests."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.webhooks.delivery_thread import delivering
from holdfast.hosting.webhooks.signatures import event_header, signature_headers, signed_request
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from holdfast.settings import Settings
from tests.conftest import ROOT, wait_for
from tests.hosting.webhooks.outboxes import Outbox
from tests.hosting.webhooks.receivers import Receiver, Seen

SECRET = "s3cret with ä"


def request(payload: str = '{"a": "ä&b"}', *, content_type: str = "json", secret: str = "s") -> WebhookRequest:
    """Make a request."""
    return signed_request(
        url="https://x.org/h",
        content_type=content_type,
        payload=payload,
        uuid="7b",
        kind="issue_label",
        target="organization",
        secret=secret,
        authorization="Bearer t",
    )


def test_every_signature_header_is_sent() -> None:
    """Headers of Gitea, Gogs and GitHub have the delivery, the group of the event, the event and the signature."""
    made = request()
    sha1, sha256 = (hmac.new(b"s", made.body, name).hexdigest() for name in ("sha1", "sha256"))
    assert made.headers["X-Gitea-Signature"] == made.headers["X-Gogs-Signature"] == sha256
    assert made.headers["X-Hub-Signature"] == f"sha1={sha1}"
    assert made.headers["X-Hub-Signature-256"] == f"sha256={sha256}"
    for origin in ("Gitea", "Gogs", "GitHub"):
        assert made.headers[f"X-{origin}-Delivery"] == "7b"
        assert made.headers[f"X-{origin}-Event"] == "issues"
        assert made.headers[f"X-{origin}-Event-Type"] == "issue_label"
    assert made.headers["X-Gitea-Hook-Installation-Target-Type"] == "organization"
    assert made.headers["X-GitHub-Hook-Installation-Target-Type"] == "organization"
    assert made.headers["Authorization"] == "Bearer t"
    assert (made.method, made.url, made.headers["Content-Type"]) == ("POST", "https://x.org/h", "application/json")


@given(st.text(), st.text(min_size=1))
def test_a_form_carries_the_text_that_is_signed(payload: str, secret: str) -> None:
    """The signature of a form is over the JSON in its field, and not over the encoded form."""
    created_request = request(payload, content_type="form", secret=secret)
    fields = parse_qs(created_request.body.decode(), keep_blank_values=True)
    assert fields == {"payload": [payload]}
    mac = hmac.new(secret.encode(), payload.encode(), hashlib.sha256).hexdigest()
    assert created_request.headers["X-Hub-Signature-256"] == f"sha256={mac}"
    assert created_request.headers["X-Gitea-Signature"] == created_request.headers["X-Gogs-Signature"] == mac
    assert created_request.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_known_signature() -> None:
    """The signature equals the example in GitHub's documentation."""
    headers = signature_headers(b"Hello, World!", "It's a Secret to Everybody")
    expected = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert headers["X-Hub-Signature-256"] == f"sha256={expected}"


def test_without_a_secret_the_signatures_are_empty() -> None:
    """Without a secret the signature headers are sent without a signature."""
    made = request(secret="")
    assert made.headers["X-Gitea-Signature"] == made.headers["X-Gogs-Signature"] == ""
    assert (made.headers["X-Hub-Signature"], made.headers["X-Hub-Signature-256"]) == ("sha1=", "sha256=")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("push", "push"),
        ("issue_assign", "issues"),
        ("issue_milestone", "issues"),
        ("pull_request_sync", "pull_request"),
        ("pull_request_comment", "issue_comment"),
        ("pull_request_review_approved", "pull_request_approved"),
        ("issue_dependency", "issue_dependency"),
    ],
)
def test_sub_events_go_by_the_name_of_their_group(kind: str, name: str) -> None:
    """The event header of a sub-event is the name of its group, and that of others their own name."""
    assert event_header(kind) == name


PYTHON = """
import base64, json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_genuine(secret, base64.b64decode(body), signature) for secret, body, signature in cases]))
"""
JAVASCRIPT = """
const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const found = cases.map(([secret, body, given]) => isGenuine(secret, Buffer.from(body, "base64"), given));
console.log(JSON.stringify(found));
"""
GO = """package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
)

func main() {
	var cases [][3]string
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	var found []bool
	for _, one := range cases {
		body, _ := base64.StdEncoding.DecodeString(one[1])
		found = append(found, isGenuine(one[0], body, one[2]))
	}
	json.NewEncoder(os.Stdout).Encode(found)
}
"""
PHP = """
$cases = json_decode(file_get_contents('php://stdin'));
echo json_encode(array_map(fn ($one) => is_genuine($one[0], base64_decode($one[1]), $one[2]), $cases));
"""


def program(language: str, folder: Path) -> list[str]:
    """Make a program of the guide's example in a language, and return the command that runs it."""
    guide = (ROOT / "docs" / "guides" / "webhooks.md").read_text()
    (shown,) = re.findall(rf"^```{language}\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    if language == "go":
        (folder / "verify.go").write_text(shown)
        (folder / "main.go").write_text(GO)
        path = folder / "verify"
        command = ["go", "build", "-o", str(path), "verify.go", "main.go"]
        subprocess.run(command, cwd=folder, check=True, env={**os.environ, "GO111MODULE": "off"})
        return [str(path)]
    runner, harness, name = {
        "python": ([sys.executable], PYTHON, "verify.py"),
        "js": (["node"], JAVASCRIPT, "verify.cjs"),
        "php": (["php"], PHP, "verify.php"),
    }[language]
    (folder / name).write_text(shown + harness)
    return [*runner, str(folder / name)]


@pytest.fixture
def delivered(tmp_path: Path, receiver: Receiver) -> list[Seen]:
    """Deliver an event to a hook with a secret, and to one without."""
    settings = Settings(data=tmp_path / "data", webhook_allowed_hosts="loopback")
    with closing(App.open(settings)) as host:
        prepare(host.database, settings)
        outbox = Outbox(host)
        for sealed in (host.cipher.encrypt(SECRET), ""):
            hook = outbox.hook(receiver.url(), secret=sealed)
            outbox.record_events([hook], kind="repository")
        with delivering(host):
            wait_for(lambda: len(receiver.seen) == 2)
    return sorted(receiver.seen, key=lambda one: one.headers["x-gitea-signature"], reverse=True)


@pytest.mark.parametrize("language", ["python", "js", pytest.param("go", marks=pytest.mark.long), "php"])
def test_the_examples_of_the_guide_verify_a_real_delivery(
    delivered: list[Seen], tmp_path: Path, language: str
) -> None:
    """Each example accepts a real delivery, and refuses other bodies, secrets and signatures."""
    runtime = {"python": sys.executable, "js": "node"}.get(language, language)
    if shutil.which(runtime) is None:
        pytest.skip(f"{runtime} is not installed")
    real, unsigned = delivered
    signature = real.headers["x-hub-signature-256"]
    of_nobody = "sha256=" + hmac.new(b"", unsigned.body, hashlib.sha256).hexdigest()
    wrong = ("", "sha256=", signature[:-1], signature.removeprefix("sha256="), signature.upper(), "é" * 71)
    cases = [
        (SECRET, real.body, signature),
        (SECRET, real.body + b" ", signature),
        (f"{SECRET}!", real.body, signature),
        *((SECRET, real.body, item) for item in wrong),
        ("", unsigned.body, unsigned.headers["x-hub-signature-256"]),
        ("", unsigned.body, of_nobody),
    ]
    given = json.dumps([(secret, base64.b64encode(body).decode(), said) for secret, body, said in cases])
    completed = subprocess.run(program(language, tmp_path), input=given.encode(), check=True, capture_output=True)
    assert json.loads(completed.stdout) == [True] + [False] * (len(cases) - 1)
