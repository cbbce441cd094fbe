"""The first thing that runs: a parent that watches the command and owns its exit code.

It imports os and signal alone, so that Ctrl-C is quiet from its first line on, and forks before anything else is
imported. The child runs the command and, as its last act, sends its exit code through a pipe. A child that ends in
any other way (a plugin called os._exit, the kernel killed it) sent none, and the parent exits with 3; with 130 where a
signal ended it that asks for that.
"""

import os
import signal

NOT_SURE, INTERRUPTED = 3, 130
_FORWARDED = ("SIGTERM", "SIGHUP")
_DIED = b"salva: The process that ran the command died before it counted its results. [engine-died]\n"


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, _interrupted)
    if not hasattr(os, "fork"):
        from salva.cli.main import main as run

        run()
        return
    life_read, life_write = os.pipe()
    code_read, code_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(life_write)
        os.close(code_read)
        # Until everything is imported there is nothing to tidy up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from salva.cli.main import main as run

        signal.signal(signal.SIGINT, signal.default_int_handler)
        run(lifeline=life_read, report_to=code_write)
        return
    os.close(life_read)
    os.close(code_write)
    os._exit(_watch(child, code_read))


def _watch(child: int, code_read: int) -> int:
    """Wait for the child, pass signals on to it, and give the exit code that it sent."""
    # The terminal sends Ctrl-C to both; the child decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _FORWARDED:
        number = getattr(signal, name, None)
        # Under nohup a signal is ignored from the start, and stays so.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _: _pass_on(child, got))
    _, status = os.waitpid(child, 0)
    sent = os.read(code_read, 16)
    if sent.isdigit():
        return int(sent)
    if os.WIFSIGNALED(status) and signal.Signals(os.WTERMSIG(status)).name in ("SIGINT", *_FORWARDED):
        return INTERRUPTED
    os.write(2, _DIED)
    return NOT_SURE


def _pass_on(child: int, number: int) -> None:
    try:  # noqa: SIM105  # contextlib is not imported here
        os.kill(child, number)
    except ProcessLookupError:
        pass


def _interrupted(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
