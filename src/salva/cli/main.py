"""The `salva` command: parses, calls, prints.

Commands are imported by name when they are called. Every SalvaError ends here as one message and exit code 2; any other
exception is printed with its traceback and ends with 2 too, since 1 means that a gate failed.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import shlex
import signal
import sys
import threading
import time
import traceback
import warnings
from typing import Any, TextIO

import click

from salva.cli.ending import Ended
from salva.core.exit_codes import INTERRUPTED, NOT_SURE, USAGE
from salva.core.printable import printable
from salva.core.secrets import redact
from salva.core.threads import any_left_behind
from salva.engine.ctrl_c import SIGNALS, CtrlC, stop_s
from salva.errors import MissingRoleError, SalvaError, UsageError, meant
from salva.messages import SalvaWarning, message

COMMANDS = {
    "run": "Generate images for a suite, observe, judge and summarise.",
    "report": "A run as html, pdf, md, json, csv or junit.",
    "compare": "Compare models on the same cases, with a gate.",
    "gate": "Suites on a candidate against a baseline, by a file's rules.",
    "power": "How many pairs it takes to detect a difference.",
    "rejudge": "New verdicts from what a run has stored.",
    "list": "Suites, models, detectors, readers, checks, laws ...",
    "cases": "The prompts of a suite.",
    "prove": "Worlds of a formula; whether two are equivalent.",
    "rewrite": "Equivalent formulas by the laws of logic, in English.",
    "runs": "The runs in a folder.",
    "merge": "Merge the shards of a run.",
    "quality": "FID and Inception Score of a run's images.",
    "export": "A run as rows, counterexamples or training data.",
    "import": "Answers, scores or ratings of others as a run.",
    "agree": "How far judges agree with people.",
    "write": "New test sentences, formulas and questions.",
    "selftest": "Precision and recall of observers on planted faults.",
    "verify": "Check every stored image and row of a run.",
    "doctor": "Versions, devices, extras, keys and disk.",
    "explain": "What a message means and what to do.",
}
_MAX_MESSAGE = 4000
"""The characters of a message that are shown."""
_COMPLETION = "_SALVA_COMPLETE"
"""The variable under which click prints the completion of a shell, and ends."""
_LAST_S = 12.0
"""How much longer than the run gives its requests a command whose parent is gone has to end."""
_TYPED = "salva.typed"
"""Where a context keeps the arguments of the command line."""


class LazyGroup(click.Group):
    """A group whose commands are imported one at a time, by name; the signatures are click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except MissingRoleError as error:
            typed = redact(shlex.join(["salva", *ctx.meta[_TYPED]]))
            raise error.with_example(f"{typed} --{error.role} {error.name}") from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise UsageError(message("command-unknown", name=args[0], meant=meant(args[0], COMMANDS)))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"salva.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "SALVA"})
@click.version_option(package_name="salva")
def salva() -> None:
    """Test a text-to-image model by saying the same thing in two ways.

    \b
    salva run metalogic                   run a suite on the embedded model
    salva report RUN                      make the report of a run
    salva prove "cat & dog" "dog & cat"   decide an equivalence
    """


def main(lifeline: int | None = None, report_to: int | None = None) -> None:
    """Run the command line: exit codes 0 fine, 1 gate failed, 2 the user must act, 3 not sure, 130 interrupted.

    lifeline: a pipe that closes when the parent is gone. report_to: the pipe that takes the exit code.
    """
    CtrlC().listen()
    pipe = os.fstat(report_to) if report_to is not None else None
    _prepare_streams()
    warnings.showwarning = _show_warning
    if lifeline is not None:
        _stop_with_parent(lifeline)
    code = _exit_code()
    is_flushed = _is_flushed()
    if report_to is not None and pipe is not None:
        with contextlib.suppress(OSError):
            # A component may have closed it, and its number may be another file's.
            if os.path.samestat(os.fstat(report_to), pipe):
                os.write(report_to, str(code).encode())
    if not is_flushed or any_left_behind() or code in (USAGE, INTERRUPTED):
        # Python would stop threads inside torch or a request, and end with 134; or with 120 for unflushed output; or
        # never, where a component has closed files that are not its own.
        os._exit(code)
    sys.exit(code)


def _stop_with_parent(lifeline: int) -> None:
    """End this process as SIGTERM does when the one that watches it is gone."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            os.read(lifeline, 1)
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    os.kill(os.getpid(), number)
                    break
            time.sleep(stop_s() + _LAST_S)
            os._exit(INTERRUPTED)

    threading.Thread(target=wait, daemon=True, name="lifeline").start()


class _LossyOutput(io.FileIO):
    """A stream that drops what cannot be written, so that the exit code stays that of the command."""

    def __init__(self, stream: TextIO, *errors: type[OSError]) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._errors = errors

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except self._errors:
            return memoryview(data).nbytes


def _prepare_streams() -> None:
    """Make standard streams that never end the command: closed ones, broken pipes, letters a terminal lacks.

    Streams that replace Python's own are left alone.
    """
    # A full disk is reported on stdout, where the output may be a file.
    for name, errors in (("stdout", (BrokenPipeError,)), ("stderr", (OSError,))):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for as long as we live
        elif stream is getattr(sys, f"__{name}__"):
            file = io.BufferedWriter(_LossyOutput(stream, *errors))
            is_shown = name == "stderr" or stream.isatty()
            setattr(sys, name, io.TextIOWrapper(file, stream.encoding, "backslashreplace", line_buffering=is_shown))


def _is_flushed() -> bool:
    is_flushed = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            is_flushed = False
    return is_flushed


def _exit_code() -> int:
    """Run the command line; whatever it does, there is an exit code, and 0 and 1 are the command's own."""
    try:
        return run_command()
    except Exception:
        click.echo(printable(redact(traceback.format_exc())), err=True)
        return _failed(message("unexpected-error"))
    except BaseException as error:  # a component may raise anything, and no such end counts results
        return _failed(message("command-aborted", why=type(error).__name__), NOT_SURE)


def run_command() -> int:
    """Run the command line and give its exit code; raises where salva or a component is at fault."""
    try:
        with CtrlC() as ctrl_c, ctrl_c.at_once():
            ended = salva.main(standalone_mode=False, prog_name="salva")
            return ended if isinstance(ended, int) else 0
    except Ended as error:
        return int(error.code or 0)
    except SalvaError as error:
        return _failed(str(error))
    except SystemExit as ended:
        if _COMPLETION not in os.environ:
            raise
        return int(ended.code or 0)
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return USAGE
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (RecursionError, OverflowError) as error:
        return _failed(message("too-deep", why=error))
    except OSError as error:
        # An error with a file name was reported where it happened; this one is of the output (salva cases > FILE).
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _failed(message("output-full", why=error.strerror))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Our own warnings as one line; others' as Python shows them."""
    if issubclass(category, SalvaWarning):
        click.echo(printable(redact(f"salva: warning: {message}")), err=True)
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _failed(problem: str, code: int = USAGE) -> int:
    text = printable(redact(problem))
    if len(text) > _MAX_MESSAGE:
        # A damaged file may be quoted whole.
        text = f"{text[: _MAX_MESSAGE // 2]} ... {text[-_MAX_MESSAGE // 2 :]}"
    click.echo(f"salva: {text}", err=True)
    return code
