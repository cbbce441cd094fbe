"""Loads a checkpoint of transformers: found, checked, loaded, run in batches.

Whatever can be wrong with it (no such model, gated, half there, pickled, made for something else) leaves here as one
of our errors. Weights are safetensors at a pinned revision; code from the hub is never run. Knows nothing of boxes
or vectors.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from salva.core.about import Habits
from salva.core.foreign_errors import one_line, translate_errors
from salva.core.options import option
from salva.errors import MissingExtraError, SalvaError, UsageError
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.batching import BatchSizer
from salva.hardware.checkpoints import (
    Checkpoint,
    check_complete,
    check_weights,
    digest_of_files,
    hub_error,
    locate,
    quiet,
)
from salva.hardware.devices import DTYPES, choose_device, choose_dtype, own_queue
from salva.messages import message

if TYPE_CHECKING:
    import torch

_PINNED = (".json", ".safetensors", ".txt", ".model", ".jinja")
_FEW = 16
_Element = TypeVar("_Element")
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOptions:
    """What every component that loads a checkpoint lets one set."""

    model: str = option(
        "", "The checkpoint: a hub id, id@revision, or a folder that save_pretrained wrote.", target=True
    )
    device: str = option("auto", "auto, cpu, cuda, cuda:1 or mps.", keyed=False)
    dtype: str = option("auto", "Precision: auto is float32, and half for Florence-2 on a GPU.", choices=DTYPES)
    batch_size: int = option(0, "Pictures at once, at most; 0 finds out what fits.", keyed=False)

    def __post_init__(self) -> None:
        if self.batch_size < 0:
            raise ValueError(
                message(
                    "option-invalid", name="batch_size", value=self.batch_size, wanted="1 or more, or 0 to find out"
                )
            )


def pin(name: str, options: CheckpointOptions) -> str:
    """The weights as a short string: the commit of a hub id, or the digest of a folder's files."""
    checkpoint = locate(name, options.model)
    folder = checkpoint.folder
    if folder is None:
        return str(checkpoint.commit)
    files = (path for path in folder.iterdir() if path.suffix in _PINNED)
    return digest_of_files(files, folder, meanwhile=partial(_import_class, folder / "config.json"))


