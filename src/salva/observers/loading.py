"""Finds, checks and loads a checkpoint of transformers, and runs it in batches.

Every defect (no such model, gated, incomplete, pickled, of another type) is one of salva's errors. Weights are
safetensors at a pinned revision; code from the hub is never run. Knows no boxes or vectors.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from salva.core.about import Habits
from salva.core.foreign_errors import one_line, translate_errors
from salva.core.options import option
from salva.errors import MissingExtraError, SalvaError
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.batching import BatchSizer
from salva.hardware.checkpoints import (
    Checkpoint,
    check_complete,
    check_weights,
    digest_of_files,
    hub_error,
    invalid_checkpoint,
    locate,
    quiet,
)
from salva.hardware.devices import DTYPES, choose_device, choose_dtype, own_queue

if TYPE_CHECKING:
    import torch

_PINNED = (".json", ".safetensors", ".txt", ".model", ".jinja")
_USUAL_ADVICE = "give one that save_pretrained wrote"
_ADVICE = {"florence2": "give florence-community/Florence-2-base or -large; microsoft's needs code from the hub"}
"""What to use in place of an incomplete checkpoint, by model type."""
_N_TYPES_SHOWN = 6
_FEW = 16
_Element = TypeVar("_Element")
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOptions:
    """Options of every component that loads a checkpoint."""

    model: str = option("", "A hub id, id@revision, or a folder written by save_pretrained.", target=True)
    device: str = option("auto", "auto, cpu, cuda, cuda:1 or mps.", keyed=False)
    dtype: str = option("auto", "Precision; auto is float32, for Florence-2 on a GPU half.", choices=DTYPES)
    batch_size: int = option(0, "Images at once; 0 for what fits.", keyed=False, least=0)


def pin(name: str, options: CheckpointOptions) -> str:
    """Identifies the weights: the commit of a hub id, or the digest of a folder's files."""
    checkpoint = locate(name, options.model)
    folder = checkpoint.folder
    if folder is None:
        return str(checkpoint.commit)
    files = (path for path in folder.iterdir() if path.suffix in _PINNED)
    return digest_of_files(files, folder, meanwhile=partial(_import_class, folder / "config.json"))


