"""The `salva` command: parses, calls, prints.

Commands load when asked for, so that `salva --help` answers at once. Every error salva raises on purpose ends here as
one message and an exit code. Whatever else is raised is a fault of ours: it is shown with its traceback, and ends with
2, since Python's own 1 would mean that a gate failed.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import shlex
import signal
import sys
import traceback
import warnings
from typing import Any, TextIO

import click

from salva.core.legible import legible
from salva.core.secrets import redact
from salva.core.threads import any_left_behind
from salva.engine.ctrl_c import CtrlC
from salva.errors import NobodyNamedError, SalvaError, UsageError, unknown_name
from salva.messages import SalvaWarning

COMMANDS = {
    "run": "Paint every prompt of a suite, look at the pictures, judge and summarise.",
    "list": "What can be named: suites, models, detectors, readers, checks, laws ...",
    "cases": "The prompts of a suite; nothing is run.",
    "prove": "Worlds of a formula; of two formulas, whether they are equivalent.",
    "rewrite": "Equivalent formulas by the laws of logic, with their English.",
    "rejudge": "Verdicts again from what a run has stored.",
    "report": "A run as html, pdf, md, json, csv or junit.",
    "runs": "The runs in a folder: model, suite, rate, date.",
    "merge": "Shards of a run into one run.",
    "compare": "Models held against each other on the same cases, with a gate.",
    "power": "How many pairs a difference takes, or what a run could have shown.",
    "gate": "Suites on a candidate against a baseline, by the rules of a file.",
    "quality": "FID and Inception Score of a run's pictures.",
    "export": "Counterexamples or verdict rows of a run as files.",
    "agree": "How far judges agree with people.",
    "import": "Others' raw answers and ratings into a run.",
    "write": "New test sentences from templates, reviewed by people.",
    "selftest": "Planted faults in, precision and recall of the oracle out.",
    "verify": "Check every stored image and row of a run.",
    "doctor": "Versions, devices, extras and keys (yes or no); with a suite, whether its run fits on the disk.",
}
EXIT_GATE, EXIT_USAGE, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 1, 2, 3, 130
_LONGEST = 4000
"""So many characters of a message are shown."""
_TYPED = "salva.typed"
"""Where a context keeps the words salva was called with."""


class LazyGroup(click.Group):
    """A group whose commands are imported one at a time, by name; the signatures are click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except NobodyNamedError as error:
            typed = redact(shlex.join(["salva", *ctx.meta[_TYPED]]))
            how = f"Name one:\n  {typed} --{error.role} {error.name}\n{error.others}"
            raise UsageError(f"{error.problem}. {how}") from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise unknown_name("command", args[0], COMMANDS)
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
    salva run metalogic                     run the MetaLogic suite on the embedded model
    salva report RUN                        the pictures that prove what broke
    salva prove "cat & dog" "dog & cat"     decide an equivalence
    """


def main() -> None:
    """Entry point: exit codes 0 fine, 1 gate failed, 2 the user must act, 3 incomplete, 130 interrupted."""
    _mend_streams()
    warnings.showwarning = _show_warning
    try:
        _obey_to_the_end()
    except (SystemExit, KeyboardInterrupt) as ended:
        # One more Ctrl-C while Python takes itself apart would change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = ended.code if isinstance(ended, SystemExit) else EXIT_INTERRUPTED
        if not _is_flushed() or any_left_behind() or code == EXIT_INTERRUPTED:
            # Python would unwind a thread that is inside of torch or of a network, and the process end with 134, or
            # with 120 for what nobody took, whatever it should say.
            os._exit(code if isinstance(code, int) else int(code is not None))
        raise


class _Unheard(io.FileIO):
    """What we print where nobody may take it: what is lost on such errors is lost, and the exit code says enough."""

    def __init__(self, stream: TextIO, *errors: type[OSError]) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self._errors = errors

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except self._errors:
            return memoryview(data).nbytes


def _mend_streams() -> None:
    """Have somewhere to print where a shell closed it, and letters told that a terminal does not have.

    A command whose reader goes away works on to its exit code (salva run | head): click and rich would end it with 1.
    Streams that somebody else has put in the place of Python's own are left alone.
    """
    # A full disk is told where the output goes to one.
    for name, errors in (("stdout", (BrokenPipeError,)), ("stderr", (OSError,))):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for as long as we live
        elif stream is getattr(sys, f"__{name}__"):
            file = io.BufferedWriter(_Unheard(stream, *errors))
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


def _obey_to_the_end() -> None:
    try:
        obey()
    except Exception:
        click.echo(legible(redact(traceback.format_exc())), err=True)
        _complain(
            "this should not have happened. If it was about a run that somebody changed or that was damaged, "
            "`salva verify RUN` says where; else please report the lines above"
        )


def obey() -> None:
    """Do what was typed; ends with SystemExit, but for a fault of ours."""
    try:
        with CtrlC() as ctrl_c, ctrl_c.at_once():
            sys.exit(salva.main(standalone_mode=False))
    except SalvaError as error:
        _complain(str(error))
    except click.exceptions.Abort:
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except (RecursionError, OverflowError) as error:
        _complain(f"something that was read is nested too deeply, or holds a number beyond all bounds: {error}")
    except OSError as error:
        # Whoever writes a file by its name says what went wrong there; this is what we print (salva cases > FILE).
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _complain(f"cannot print all there is to say ({error.strerror}); make room where the output goes")


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
        click.echo(legible(redact(f"salva: warning: {message}")), err=True)
    else:
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _complain(message: str) -> None:
    said = legible(redact(message))
    if len(said) > _LONGEST:
        # What is quoted from a damaged file may be all of it.
        said = f"{said[: _LONGEST // 2]} ... {said[-_LONGEST // 2 :]}"
    click.echo(f"salva: {said}", err=True)
    sys.exit(EXIT_USAGE)