def _import_class(config: Path) -> None:
    """What a checkpoint says that it is, imported before it is loaded: a model's class takes seconds."""
    import transformers

    for name in json.loads(config.read_text(encoding="utf-8")).get("architectures") or ():
        getattr(transformers, str(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model on its device."""

    model: Any
    processor: Any
    device: str
    dtype: torch.dtype


def load(
    name: str,
    options: CheckpointOptions,
    *,
    model_class: str,
    processor_class: str = "",
    model_types: Collection[str],
    purpose: str,
    can_halve: bool = False,
    unread: tuple[str, ...] = (),
) -> Loaded:
    """The model and processor of a checkpoint.

    name: the component, for messages. processor_class: empty where its files say nothing that is used.
    model_types: what config.json may call itself. purpose: what such models are.
    can_halve: whether half precision is good enough for what it gives; coordinates and vectors lose digits by it.
    unread: how weights begin that no answer depends on, so that a checkpoint may lack them.
    """
    BACKGROUND_IMPORTS.wait()
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(name, "torch") from error

    checkpoint = locate(name, options.model)
    if checkpoint.folder is not None:
        check_weights(name, checkpoint.folder)
    device = choose_device(options.device)
    wanted = "float32" if options.dtype == "auto" and not can_halve else options.dtype
    dtype: torch.dtype = getattr(torch, choose_dtype(wanted, device))
    with translate_errors(partial(_translate, name, options.model, checkpoint)), quiet(transformers):
        where = {"revision": checkpoint.commit, "trust_remote_code": False}
        config, _ = transformers.PreTrainedConfig.get_config_dict(checkpoint.source, revision=checkpoint.commit)
        kind = str(config.get("model_type", ""))
        if kind not in model_types:
            known = ", ".join(sorted(model_types)[:6])
            raise _invalid(name, options.model, f"its type is {kind!r}; wanted is {purpose} ({known})")
        processor = (
            getattr(transformers, processor_class).from_pretrained(checkpoint.source, **where)
            if processor_class
            else None
        )
        model, info = getattr(transformers, model_class).from_pretrained(
            checkpoint.source,
            **where,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            # Told by check_complete, in words that name the weights.
            ignore_mismatched_sizes=True,
        )
    info["missing_keys"] = [key for key in info["missing_keys"] if not key.startswith(unread)]
    check_complete(name, options.model, kind, info, _NATIVE.get(kind, _WRITTEN_ANEW))
    model.requires_grad_(False)
    # All that it needs is imported: what others need can be, while it is tried.
    BACKGROUND_IMPORTS.begin_planned()
    return Loaded(model=model.to(device).eval(), processor=processor, device=device, dtype=dtype)


_WRITTEN_ANEW = "give one that save_pretrained wrote"
_NATIVE = {
    "florence2": "give florence-community/Florence-2-base (or -large), since microsoft's needs code from the hub",
}


def _translate(name: str, target: str, checkpoint: Checkpoint, error: Exception) -> SalvaError:
    """What transformers raises while loading, in our words: OSError, ValueError and others for one cause."""
    text = str(error)
    if isinstance(error, ImportError):
        return _invalid(name, target, f"it needs a package that is not installed ({one_line(error)})")
    if checkpoint.folder is None and ("huggingface_hub" in type(error).__module__ or "connect" in text.lower()):
        return hub_error(name, target, str(checkpoint.commit), error)
    if "safetensors" in text and "file named" in text:
        return _invalid(name, target, "it has no safetensors weights")
    return _invalid(name, target, f"{type(error).__name__}: {one_line(error)}")


def _invalid(name: str, model: str, why: str) -> UsageError:
    return UsageError(message("checkpoint-invalid", component=name, model=model, why=why))


class Batches:
    """Calls to a model in batches that fit its device, one at a time on the device.

    Half the work of a call (copying pixels, reading answers) is the processor's: with a GPU two calls are let in at
    once, and `on_device` keeps their model parts apart. Who writes word by word waits for the GPU at every word: in a
    queue of its own, and ahead of others, or each word would wait for pictures that somebody else has ordered.
    """

    def __init__(
        self,
        name: str,
        options: CheckpointOptions,
        loaded: Loaded,
        *,
        limit: int,
        detail: str = "",
        is_compiled: bool = False,
    ) -> None:
        self._is_gpu = loaded.device != "cpu"
        # Batches make a processor no faster, and alone a picture cannot depend on its neighbours.
        default = limit if self._is_gpu else 1
        self.habits = Habits(batch_size=options.batch_size or default, depth=2 if self._is_gpu else 1)
        self.on_device = threading.Lock()
        self._queue = own_queue(loaded.device)
        # Every size is compiled anew, which takes longer than many a run: then there are two, few and full.
        self._shapes = (_FEW,) if is_compiled else tuple(1 << i for i in range(16))
        # What was found out without a wish says nothing against one.
        asked = f", {options.batch_size} at once" if options.batch_size else ""
        self._sizer = BatchSizer(
            f"{name} {Path(options.model).name} {detail} {loaded.dtype}{' compiled' if is_compiled else ''}{asked}",
            start=self.habits.batch_size if options.batch_size or is_compiled else min(_FEW, default),
            limit=self.habits.batch_size,
            device=loaded.device,
            name=f"{name} with {options.model!r}",
            advice="use a smaller model or device=cpu",
        )

    def run(
        self, call: Callable[[Sequence[_Element]], Sequence[_Outcome]], elements: Sequence[_Element]
    ) -> list[_Outcome]:
        """One outcome per element. On a GPU a call gets 1, 2, 4, 8 ... elements, filled up with copies of the last.

        A few shapes (two where the model is compiled) mean a few sets of kernels: nothing is tuned or compiled anew for
        the odd rest of a batch, and what is seen in a picture does not depend on how many came with it, but for the
        last digits.
        """

        def fill(part: Sequence[_Element]) -> Sequence[_Outcome]:
            fitting = [n for n in (*self._shapes, self._sizer.size) if n >= len(part)] if self._is_gpu else []
            with self._queue():
                return call([*part, *([part[-1]] * (min(fitting, default=len(part)) - len(part)))])[: len(part)]

        return self._sizer.run(fill, elements)
