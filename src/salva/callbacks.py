"""A training loop watched: a small suite every so many steps, its failure rate and metrics in TensorBoard.

from salva.callbacks import Watch
watch = Watch(every=500, detector="mm-grounding-dino", log_dir="logs")
watch(step, pipeline)  # in the loop
"""

from __future__ import annotations

import contextlib
import random
import secrets
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Unpack, cast

from salva.api import Run, plan_run, run_suite
from salva.core.foreign_errors import describe_error
from salva.core.printable import printable
from salva.errors import MissingExtraError, MissingRoleError, UsageError
from salva.messages import message
from salva.notebook.keywords import RunFlags, Setting, keyword_invalid
from salva.notebook.logged import Logged, logged
from salva.notebook.models import Model

_NAME = "training"


class Writer(Protocol):
    """What SummaryWriter of tensorboardX and of torch.utils.tensorboard have in common."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> object:
        """A number at a step."""

    def add_image(self, tag: str, img_tensor: Any, global_step: int, *, dataformats: str) -> object:
        """An image at a step."""

    def add_text(self, tag: str, text_string: str, global_step: int) -> object:
        """A text at a step."""

    def flush(self) -> object:
        """Write what is buffered."""


class Watch:
    """Runs a suite on the model of a training loop every so many steps, and logs its figures.

    A suite or detector that does not exist is refused at once; what goes wrong later is printed and does not stop the
    training, unless `raises`. Random numbers and the modes of the model's parts are restored.
    """

    def __init__(
        self,
        *,
        every: int,
        suite: str = "metalogic",
        log_dir: str | Path | None = None,
        writer: Writer | None = None,
        out: str | Path = "runs",
        name: str = _NAME,
        images: int = 3,
        raises: bool = False,
        settings: dict[str, Setting] | None = None,
        **flags: Unpack[RunFlags],
    ) -> None:
        """Runs are in a new folder of `out`; images: how many counterexamples are logged each time."""
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise keyword_invalid("every", every, "a whole number of steps, 1 or more")
        if (log_dir is None) == (writer is None):
            raise UsageError(message("flag-needed", flag="log_dir= or writer=", why="one of them takes the figures"))
        _refuse_early(suite, name, settings, flags)
        self._writer = writer if writer is not None else _own_writer(Path(cast("str | Path", log_dir)))
        self._every, self._suite, self._name = every, suite, name
        self._n_images, self._raises = images, raises
        self._settings, self._flags = settings, flags
        self._tested: set[int] = set()
        # The step alone would be the same key in the next training, whose weights are others.
        self._training = f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        self.folder = Path(out) / f"{name}-{self._training}"
        """Where the runs of this training are; salva.open_runs(watch.folder) is a frame of them."""

    def is_due(self, step: int) -> bool:
        """Whether a call at this step tests the model: for loops that must build a pipeline first."""
        return step % self._every == 0

    def __call__(self, step: int, model: Model) -> Run | None:
        """Test the model, if it is time; the run, or None where none was made.

        model: whatever salva.run_suite takes: a diffusers pipeline, a function (prompt, seed) -> image.
        """
        if not self.is_due(step):
            return None
        try:
            if step in self._tested:
                # Its run is finished and would be shown again, whatever the weights are by now.
                raise keyword_invalid("step", step, "new in this training: count on over all epochs")
            with _undisturbed(model):
                run = run_suite(
                    self._suite,
                    model,
                    name=self._name,
                    version=f"step {step} of {self._training}",
                    out=self.folder / f"step-{step:08d}",
                    settings=self._settings,
                    **self._flags,
                )
            self._log(step, logged(run.directory, self._n_images))
            self._tested.add(step)
        except Exception as error:
            if self._raises:
                raise
            print(f"salva: step {step} was not tested: {printable(describe_error(error))}", file=sys.stderr)
            return None
        return run

    def _log(self, step: int, figures: Logged) -> None:
        for tag, value in figures.numbers.items():
            self._writer.add_scalar(tag, value, step)
        for tag, image, text in figures.images:
            self._writer.add_image(tag, image, step, dataformats="HWC")
            self._writer.add_text(tag, text, step)
        self._writer.flush()


def _refuse_early(suite: str, name: str, settings: object, flags: RunFlags) -> None:
    """Refuse what is wrong whatever the model is, before the training begins."""
    others = settings
    if isinstance(settings, Mapping):
        others = {key: value for key, value in settings.items() if not str(key).startswith(("model.", f"{name}."))}
    try:
        plan_run(suite, {name: _stand_in}, settings=cast("dict[str, Setting] | None", others), **flags)
    except MissingRoleError as error:
        raise error.with_example(f"Watch(..., {error.role}={error.name!r})") from error


def _stand_in(prompt: str, seed: int) -> object:
    """Stands for the model, which does not exist yet."""
    raise AssertionError(f"a plan generates nothing, and was asked for {prompt!r} with the seed {seed}")


def _own_writer(log_dir: Path) -> Writer:
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("Watch(log_dir=...)", "tensorboard") from error
    return cast(Writer, SummaryWriter(str(log_dir)))


@contextlib.contextmanager
def _undisturbed(model: object) -> Iterator[None]:
    """Put a model into evaluation mode for a test, and restore its modes and all random numbers afterwards."""
    parts = [part for part in getattr(model, "components", {}).values() if hasattr(part, "training")]
    modes = [(part, part.training) for whole in parts for part in whole.modules()]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    plain, rows = random.getstate(), numpy.random.get_state() if numpy else None
    drawn = torch.random.get_rng_state() if torch else None
    devices = torch.cuda.get_rng_state_all() if torch and torch.cuda.is_available() else None
    try:
        for part in parts:
            part.eval()
        yield
    finally:
        for module, is_training in modes:
            module.training = is_training
        random.setstate(plain)
        if numpy:
            numpy.random.set_state(rows)
        if torch:
            torch.random.set_rng_state(drawn)
            if devices is not None:
                torch.cuda.set_rng_state_all(devices)
