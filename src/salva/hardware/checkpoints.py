"""A checkpoint in a folder or on the hub: which one exactly, and whether it is whole and safe to load.

Weights are read from safetensors only, because a pickle runs whatever code its author put in it. A hub id is pinned
to its commit, a folder to the digests of its files. Knows no model class.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from logging import ERROR
from pathlib import Path
from typing import Any

from salva.core.fingerprint import fingerprint
from salva.core.foreign_errors import one_line, translate_errors
from salva.errors import MissingExtraError, SalvaError, UnusableError, UsageError
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.cache import recall, remember
from salva.messages import message

TOPIC = "digests"
COMMITS = "commits"
PICKLES = (".bin", ".ckpt", ".pt", ".pth", ".pkl")
_REPO = re.compile(r"[\w.-]+(/[\w.-]+)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_AGAIN = "download it again"
_PATIENCE_S = 20.0
_N_SHOWN = 3
_LARGE = 2**28
"""Bytes that take a quarter of a second to read and hash."""
_PIECE = 2**24
_LOADERS = ("torch", "transformers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where the weights are: a folder of one's own, or a hub id at one commit."""

    source: str
    """What from_pretrained takes first: the folder, or the hub id."""
    folder: Path | None = None
    """The folder; None for the hub."""
    commit: str | None = None
    """What from_pretrained takes as revision; None for a folder."""


def locate(name: str, target: str, marker: str = "config.json") -> Checkpoint:
    """The checkpoint a user named: a folder that exists, else a hub id, with its revision resolved to a commit.

    name: the component, for messages. target: a folder, ID or ID@REVISION. marker: a file every such checkpoint has;
    found in the hub's cache when offline.
    """
    folder = Path(target).expanduser()
    if folder.exists():
        if folder.is_file() and folder.suffix in PICKLES:
            raise pickle_error(name, target)
        if folder.is_file():
            raise invalid_checkpoint(name, target, f"it is a file; give the folder that holds {marker}")
        if not (folder / marker).is_file():
            raise invalid_checkpoint(name, target, f"it has no {marker}; give the folder that save_pretrained wrote")
        return Checkpoint(source=str(folder), folder=folder)
    repo, _, revision = target.partition("@")
    if not _REPO.fullmatch(repo) or repo.startswith("."):
        raise invalid_checkpoint(name, target, "there is no such folder, and a hub id looks like 'owner/model'")
    return Checkpoint(source=repo, commit=_hub_commit(name, repo, revision or "main", marker))


@functools.cache  # so that what was pinned and what is loaded are the same, even if the hub moves on in between
def _hub_commit(name: str, repo: str, revision: str, marker: str) -> str:
    if _COMMIT.fullmatch(revision):
        return revision
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError(name, "torch") from error
    try:
        with translate_errors(partial(hub_error, name, repo, revision)):
            commit = huggingface_hub.HfApi().model_info(repo, revision=revision, timeout=_PATIENCE_S).sha
    except SalvaError as error:
        if _is_network(error.__cause__) and (cached := _cached_commit(repo, revision, marker)):
            return cached
        raise
    assert commit, "the hub names a commit for every revision"
    # What is downloaded by commit leaves no trace of its branch in the hub's cache; offline it is still asked for.
    remember(COMMITS, f"{repo}@{revision}", commit)
    return commit


def _cached_commit(repo: str, revision: str, marker: str) -> str | None:
    """The commit a revision was at when it was downloaded, if it was."""
    from huggingface_hub import try_to_load_from_cache

    remembered = recall(COMMITS, f"{repo}@{revision}")
    for asked in (remembered, revision):
        cached = try_to_load_from_cache(repo, marker, revision=asked) if isinstance(asked, str) else None
        if isinstance(cached, str):
            # .../snapshots/<commit>/<marker>
            return Path(cached).parts[-1 - len(Path(marker).parts)]
    return None


def file_here(checkpoint: Checkpoint, file: str) -> Path | None:
    """A file of a checkpoint, where it is on this machine already."""
    if checkpoint.folder is not None:
        return checkpoint.folder / file
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(checkpoint.source, file, revision=checkpoint.commit)
    return Path(cached) if isinstance(cached, str) else None


def config_here(target: str, marker: str = "config.json") -> Path | None:
    """That file of a checkpoint that a user named, where it is on this machine already; the hub is not asked."""
    folder = Path(target).expanduser()
    if folder.exists():
        return folder / marker if (folder / marker).is_file() else None
    repo, _, revision = target.partition("@")
    if not _REPO.fullmatch(repo) or find_spec("huggingface_hub") is None:
        return None
    commit = _cached_commit(repo, revision or "main", marker)
    return file_here(Checkpoint(source=repo, commit=commit), marker) if commit else None


def hub_error(name: str, repo: str, revision: str, error: Exception) -> SalvaError:
    """What the hub's refusal means, in our words."""
    from huggingface_hub import errors

    values = {"component": name, "repo": repo, "revision": revision, "why": one_line(error)}
    absent = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError)
    is_absent = isinstance(error, absent) and not isinstance(error, errors.LocalEntryNotFoundError)
    if is_absent or _status(error) in (401, 403):
        return UsageError(message("hub-refused", **values))
    return UnusableError(message("hub-unreachable", **values))


