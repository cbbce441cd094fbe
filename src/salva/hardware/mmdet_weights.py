"""mmdet's Mask2Former checkpoint to a folder that transformers loads: GenEval's own weights, without mmdet.

Reads tensors and plain values alone; whatever else a pickle asks for is refused. The folder is made under another
name, loaded once to see that nothing lacks, and only then given its own.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salva.core.foreign_errors import one_line
from salva.errors import MissingExtraError, UsageError
from salva.files.outfiles import cannot_write
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.checkpoints import check_complete, quiet
from salva.hardware.mmdet_names import GENEVAL, UNREAD, Shape, is_unused, moves
from salva.hardware.origins import write_origin
from salva.messages import message

if TYPE_CHECKING:
    import torch

NAME = "geneval-weights"
_N_NAMED = 5


def convert(file: Path, folder: Path, class_names: Sequence[str]) -> str:
    """Make the folder from the file; what comes back is the file's sha256."""
    BACKGROUND_IMPORTS.wait()
    try:
        import safetensors.torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(NAME, "torch") from error

    if folder.exists():
        raise UsageError(message("output-exists", path=str(folder)))
    sha256, state = _digest(file), _read(file)
    weights = _moved(state, GENEVAL, file)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        transformers.Mask2FormerConfig(**_config(GENEVAL, class_names, transformers)).save_pretrained(made)
        safetensors.torch.save_file(weights, made / "model.safetensors", metadata={"format": "pt"})
        _check(made, file, transformers)
        write_origin(made, file.name, sha256)
        made.chmod(0o755)
        made.rename(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return sha256


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(message("file-unreadable", path=str(file), why=error.strerror)) from error


def _read(file: Path) -> Mapping[str, torch.Tensor]:
    """The weights in a file of torch, nothing of which is run."""
    import torch

    try:
        with torch.serialization.safe_globals(_numbers()):
            stored = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise _wrong(file, "it is no torch file, or holds more than tensors and plain values") from error
    except (RuntimeError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _wrong(file, f"it is damaged or no torch file ({one_line(error)})") from error
    state = stored.get("state_dict", stored) if isinstance(stored, dict) else stored
    if not isinstance(state, dict) or not all(isinstance(weight, torch.Tensor) for weight in state.values()):
        raise _wrong(file, "it holds no state_dict")
    return {str(key): weight for key, weight in state.items()}


def _wrong(file: Path, why: str) -> UsageError:
    return UsageError(message("mmdet-weights", path=str(file), why=why))


def _numbers() -> list[Any]:
    """What single numbers of numpy are made of, which trainers like to leave in a checkpoint's notes."""
    import numpy as np

    scalar = np.float64(0).__reduce__()[0]
    kinds = [type(np.dtype(kind)) for kind in ("float64", "float32", "int64", "int32", "bool")]
    return [(scalar, "numpy.core.multiarray.scalar"), (scalar, "numpy._core.multiarray.scalar"), np.dtype, *kinds]


def _moved(state: Mapping[str, torch.Tensor], shape: Shape, file: Path) -> dict[str, torch.Tensor]:
    """The weights under transformers' names; one too many or one too few is refused."""
    wanted = list(moves(shape))
    missing = {move.old for move in wanted} - state.keys()
    unknown = {key for key in state if not is_unused(key)} - {move.old for move in wanted}
    for which, has, keys in (("lacks", "has", missing), ("also holds", "has not", unknown)):
        if keys:
            raise _wrong(file, f"it {which} {len(keys)} weights that the network {has}: {_named(keys)}")
    return {
        name: part.float().contiguous().clone()
        for move in wanted
        for name, part in zip(move.new, move.parts(state[move.old]), strict=True)
    }


def _named(keys: Collection[str]) -> str:
    shown = ", ".join(map(repr, sorted(keys)[:_N_NAMED]))
    return f"{shown} ..." if len(keys) > _N_NAMED else shown


def _config(shape: Shape, class_names: Sequence[str], transformers: Any) -> dict[str, Any]:
    backbone = transformers.SwinConfig(
        embed_dim=shape.embed_dim,
        depths=list(shape.depths),
        num_heads=list(shape.heads),
        window_size=shape.window,
        out_features=[f"stage{i + 1}" for i in range(len(shape.depths))],
    )
    return {
        "backbone_config": backbone,
        "feature_size": shape.feature,
        "mask_feature_size": shape.feature,
        "hidden_dim": shape.feature,
        "encoder_feedforward_dim": shape.encoder_width,
        "dim_feedforward": shape.decoder_width,
        "encoder_layers": shape.n_encoders,
        "decoder_layers": shape.n_decoders + 1,  # it counts the one before the first layer
        "num_attention_heads": shape.n_heads,
        "num_queries": shape.n_queries,
        "id2label": dict(enumerate(class_names)),
        "label2id": {name: i for i, name in enumerate(class_names)},
        "architectures": ["Mask2FormerForUniversalSegmentation"],
    }


def _check(made: Path, file: Path, transformers: Any) -> None:
    """Load what was made: every weight must be there in the shape its config says."""
    with quiet(transformers):
        _, info = transformers.Mask2FormerForUniversalSegmentation.from_pretrained(
            made, use_safetensors=True, output_loading_info=True, ignore_mismatched_sizes=True
        )
    missing = [key for key in info["missing_keys"] if not key.startswith(UNREAD)]
    check_complete(NAME, str(file), "mask2former", {**info, "missing_keys": missing})
    assert not info["unexpected_keys"], f"names that transformers does not know: {_named(info['unexpected_keys'])}"
