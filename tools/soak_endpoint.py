"""The endpoint of a soak: paints, answers, and meets every tenth request with bad behaviour; counts what it served."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from backends import faults
from backends.endpoints import png_text, said, serving
from soak_suite import QUESTIONS

BAD = 0.10
"""The part of the requests that meet bad behaviour."""
LATENCY_S = 0.03


class Endpoint:
    """Paints, answers and misbehaves; what it does with a request follows from the request alone."""

    def __init__(self) -> None:
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
                known = {"served": self.served, "bad": self.bad, "kinds": self.kinds}
                return said({**known, "n_requests": self.n_requests})
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
        fault = draw.choice([*faults.ANYWHERE, *(faults.IN_PICTURES if is_picture else faults.IN_REPLIES)])
        if fault.passes:
            return fault if self._n_asked[name] == 1 else None
        self.bad[name] = fault.name
        return fault

    def _good(self, name: str, body: Any, is_picture: bool) -> Any:
        if is_picture:
            answer = said({"created": 1, "data": [{"b64_json": png_text(body["prompt"], name)}]})
        else:
            answer = faults.reply(json.dumps({"answer": "yes"}))

        def sent() -> None:
            with self._lock:
                self.served[name] += 1

        return replace(answer, when_sent=sent)


def serve() -> None:
    """The endpoint as a process: prints its address, ends with its input."""
    with serving(Endpoint(), is_kept=False) as server:
        print(server.url, flush=True)
        sys.stdin.read()