def _is_network(error: BaseException | None) -> bool:
    """Whether the hub could not be asked at all, or could not answer."""
    status = _status(error)
    return status is None or status >= 500 or status == 429


def _status(error: BaseException | None) -> int | None:
    status: int | None = getattr(getattr(error, "response", None), "status_code", None)
    return status


def digest_of_files(files: Iterable[Path], root: Path, meanwhile: Callable[[], object] | None = None) -> str:
    """One hash for the content of files; a large file is read once and its digest remembered until it changes.

    meanwhile: what to import while weights are hashed, besides the libraries that load any.
    """
    try:
        return fingerprint({str(path.relative_to(root)): _digest(path, meanwhile) for path in sorted(files)})[:16]
    except OSError as error:
        values = {"path": str(error.filename or root), "why": error.strerror or error}
        raise UsageError(message("file-unreadable", **values)) from error


def _digest(path: Path, meanwhile: Callable[[], object] | None) -> str:
    stat = path.stat()
    key = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    remembered = recall(TOPIC, key)
    if isinstance(remembered, str):
        return remembered
    if stat.st_size >= _LARGE and path.suffix == ".safetensors":
        # Weights that are met for the first time are loaded next, and hashing leaves the interpreter free.
        BACKGROUND_IMPORTS.begin(
            *(partial(importlib.import_module, name) for name in _LOADERS), *([meanwhile] if meanwhile else [])
        )
    digest = _sha256(path)
    if stat.st_size > 2**20:
        remember(TOPIC, key, digest)
    return digest


def _sha256(path: Path) -> str:
    """In large pieces: after each the interpreter must be had again, and who imports meanwhile lets go of it late."""
    digest, piece = hashlib.sha256(), memoryview(bytearray(_PIECE))
    with path.open("rb", buffering=0) as file:
        while n_read := file.readinto(piece):
            digest.update(piece[:n_read])
    return digest.hexdigest()


def check_weights(name: str, folder: Path, variant: str = "") -> None:
    """Refuse a folder of one model whose weights are pickled, cut off or not all there.

    variant: the kind of weight files that will be loaded, such as fp16; empty for the usual ones.
    """
    weights = sorted(folder.glob("*.safetensors"))
    for index in sorted(folder.glob(f"*.safetensors.index.{variant}.json" if variant else "*.safetensors.index.json")):
        try:
            wanted = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, KeyError, AttributeError) as error:
            raise invalid_checkpoint(name, index, f"it is damaged ({error}); {_AGAIN}") from error
        missing = sorted(part for part in wanted if not (folder / part).is_file())
        if missing:
            shown = f"{len(missing)} of {len(wanted)} weight files are missing, such as {missing[0]!r}"
            raise invalid_checkpoint(name, folder, f"{shown}; {_AGAIN}")
    for path in weights:
        _check_safetensors(name, path)
    if weights:
        return
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
    if pickles:
        raise pickle_error(name, str(folder / pickles[0]))
    raise invalid_checkpoint(name, folder, f"it holds no weights (*.safetensors); {_AGAIN}")


def check_complete(name: str, where: str, kind: str, info: Mapping[str, Any], advice: str = _AGAIN) -> None:
    """Refuse weights that a library filled in with random numbers: a checkpoint that lacks some seems whole.

    where: the folder or hub id. kind: what the model is. info: what from_pretrained(output_loading_info=True) says;
    weights that are tied to others, or made again by the model itself, are not in it.
    """
    missing = sorted(info["missing_keys"])
    differing = sorted((key, tuple(stored), tuple(wanted)) for key, stored, wanted in info.get("mismatched_keys", ()))
    if missing:
        shown = ", ".join(map(repr, missing[:_N_SHOWN])) + (" ..." if len(missing) > _N_SHOWN else "")
        what = f"it lacks {len(missing)} weights of a {kind!r} model ({shown})"
    elif differing:
        key, stored, wanted = differing[0]
        what = f"{len(differing)} weights differ from its config ({key!r} is {list(stored)}, not {list(wanted)})"
    else:
        return
    raise invalid_checkpoint(name, where, f"{what}, and random numbers would take their place; {advice}")


@contextmanager
def quiet(*libraries: Any, level: int = ERROR) -> Iterator[None]:
    """Without progress bars and messages below a level: these libraries raise errors besides logging them."""
    logs = [library.utils.logging for library in libraries]
    before = [(log, log.get_verbosity(), log.is_progress_bar_enabled()) for log in logs]
    for log in logs:
        log.set_verbosity(level)
        log.disable_progress_bar()
    try:
        yield
    finally:
        for log, verbosity, had_bars in before:
            log.set_verbosity(verbosity)
            if had_bars:
                log.enable_progress_bar()


def pickle_error(name: str, where: str) -> UsageError:
    """The refusal of weights that are no safetensors."""
    return invalid_checkpoint(name, where, "it is a pickle; if you trust it, save it as safetensors")


def invalid_checkpoint(name: str, where: object, why: str) -> UsageError:
    """The error for a checkpoint that cannot be used."""
    return UsageError(message("checkpoint-invalid", component=name, model=str(where), why=why))


def _check_safetensors(name: str, path: Path) -> None:
    """Refuse a file that is not as long as its header says; the tensors themselves are not read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):
            pass
    except SafetensorError as error:
        raise invalid_checkpoint(name, path, f"it is no whole safetensors file ({error}); {_AGAIN}") from error
