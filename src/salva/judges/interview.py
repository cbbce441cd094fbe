"""Asking a judge until its reply can be read: the talk that all judges who reply in words share.

A query and somebody to talk to come in; an Answer goes out, with the reply kept, its cost counted over all attempts,
and a problem where even the last reply could not be read. Knows no endpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.observation import Answer
from salva.core.options import endpoint_label, option
from salva.core.protocols import Query
from salva.errors import RefusedError
from salva.judges.own_prompts import PRESETS, prompt_pin
from salva.judges.prompts import JudgePrompt, judge_prompt, retry_text
from salva.judges.replies import read_reply
from salva.judges.rubrics import RUBRICS
from salva.remote.urls import check_url

Price = tuple[float, float]
"""US dollars for a million tokens read, and for a million written."""
AT_AN_ENDPOINT = About(is_remote=True, priced_by=("usd_per_million_input", "usd_per_million_output"))
"""What every judge at an endpoint says of itself."""


MAX_TOKENS_HELP = "Longest reply, in tokens."
SIDE_HELP = "Longer sides of images are scaled down to this; 0 for never."


def prompt_option() -> Any:
    """The option with which a user says in own words how a score is asked for, of every judge who replies in words."""
    return option(
        "",
        f"The prompt for scores: a file with {{prompt}} in place of the text, or {', '.join(PRESETS)}.",
        reaches="file",
        keywords=tuple(PRESETS),
        pinned=prompt_pin,
        kind="score",
    )


@dataclass(frozen=True, kw_only=True)  # no slots: options of a checkpoint join them
class InterviewOptions:
    """What every judge who replies in words lets one set."""

    explain: bool = option(True, "Ask for a short explanation first.")
    attempts: int = option(3, "How often to ask when a reply cannot be read.", keyed=False, least=1)
    max_tokens: int = option(1024, MAX_TOKENS_HELP, least=1)
    rubric: str = option("", "How to grade, in place of the suite's rubric.", choices=("", *RUBRICS), kind="grade")
    side: int = option(1024, SIDE_HELP, least=0)
    prompt: str = prompt_option()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(InterviewOptions):
    """What every judge at an endpoint lets one set."""

    model: str = option("", "The model's name at the endpoint.", target=True)
    base_url: str = option(
        "",
        "The endpoint; empty for OPENAI_BASE_URL and the like, else the maker's own.",
        reaches="endpoint",
    )
    endpoint: str = endpoint_label()
    structured: str = option(
        "auto",
        "Bind the reply to a JSON schema; auto: until the endpoint refuses one.",
        choices=("auto", "on", "off"),
    )
    temperature: float | None = option(0.0, "Left out when the model refuses it; none never sends it.")
    usd_per_million_input: float | None = option(None, "Price of a million tokens read.", keyed=False)
    usd_per_million_output: float | None = option(None, "Price of a million tokens written.", keyed=False)
    max_at_once: int = option(128, "Most concurrent requests.", keyed=False)
    timeout_s: float = option(120.0, "Time limit of a request.", keyed=False)

    def __post_init__(self) -> None:
        check_url("base_url", self.base_url, "set it in the environment instead")

    def price(self) -> Price | None:
        """US dollars for a million tokens read and written, when both are known."""
        if self.usd_per_million_input is None or self.usd_per_million_output is None:
            return None
        return self.usd_per_million_input, self.usd_per_million_output

    def habits(self) -> Habits:
        """How the executor is to call: its limit must leave time for all attempts."""
        return Habits(max_at_once=self.max_at_once, timeout_s=self.timeout_s * self.attempts + 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """What came back."""

    text: str
    snapshot: str = ""
    n_input: int | None = None
    n_output: int | None = None
    is_cut_off: bool = False
    """Whether the reply ended because it was too long."""
    refusal: str = ""
    """Why it would not judge; empty where it did. It is paid for like any other."""


class SchemaRefusedError(Exception):
    """The endpoint would not bind its reply to a schema; never leaves this room."""


class Interview:
    """One query on its way to an answer: what to say next, and what to make of each reply."""

    def __init__(self, query: Query, options: InterviewOptions, price: Price | None = None, own: str = "") -> None:
        self.turns: list[tuple[str, str]] = []
        """Replies that could not be read, and what was said to each."""
        self._query, self._options, self._price, self._own = query, options, price, own
        self._replies: list[JudgeReply] = []

    def prompt(self, is_structured: bool) -> JudgePrompt:
        """The query in words."""
        options = self._options
        asked = {"is_structured": is_structured, "explains": options.explain}
        return judge_prompt(self._query, **asked, rubric=options.rubric, own=self._own)

    def receive(self, reply: JudgeReply) -> Answer | None:
        """The answer, when the reply can be read or the attempts are used up; None to ask again."""
        self._replies.append(reply)
        if reply.refusal:
            raise RefusedError(reply.refusal)
        read = read_reply(self._query, reply.text)
        problem = f"the reply was cut off at {self._options.max_tokens} tokens" if reply.is_cut_off else read.problem
        if problem and len(self._replies) < self._options.attempts:
            self.turns.append((reply.text, retry_text(problem)))
            return None
        return Answer(
            text="" if problem else read.text,
            scores={} if problem else read.scores,
            reply=reply.text,
            problem=f"{problem} (asked {len(self._replies)} times)" if problem else "",
            usage=self.usage(),
            snapshot=reply.snapshot,
            reasons={} if problem else read.reasons,
        )

    def usage(self) -> dict[str, float]:
        """What all the replies so far cost together."""
        return _usage(self._replies, self._price) if self._replies else {}


def _usage(replies: Sequence[JudgeReply], price: Price | None) -> dict[str, float]:
    """What all the replies cost together; what is not known of one is not known of all."""
    usage = {"n_calls": float(len(replies))}
    n_input = [reply.n_input for reply in replies if reply.n_input is not None]
    n_output = [reply.n_output for reply in replies if reply.n_output is not None]
    if len(n_input) == len(replies):
        usage["input_tokens"] = float(sum(n_input))
    if len(n_output) == len(replies):
        usage["output_tokens"] = float(sum(n_output))
    if price is not None and {"input_tokens", "output_tokens"} <= usage.keys():
        usage["cost_usd"] = (usage["input_tokens"] * price[0] + usage["output_tokens"] * price[1]) / 1e6
    return usage


def sized(picture: Picture, side: int) -> Picture:
    """The image with its longer side at most this; 0 leaves it as it is."""
    if not side or max(picture.width, picture.height) <= side:
        return picture
    from PIL import Image

    from salva.imaging.files import as_image

    scale = side / max(picture.width, picture.height)
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    smaller = as_image(picture).resize(size, Image.Resampling.LANCZOS)
    return Picture(rgb=smaller.tobytes(), width=smaller.width, height=smaller.height)
