"""Generator: a ComfyUI server and the user's workflow.

The workflow is queued once per image with prompt and seed filled in; with the id of that job, in a step of its own, its
history is polled and the image it saved is fetched. The file's content and the server's address are part of the key:
the server decides which files the models of a workflow are.
"""

from __future__ import annotations

import hashlib
import itertools
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import About
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import RenderRequest, Ticket
from salva.core.secrets import cut
from salva.errors import BackendError, LostError, UnusableError
from salva.generators.comfyui_workflow import make_form, read_workflow
from salva.generators.remote_images import HostGenerator, HostOptions
from salva.messages import message
from salva.remote.answers import picture_from_bytes

_POLL_S = 0.2
_POLLS_PER_QUEUE = 25
"""Every so many polls the queue is asked for the job: a server that was restarted has forgotten it."""


class ComfyUi(HostGenerator):
    """A workflow on a ComfyUI server."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(HostOptions):
        """Which workflow, where, and what is filled in."""

        workflow: str = option("", "A workflow file in API format.", target=True)
        host: str = option("http://127.0.0.1:8188", "The server.", keyed=False, reaches="endpoint")
        negative: str | None = option(None, "The negative prompt; none: as in the file.")
        width: int | None = option(None, "Width in pixels; none: as in the file.")
        height: int | None = option(None, "Height in pixels; none: as in the file.")
        node: str = option("", "The node to use, if several save images.")

    about: ClassVar[About] = About(is_remote=True)
    options: Options

    def __init__(self, options: Options) -> None:
        super().__init__(options, f"comfyui/{options.workflow}", timeout_s=min(60.0, options.timeout_s))
        self._form = make_form(read_workflow(Path(options.workflow)), self._name)
        self._client_id = uuid.uuid4().hex

    @staticmethod
    def weights(options: Options) -> str:
        """The workflow's content: an edited workflow is another model."""
        try:
            return hashlib.sha256(Path(options.workflow).read_bytes()).hexdigest()
        except OSError:
            return ""  # The constructor reports the error.

    def _generate(self, request: RenderRequest) -> Ticket:
        prompt_id = self._queue(request)
        return Ticket(place=prompt_id, provenance=self._provenance(prompt_id=prompt_id))

    def _fetch(self, ticket: Ticket) -> Picture:
        prompt_id = ticket.place
        deadline, polls = time.monotonic() + self.options.timeout_s, itertools.count(1)
        while (entry := self._history(prompt_id)) is None:
            if time.monotonic() > deadline:
                raise self._failed(f"it took longer than {self.options.timeout_s:g} s")
            is_asked = next(polls) % _POLLS_PER_QUEUE == 0
            # The history again: it may have been done between the two.
            if is_asked and not self._is_queued(prompt_id) and self._history(prompt_id) is None:
                raise self._lost("the server does not know its job")
            time.sleep(_POLL_S)
        image = self._find_image(entry)
        query = {part: str(image.get(part, "")) for part in ("filename", "subfolder", "type")}
        try:
            content = self._client.get_bytes("/view", query)
        except UnusableError as error:
            if error.code == "model-not-found":
                raise self._lost("its file is gone") from error
            raise
        return picture_from_bytes(self._name, content)

    def _is_queued(self, prompt_id: str) -> bool:
        """Whether the server still has the job before it; True where it does not say."""
        try:
            queue: Any = self._client.get_json("/queue")
            jobs = [*queue["queue_running"], *queue["queue_pending"]]
            return any(prompt_id in job for job in jobs)
        except (BackendError, TypeError, KeyError):
            return True

    def _queue(self, request: RenderRequest) -> str:
        options = self.options
        values: dict[str, str | int | None] = {
            "prompt": request.prompt.text,
            "seed": request.seed,
            "negative": options.negative,
            "width": options.width,
            "height": options.height,
        }
        workflow = self._form.fill({name: value for name, value in values.items() if value is not None})
        body: Any = {"prompt": workflow, "client_id": self._client_id}
        try:
            answer: Any = self._client.post_json("/prompt", body)
        except BackendError as error:
            if "answered 400" in str(error):
                # The server checks a workflow before it queues it; another try would fail as well.
                why = f"the server cannot run this workflow ({error})"
                raise UnusableError(message("generation-failed", model=self._name, why=why)) from error
            raise
        prompt_id = answer.get("prompt_id") if isinstance(answer, dict) else None
        if not isinstance(prompt_id, str):
            raise self._failed(f"it queued nothing and answered {cut(answer, 200)!r}")
        return prompt_id

    def _history(self, prompt_id: str) -> dict[str, Any] | None:
        """The result of a queued workflow; None while it waits or runs."""
        answer: Any = self._client.get_json(f"/history/{prompt_id}")
        entry = answer.get(prompt_id) if isinstance(answer, dict) else None
        if not isinstance(entry, dict):
            return None
        status = entry.get("status") or {}
        if status.get("status_str") == "error":
            # Its history stays, so asking for the same job again would give the same error.
            raise LostError(message("generation-failed", model=self._name, why=_reason(status)))
        return entry if entry.get("outputs") or status.get("completed") else None

    def _find_image(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The image to use."""
        by_node = {
            node_id: [image for image in output.get("images", []) if isinstance(image, dict)]
            for node_id, output in entry.get("outputs", {}).items()
            if isinstance(output, dict)
        }
        nodes = (self.options.node,) if self.options.node else by_node
        every = [image for node in nodes for image in by_node.get(node, ())]
        # Previews have the type "temp".
        images = [image for image in every if image.get("type") == "output"] or every
        if len(images) != 1:
            why = f"it saved {len(images)} images (nodes {sorted(by_node)}); name one with --set model.node=ID"
            raise UnusableError(message("generation-failed", model=self._name, why=why))
        return images[0]

    def _failed(self, why: str) -> BackendError:
        return BackendError(message("generation-failed", model=self._name, why=why), is_retryable=False)


def _reason(status: dict[str, Any]) -> str:
    for event in status.get("messages", []):
        if isinstance(event, list) and len(event) == 2 and event[0] == "execution_error":
            node = event[1]
            return f"{node.get('node_type')} (node {node.get('node_id')}): {node.get('exception_message')}"[:300]
    return "no reason given"
