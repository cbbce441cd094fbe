"""Asks a judge again until its reply can be read; shared by all judges that reply in words.

From a query and replies to an Answer with the last reply, the cost of all attempts, and a problem if even the last
reply could not be read. Knows no endpoint.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from salva.core.about import Habits
from salva.core.image import Picture
from salva.core.observation import Answer
from salva.core.options import endpoint_label, option
from salva.core.protocols import Query
from salva.errors import RefusedError
from salva.imaging.files import as_image
from salva.judges.prompts import JudgePrompt, judge_prompt, retry_text
from salva.judges.replies import read_reply
from salva.judges.rubrics import RUBRICS
from salva.judges.score_templates import PRESETS, prompt_pin
from salva.remote.errors import invalid
from salva.remote.keys import key_option
from salva.remote.urls import check_url

Price = tuple[float, float]
"""US dollars for a million tokens read, and for a million written."""

MAX_TOKENS_HELP = "Longest reply in tokens."
SIDE_HELP = "Images are scaled down to this side; 0 for never."
_LONGEST_REPLY = 2**20
"""Characters: replies are stored."""


@dataclass(frozen=True, kw_only=True)  # No slots: LocalVlmOptions has a second base.
class InterviewOptions:
    """Options of every judge that replies in words."""

    explain: bool = option(True, "Ask for a short explanation first.")
    attempts: int = option(3, "Attempts to get a reply that can be read.", keyed=False, least=1)
    max_tokens: int = option(1024, MAX_TOKENS_HELP, least=1)
    rubric: str = option("", "Replaces the suite's rubric for grades.", choices=("", *RUBRICS))
    side: int = option(1024, SIDE_HELP, least=0)
    prompt: str = option(
        "",
        f"The prompt for scores: {', '.join(PRESETS)}, or a file with {{prompt}} in it.",
        reaches="file",
        keywords=tuple(PRESETS),
        pinned=prompt_pin,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(InterviewOptions):
    """Options of every judge at an endpoint."""

    model: str = option("", "The model's name at the endpoint.", target=True)
    base_url: str = option(
        "",
        "The endpoint; empty for OPENAI_BASE_URL and the like, else the provider's own.",
        reaches="endpoint",
    )
    endpoint: str = endpoint_label()
    key_env: str = key_option()
    structured: str = option(
        "auto",
        "Bind replies to a JSON schema; auto: unless refused.",
        choices=("auto", "on", "off"),
    )
    temperature: float | None = option(0.0, "Omitted if none, or refused by the model.")
    usd_per_million_input: float | None = option(None, "Price of a million tokens read.", keyed=False)
    usd_per_million_output: float | None = option(None, "Price of a million tokens written.", keyed=False)
    max_at_once: int = option(128, "Most concurrent requests.", keyed=False)
    timeout_s: float = option(120.0, "Time limit of a request.", keyed=False)

    def __post_init__(self) -> None:
        check_url("base_url", self.base_url, "set it in the environment instead")

    def price(self) -> Price | None:
        """The price, if both parts are known."""
        if self.usd_per_million_input is None or self.usd_per_million_output is None:
            return None
        return self.usd_per_million_input, self.usd_per_million_output

    def habits(self) -> Habits:
        """The executor's limits; the time covers all attempts."""
        return Habits(max_at_once=self.max_at_once, timeout_s=self.timeout_s * self.attempts + 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """A reply of a judge."""

    text: str
    snapshot: str = ""
    n_input: int | None = None
    n_output: int | None = None
    is_cut_off: bool = False
    """Whether the reply was too long."""
    refusal: str = ""
    """Why the judge refused; empty if it did not. A refusal costs like any reply."""


class SchemaRefusedError(Exception):
    """The endpoint refused to bind its reply to a schema; caught in endpoint_judge.py."""


class Interview:
    """One query: the prompts so far, and how each reply is read."""

    def __init__(self, query: Query, options: InterviewOptions, price: Price | None = None, template: str = "") -> None:
        self.turns: list[tuple[str, str]] = []
        """Replies that could not be read, each with the prompt that followed."""
        self._query, self._options, self._price, self._template = query, options, price, template
        self._replies: list[JudgeReply] = []

    def prompt(self, is_structured: bool) -> JudgePrompt:
        """The prompt of the query."""
        options = self._options
        return judge_prompt(
            self._query,
            is_structured=is_structured,
            explains=options.explain,
            rubric=options.rubric,
            template=self._template,
        )

    def receive(self, reply: JudgeReply) -> Answer | None:
        """The answer, if the reply can be read or the attempts are used up; None to ask again."""
        self._replies.append(reply)
        n_letters = len(reply.text) + len(reply.snapshot) + len(reply.refusal)
        if n_letters > _LONGEST_REPLY:
            raise invalid("the judge", f"{n_letters:,} characters", f"at most {_LONGEST_REPLY:,}")
        if reply.refusal:
            raise RefusedError(reply.refusal)
        parsed = read_reply(self._query, reply.text)
        problem = f"the reply was cut off at {self._options.max_tokens} tokens" if reply.is_cut_off else parsed.problem
        if problem and len(self._replies) < self._options.attempts:
            self.turns.append((reply.text, retry_text(problem)))
            return None
        return Answer(
            text="" if problem else parsed.text,
            scores={} if problem else parsed.scores,
            reply=reply.text,
            problem=f"{problem} (asked {len(self._replies)} times)" if problem else "",
            usage=self.usage(),
            snapshot=reply.snapshot,
            reasons={} if problem else parsed.reasons,
        )

    def usage(self) -> dict[str, float]:
        """The cost of all replies so far; a value that is unknown for one of them is left out."""
        if not self._replies:
            return {}
        usage = {"n_calls": float(len(self._replies))}
        by_name = {
            "input_tokens": [reply.n_input for reply in self._replies],
            "output_tokens": [reply.n_output for reply in self._replies],
        }
        for name, counts in by_name.items():
            known = [count for count in counts if count is not None]
            if len(known) == len(counts):
                usage[name] = float(sum(known))
        if self._price is not None and usage.keys() >= by_name.keys():
            usage["cost_usd"] = (usage["input_tokens"] * self._price[0] + usage["output_tokens"] * self._price[1]) / 1e6
        return usage


def limit_side(picture: Picture, side: int) -> Picture:
    """The image with its longer side at most this; 0 for no limit."""
    if not side or max(picture.width, picture.height) <= side:
        return picture

    scale = side / max(picture.width, picture.height)
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    smaller = as_image(picture).resize(size, Image.Resampling.LANCZOS)
    return Picture(rgb=smaller.tobytes(), width=smaller.width, height=smaller.height)
