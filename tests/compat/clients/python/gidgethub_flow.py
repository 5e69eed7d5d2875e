"""A webhook receiver written with gidgethub: it creates webhooks and verifies the signatures of their deliveries.

`gidgethub_flow.py URL NAME PASSWORD TOKEN`
"""

import http.server
import json
import queue
import sys
import threading
import urllib.request
from typing import Any

from gidgethub import ValidationFailure, sansio

SECRET = "It is nobody's business, wirklich"
received: "queue.Queue[sansio.Event | ValidationFailure]" = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    """A receiver that verifies the signature of a delivery."""

    def do_POST(self) -> None:
        """Verify and store one delivery."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = sansio.Event.from_http(self.headers, body, secret=SECRET)
        except ValidationFailure as failure:
            received.put(failure)
            self.send_response(401)
        else:
            received.put(event)
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


def main(url: str, name: str, _password: str, token: str) -> None:
    """Receive deliveries with the right secret and with a wrong one."""

    def call(method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read() or b"null")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    call("POST", "/user/repos", {"name": "drum"})
    place = f"/repos/{name}/drum"

    def hear(title: str, secret: str) -> "sansio.Event | ValidationFailure":
        config = {
            "url": f"http://127.0.0.1:{server.server_port}/",
            "content_type": "json",
            "secret": secret,
        }
        hook = call(
            "POST", f"{place}/hooks", {"type": "gitea", "active": True, "events": ["issues"], "config": config}
        )
        call("POST", f"{place}/issues", {"title": title})
        heard = received.get(timeout=20)
        call("DELETE", f"{place}/hooks/{hook['id']}")
        return heard

    event = hear("It beats, es schlägt", SECRET)
    assert isinstance(event, sansio.Event), event
    assert (event.event, event.data["issue"]["title"]) == ("issues", "It beats, es schlägt")
    assert len(event.delivery_id) == 36
    stranger = hear("Who is it?", "another secret")
    assert isinstance(stranger, ValidationFailure), stranger
    call("DELETE", place)
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main(*sys.argv[1:])