def _import_class(config: Path) -> None:
    """Import the model's class, which takes seconds, before it is loaded."""
    import transformers

    for name in json.loads(config.read_text(encoding="utf-8")).get("architectures") or ():
        getattr(transformers, str(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointKind:
    """The checkpoints that a component accepts, and how transformers loads them."""

    model_class: str
    processor_class: str = ""
    """Empty if no processor is used."""
    model_types: tuple[str, ...] | str
    """The accepted model_type of config.json, or the name of a table of transformers' auto models."""
    can_halve: bool = False
    """Whether half precision is enough; coordinates and vectors lose digits by it."""
    unread: tuple[str, ...] = ()
    """Prefixes of weights that no output depends on, so that a checkpoint may lack them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model on its device."""

    model: Any
    processor: Any
    device: str
    dtype: torch.dtype


def load(name: str, options: CheckpointOptions, kind: CheckpointKind) -> LoadedModel:
    """The model and processor of a checkpoint; name: the component, for messages."""
    BACKGROUND_IMPORTS.wait()
    try:
        import torch
        import transformers
        from transformers.models.auto import modeling_auto
    except ImportError as error:
        raise MissingExtraError(name, "torch") from error

    table = kind.model_types
    accepted = sorted(getattr(modeling_auto, table) if isinstance(table, str) else table)
    checkpoint = locate(name, options.model)
    if checkpoint.folder is not None:
        check_weights(name, checkpoint.folder)
    device = choose_device(options.device)
    wanted = "float32" if options.dtype == "auto" and not kind.can_halve else options.dtype
    dtype: torch.dtype = getattr(torch, choose_dtype(wanted, device))
    with translate_errors(partial(_translate, name, options.model, checkpoint)), quiet(transformers):
        where = {"revision": checkpoint.commit, "trust_remote_code": False}
        config, _ = transformers.PreTrainedConfig.get_config_dict(checkpoint.source, revision=checkpoint.commit)
        model_type = str(config.get("model_type", ""))
        if model_type not in accepted:
            why = f"its type is {model_type!r}; accepted: {', '.join(accepted[:_N_TYPES_SHOWN])}"
            raise invalid_checkpoint(name, options.model, why)
        processor = None
        if kind.processor_class:
            processor = getattr(transformers, kind.processor_class).from_pretrained(checkpoint.source, **where)
        model, info = getattr(transformers, kind.model_class).from_pretrained(
            checkpoint.source,
            **where,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            # check_complete reports these, with the names of the weights.
            ignore_mismatched_sizes=True,
        )
    info["missing_keys"] = [key for key in info["missing_keys"] if not key.startswith(kind.unread)]
    check_complete(name, options.model, model_type, info, _ADVICE.get(model_type, _USUAL_ADVICE))
    model.requires_grad_(False)
    # This model's own imports are done: those of other components can follow in the background.
    BACKGROUND_IMPORTS.begin_planned()
    return LoadedModel(model=model.to(device).eval(), processor=processor, device=device, dtype=dtype)


def _translate(name: str, target: str, checkpoint: Checkpoint, error: Exception) -> SalvaError:
    """The error of transformers as one of salva's; transformers raises OSError, ValueError and others for one cause."""
    text = str(error)
    if isinstance(error, ImportError):
        return invalid_checkpoint(name, target, f"it needs a package that is not installed ({one_line(error)})")
    if checkpoint.folder is None and ("huggingface_hub" in type(error).__module__ or "connect" in text.lower()):
        return hub_error(name, target, str(checkpoint.commit), error)
    if "safetensors" in text and "file named" in text:
        return invalid_checkpoint(name, target, "it has no safetensors weights")
    return invalid_checkpoint(name, target, f"{type(error).__name__}: {one_line(error)}")


class Batches:
    """Calls to a model in batches that fit its device, one at a time on the device.

    Half of a call (copying pixels, reading answers) runs on the CPU: with a GPU two calls may run at once, and
    `on_device` separates their model parts. A model that writes text waits for the GPU at every word, so it has a queue
    of its own with priority.
    """

    def __init__(
        self,
        name: str,
        options: CheckpointOptions,
        loaded: LoadedModel,
        *,
        limit: int,
        detail: str = "",
        is_compiled: bool = False,
    ) -> None:
        self._is_gpu = loaded.device != "cpu"
        # A CPU is no faster with batches, and a single image cannot depend on its batch.
        default = limit if self._is_gpu else 1
        self.habits = Habits(batch_size=options.batch_size or default, depth=2 if self._is_gpu else 1)
        self.on_device = threading.Lock()
        self._queue = own_queue(loaded.device)
        # Every size is compiled separately, which is slow: then there are two, few and full.
        self._shapes = (_FEW,) if is_compiled else tuple(1 << i for i in range(16))
        # A size found without an explicit limit does not count where one is set.
        limited = f", {options.batch_size} at once" if options.batch_size else ""
        self._sizer = BatchSizer(
            f"{name} {Path(options.model).name} {detail} {loaded.dtype}{' compiled' if is_compiled else ''}{limited}",
            start=self.habits.batch_size if options.batch_size or is_compiled else min(_FEW, default),
            limit=self.habits.batch_size,
            device=loaded.device,
            name=f"{name} with {options.model!r}",
            advice="use a smaller model or device=cpu",
        )

    def run(
        self, call: Callable[[Sequence[_Element]], Sequence[_Outcome]], elements: Sequence[_Element]
    ) -> list[_Outcome]:
        """One outcome per element. On a GPU a call gets 1, 2, 4, 8 ... elements, padded with copies of the last.

        With few shapes (two if compiled) no kernels are tuned or compiled for odd batches, and apart from rounding no
        observation depends on the batch.
        """

        def fill(part: Sequence[_Element]) -> Sequence[_Outcome]:
            fitting = [n for n in (*self._shapes, self._sizer.size) if n >= len(part)] if self._is_gpu else []
            with self._queue():
                return call([*part, *([part[-1]] * (min(fitting, default=len(part)) - len(part)))])[: len(part)]

        return self._sizer.run(fill, elements)
