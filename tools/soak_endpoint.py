"""The endpoint of a soak: paints, answers, and meets every tenth request with bad behaviour; counts what it served.

A third of the pictures come as URLs, and half of these have to be asked for twice.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import sys
import threading
import time
import urllib.parse
from collections import Counter
from dataclasses import replace
from typing import Any

from backends import faults
from backends.endpoints import Answered, png, png_text, said, serving
from soak_suite import QUESTIONS

BAD = 0.10
"""The part of the requests that meet bad behaviour."""
LATENCY_S = 0.03
BY_URL = 1 / 3
"""The part of the pictures whose answer is a URL."""
_LARGE = 100 * 2**20
_JSON = {"Content-Type": "application/json"}


def _large() -> Answered:
    return Answered(content=b'{"created": 1, "filler": "' + b"x" * _LARGE + b'"}', headers=_JSON)


_BOMB = gzip.compress(_large().content)
LARGE = (
    faults.Fault(name="100 MB of body", answer=_large),
    faults.Fault(
        name="100 MB of body, packed",
        answer=lambda: Answered(content=_BOMB, headers=_JSON | {"Content-Encoding": "gzip"}),
    ),
)
"""Kinds that only a soak has."""
FLAKY = "a URL that fails first"
N_KINDS = faults.N_KINDS + len(LARGE) + 1


class Endpoint:
    """Paints, answers and misbehaves; what it does with a request follows from the request alone."""

    def __init__(self) -> None:
        self.url = ""
        self.served: Counter[str] = Counter()
        """Requests that were answered well, and how often."""
        self.bad: dict[str, str] = {}
        """Requests that are never answered well, and the kind of fault."""
        self.kinds: Counter[str] = Counter()
        self.n_requests = 0
        self._n_asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Any) -> Any:
        if request.method == "GET":
            with self._lock:
                if request.path == "/count":
                    return said(self.served.total())
                if not request.path.startswith("/picture/"):
                    known = {"served": self.served, "bad": self.bad, "kinds": self.kinds, "n_kinds": N_KINDS}
                    return said({**known, "n_requests": self.n_requests})
            return self._download(urllib.parse.unquote(request.path.removeprefix("/picture/")))
        is_picture = request.path.endswith("/images/generations")
        name = self._name(request.body, is_picture)
        with self._lock:
            self.n_requests += 1
            self._n_asked[name] += 1
            fault = self._fault(name, is_picture)
            if fault is not None:
                self.kinds[fault.name] += 1
        if fault is not None:
            return fault.answer()
        time.sleep(LATENCY_S)
        return self._good(name, request.body, is_picture)

    def _name(self, body: Any, is_picture: bool) -> str:
        if is_picture:
            return f"picture {body['prompt']}/{body['seed']}"
        content = body["messages"][1]["content"]
        picture = hashlib.sha256(base64.b64decode(content[0]["image_url"]["url"].partition(",")[2])).hexdigest()[:24]
        asked = next(question for question in QUESTIONS if question in content[1]["text"])
        return f"answer {picture}/{asked}"

    def _fault(self, name: str, is_picture: bool) -> Any:
        draw = random.Random(name)
        if draw.random() >= BAD:
            return None
        own = faults.IN_PICTURES if is_picture else faults.IN_REPLIES
        fault = draw.choice([*faults.ANYWHERE, *LARGE, *own])
        if fault.passes:
            return fault if self._n_asked[name] == 1 else None
        self.bad[name] = fault.name
        return fault

    def _good(self, name: str, body: Any, is_picture: bool) -> Any:
        if is_picture and random.Random(f"url {name}").random() < BY_URL:
            answer = said({"created": 1, "data": [{"url": f"{self.url}/picture/{urllib.parse.quote(name)}"}]})
        elif is_picture:
            answer = said({"created": 1, "data": [{"b64_json": png_text(body["prompt"], name)}]})
        else:
            answer = faults.reply(json.dumps({"answer": "yes"}))

        def sent() -> None:
            with self._lock:
                self.served[name] += 1

        return replace(answer, when_sent=sent)

    def _download(self, name: str) -> Any:
        with self._lock:
            self.n_requests += 1
            self._n_asked[f"GET {name}"] += 1
            is_flaky = self._n_asked[f"GET {name}"] == 1 and random.Random(f"flaky {name}").random() < 0.5
            self.kinds[FLAKY] += is_flaky
        if is_flaky:
            return random.Random(name).choice(faults.ANYWHERE[2:8]).answer()
        prompt = name.removeprefix("picture ").rpartition("/")[0]
        return Answered(content=png(prompt, name), headers={"Content-Type": "image/png"})


def serve() -> None:
    """The endpoint as a process: prints its address, ends with its input."""
    endpoint = Endpoint()
    with serving(endpoint, is_kept=False) as server:
        endpoint.url = server.url
        print(server.url, flush=True)
        sys.stdin.read()
