"""The first thing that runs: a parent that watches the command and owns its exit code.

It imports os and signal alone, so that Ctrl-C is quiet from its first line on, and forks before anything else is
imported. The child runs the command and, as its last act, sends its exit code through a pipe. A child that ends in
any other way (a plugin called os._exit, the kernel killed it) sent none, and the parent exits with 3; with 130 where a
signal ended it that asks for that. A child that is not over some time after such a signal is killed.
"""

import os
import signal

NOT_SURE, INTERRUPTED = 3, 130
_DIED = b"salva: The process that ran the command died before it counted its results. [engine-died]\n"
_LAST_S = 12
"""How much longer than the run gives its requests the command has to end."""
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
# What is ignored from the start, as under nohup, stays so.
_HEEDED = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until everything is imported there is nothing to tidy up.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))


def main() -> None:
    """Run the command line."""
    if not hasattr(os, "fork"):
        from salva.cli.main import main as run

        run()
        return
    life_read, life_write = os.pipe()
    code_read, code_write = os.pipe()
    # What comes between the fork and the handlers of each side waits for them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEEDED)
    child = os.fork()
    if child == 0:
        os.close(life_write)
        os.close(code_read)
        for number in _HEEDED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEEDED)
        from salva.cli.main import main as run

        run(lifeline=life_read, report_to=code_write)
        return
    os.close(life_read)
    os.close(code_write)
    os._exit(_watch(child, code_read))


def _watch(child: int, code_read: int) -> int:
    """Wait for the child, pass signals on to it, and give the exit code that it sent."""
    asked: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        # The child may have heard it too, from a terminal for instance, and takes both for one.
        if not asked:
            signal.alarm(_patience_s())
        asked.append(number)
        _kill(child, number)

    for number in _HEEDED:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGALRM, lambda *_: _kill(child, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEEDED)
    _, status = os.waitpid(child, 0)
    # A process that the child has left behind may hold the other end open.
    os.set_blocking(code_read, False)
    try:
        sent = os.read(code_read, 16)
    except BlockingIOError:
        sent = b""
    if sent.isdigit():
        return int(sent)
    if os.WIFSIGNALED(status) and (asked or os.WTERMSIG(status) in _SIGNALS):
        return INTERRUPTED
    os.write(2, _DIED)
    return NOT_SURE


def _patience_s() -> int:
    """After how long a child that was asked to end is killed."""
    try:
        return int(float(os.environ.get("SALVA_STOP_SECONDS", "8"))) + _LAST_S
    except (ValueError, OverflowError):
        return 8 + _LAST_S


def _kill(child: int, number: int) -> None:
    try:  # noqa: SIM105  # contextlib is not imported here
        os.kill(child, number)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    main()
