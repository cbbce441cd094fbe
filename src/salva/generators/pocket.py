"""Generator: pocket, a small text-to-image model in the wheel, on the CPU.

A prompt and a seed give an image of 96 pixels; the formula is never used. A few steps lead along a flow from noise to
image, each one pass of the canvas network. All batches have one size, so that no image depends on its batch. training/
made the weights.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from salva.assets.files import asset_digest, asset_path, read_asset
from salva.core.about import About, Habits
from salva.core.case import Prompt
from salva.core.fingerprint import Json
from salva.core.foreign_errors import translate_errors
from salva.core.image import Picture
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, SalvaError, UsageError
from salva.generators.pocket_words import Vocabulary, read_words
from salva.hardware.checkpoints import digest_of_files, invalid_checkpoint
from salva.hardware.cores import n_cores
from salva.hardware.networks import open_network
from salva.messages import message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEMBERS = ("pocket", "tuned", "small", "early")
"""The family, best first by held-out loss; all but the first are in a folder of their name."""
_NAMES = ("painter-text.onnx", "painter-canvas.onnx", "painter.json")
_CARD_KEYS = {
    *("side", "batch", "max_tokens", "times", "words", "pad", "start", "end", "unknown", "things", "colours"),
}
_MOST_STEPS = 64
_MOST_THREADS = 4
"""Each generates its own batch, which takes 12 MB an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PocketOptions:
    """What can be set with --set model.NAME=VALUE."""

    member: str = option(
        MEMBERS[0], "The best model, one tuned, one smaller, or one stopped early.", choices=MEMBERS, target=True
    )
    steps: int = option(0, "Passes of the network for one image; 0 for its default.", least=0, most=_MOST_STEPS)
    unknown: str = option("error", "Fail on unknown words, or ignore them.", choices=("error", "ignore"))
    weights: str = option("", f"A folder of other weights: {', '.join(_NAMES)}.", reaches="file")

    def __post_init__(self) -> None:
        if self.weights and self.member != MEMBERS[0]:
            values = {"first": f"pocket/{self.member}", "second": f"model.weights={self.weights}"}
            raise UsageError(message("options-conflict", **values, why="they name two models"))


class Pocket:
    """A small text-to-image model with real failures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(seeds_hold=True, defaults={"detector": "pocket"})
    Options: ClassVar[type[PocketOptions]] = PocketOptions

    def __init__(self, options: PocketOptions) -> None:
        text, canvas, card_file = _files(options)
        card = _read_card(card_file)
        self._text, self._canvas = _session(text), _session(canvas)
        self._vocabulary = _vocabulary(card)
        self._batch, self._side = int(card["batch"]), int(card["side"])
        self._times = step_times(card["times"], options.steps)
        self._ignores_unknown = options.unknown == "ignore"
        self.habits = Habits(batch_size=8, depth=min(_MOST_THREADS, n_cores()))

    @classmethod
    def weights(cls, options: PocketOptions) -> str:
        """The digest of the trained files."""
        if options.weights:
            files = _files(options)
            return digest_of_files(files, files[0].parent)
        digests = "".join(asset_digest(name) for name in _asset_names(options.member))
        return hashlib.sha256(digests.encode()).hexdigest()[:16]

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        outcomes: dict[int, Rendered | SalvaError] = {}
        rows: dict[int, list[int]] = {}
        unknown: dict[int, tuple[str, ...]] = {}
        for i, request in enumerate(requests):
            read = self._read(request.prompt)
            if isinstance(read, SalvaError):
                outcomes[i] = read
            else:
                rows[i], unknown[i] = read
        readable = list(rows)
        for first in range(0, len(readable), self._batch):
            some = readable[first : first + self._batch]
            try:
                with translate_errors(partial(_failure, len(some))):
                    pictures = self._generate([rows[i] for i in some], [requests[i].seed for i in some])
            except BackendError as failure:
                outcomes |= dict.fromkeys(some, failure)
                continue
            for i, picture in zip(some, pictures, strict=True):
                words: dict[str, Json] = {"unknown_words": [*unknown[i]]} if unknown[i] else {}
                outcomes[i] = Rendered(picture=picture, provenance={"steps": len(self._times) - 1, **words})
        return [outcomes[i] for i in range(len(requests))]

    def _read(self, prompt: Prompt) -> tuple[list[int], tuple[str, ...]] | BackendError:
        """The prompt's word numbers, and its unknown words."""
        words, most = read_words(prompt.text), self._vocabulary.most_words
        unknown = self._vocabulary.unknown_words(words)
        if prompt.passes_over:
            words = [word for word in words if word not in unknown]
        if len(words) > most:
            values = {"component": "pocket", "limit": most, "text": f"{prompt.text[:40]!r}...", "n": len(words)}
            return BackendError(message("too-many-tokens", **values, instead="Shorten it."), is_retryable=False)
        if unknown and not (prompt.passes_over or self._ignores_unknown):
            return BackendError(self._vocabulary.unknown_message(unknown), is_retryable=False)
        return self._vocabulary.encode(words), unknown

    def _generate(self, rows: Sequence[Sequence[int]], seeds: Sequence[int]) -> list[Picture]:
        """The images of one batch; unused places are filled with the empty sentence."""
        import numpy as np

        empty = self._vocabulary.encode([])
        tokens = np.zeros((self._batch, self._vocabulary.max_tokens), np.int64)
        x = np.zeros((self._batch, 3, self._side, self._side), np.float32)
        for i, row in enumerate([*rows, *[empty] * (self._batch - len(rows))]):
            tokens[i, : len(row)] = row
        for i, seed in enumerate(seeds):
            x[i] = starting_noise(seed, self._side)
        words, bias, sentence = self._text.run(None, {"tokens": tokens})
        for t, t_next in itertools.pairwise(self._times):
            now = np.full(self._batch, t, np.float32)
            fed = {"x": x, "t": now, "words": words, "bias": bias, "sentence": sentence}
            x = x + np.float32(t_next - t) * self._canvas.run(None, fed)[0]
        pixels = ((x[: len(rows)].clip(-1, 1) + 1) * 127.5).round().astype(np.uint8).transpose(0, 2, 3, 1)
        return [Picture(rgb=image.tobytes(), width=self._side, height=self._side) for image in pixels]


