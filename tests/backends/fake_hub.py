"""A model hub on loopback: the answers of the real one's HTTP API, as far as downloading a model needs them."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import huggingface_hub.hf_api
import huggingface_hub.utils._http
import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_REFUSALS = {
    "none": (401, "RepoNotFound", "Repository not found"),
    "gated": (403, "GatedRepo", "Access to model lab/gated is restricted"),
    "private": (401, "", "Invalid credentials in Authorization header"),
}


class FakeHub:
    """Serves one folder as lab/model, and refuses lab/none, lab/gated and lab/private as the real one does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.is_gated = False
        """Whether lab/model is refused as well."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub._answer(self, with_body=True)

            def do_HEAD(self) -> None:
                hub._answer(self, with_body=False)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self._monkeypatch = monkeypatch
        self.point_at(f"http://127.0.0.1:{self._server.server_port}")
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
        # The library waits before it asks again, for half a minute where nobody answers.
        impatient = SimpleNamespace(**{**vars(time), "sleep": lambda _: None})
        monkeypatch.setattr(huggingface_hub.utils._http, "time", impatient)

    def point_at(self, url: str) -> None:
        """Have the hub's own library talk to this address."""
        constants = huggingface_hub.constants
        self._monkeypatch.setattr(constants, "ENDPOINT", url)
        self._monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", url)
        template = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        self._monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)

    def go_away(self) -> None:
        """From now on nobody answers; on another port, since open connections would live on."""
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            port = nobody.getsockname()[1]
        self.point_at(f"http://127.0.0.1:{port}")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler, with_body: bool) -> None:
        path = request.path.split("?")[0]
        self.asked.append(path)
        status, code, body = self._respond(path)
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.send_header("X-Repo-Commit", COMMIT)
        request.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        if code:
            request.send_header("X-Error-Code", code)
        if status >= 400:
            request.send_header("X-Error-Message", body.decode())
        request.end_headers()
        if with_body:
            request.wfile.write(body)

    def _respond(self, path: str) -> tuple[int, str, bytes]:
        if self.is_gated:
            return (*_REFUSALS["gated"][:2], _REFUSALS["gated"][2].encode())
        for refused, (status, code, message) in _REFUSALS.items():
            if f"/lab/{refused}/" in f"{path}/":
                return status, code, message.encode()
        files = sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*") if file.is_file())
        if path.startswith("/api/models/lab/model/tree/"):
            tree = [{"type": "file", "path": f, "size": (self.folder / f).stat().st_size, "oid": "0"} for f in files]
            return 200, "", json.dumps(tree).encode()
        if path in ("/api/models/lab/model/revision/main", f"/api/models/lab/model/revision/{COMMIT}"):
            return (
                200,
                "",
                json.dumps({"id": "lab/model", "sha": COMMIT, "siblings": [{"rfilename": f} for f in files]}).encode(),
            )
        if path.startswith("/api/models/lab/model/revision/"):
            return 404, "RevisionNotFound", b"Invalid rev id"
        prefix = f"/lab/model/resolve/{COMMIT}/"
        if path.startswith(prefix) and path.removeprefix(prefix) in files:
            return 200, "", (self.folder / path.removeprefix(prefix)).read_bytes()
        return 404, "EntryNotFound", b"Entry not found"