def starting_noise(seed: int, side: int) -> NDArray[np.float32]:
    """The noise of a seed; all wordings of a case start from the same."""
    import numpy as np

    generator = np.random.Generator(np.random.Philox(seed % 2**64))
    return generator.standard_normal((3, side, side), np.float32)


def _failure(n_prompts: int, error: Exception) -> BackendError:
    """Exceptions of onnxruntime, which share no base class."""
    why = f"the network failed on {n_prompts} prompts ({error})"
    return BackendError(message("generation-failed", model="pocket", why=why))


def _asset_names(member: str) -> list[str]:
    folder = "pocket" if member == MEMBERS[0] else f"pocket/{member}"
    return [f"{folder}/{name}" for name in _NAMES]


def _files(options: PocketOptions) -> tuple[Path, Path, Path]:
    """The text network, the canvas network and the card."""
    if options.weights:
        folder = Path(options.weights).expanduser()
        if missing := [name for name in _NAMES if not (folder / name).is_file()]:
            raise invalid_checkpoint("pocket", folder, f"it has no {' and no '.join(missing)}")
        text, canvas, card = (folder / name for name in _NAMES)
        return text, canvas, card
    names = _asset_names(options.member)
    for name in names:
        read_asset(name)  # Only checked: a network opened from bytes would be in memory twice.
    text, canvas, card = map(asset_path, names)
    return text, canvas, card


def _session(path: Path) -> Any:
    # One core a batch: two cores are faster on two batches than on one, and sums do not depend on the number of cores.
    # Planned memory is no faster and takes 90 MB more. An arena of the text network would mostly be idle.
    with translate_errors(lambda error: invalid_checkpoint("pocket", path, f"it cannot be loaded ({error})")):
        return open_network(path, threads=1, enable_mem_pattern=False, enable_cpu_mem_arena=path.name != _NAMES[0])


def step_times(own: Sequence[float], n_steps: int) -> list[float]:
    """The times of the steps, from 1 (noise) to 0 (image); any number of steps lies on the same curve."""
    import numpy as np

    if n_steps in (0, len(own) - 1):
        return [float(t) for t in own]
    wanted = np.linspace(0, len(own) - 1, n_steps + 1)
    return [float(t) for t in np.interp(wanted, np.arange(len(own)), own)]


def _vocabulary(card: dict[str, Any]) -> Vocabulary:
    special = {card[name] for name in ("pad", "start", "end", "unknown")}
    return Vocabulary(
        numbers={word: i for i, word in enumerate(card["words"]) if i not in special},
        entities=tuple(card["things"]),
        colours=tuple(card["colours"]),
        max_tokens=int(card["max_tokens"]),
        start=int(card["start"]),
        end=int(card["end"]),
        unknown=int(card["unknown"]),
    )


def _read_card(path: Path) -> dict[str, Any]:
    """A card with all required keys."""
    try:
        card = json.loads(path.read_bytes())
        missing = _CARD_KEYS - set(card)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error)) from error
    if missing:
        raise invalid_checkpoint("pocket", path, f"it lacks {', '.join(sorted(missing))}")
    return dict(card)
