"""Ctrl-C and SIGTERM end a command quietly, even if the exception is lost in a callback of C code."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, os, signal, sys
import gradcon.cli
signal.signal(signal.SIGINT, signal.default_int_handler)

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), {number})
    for _ in range(1000):
        pass

def main(arguments):
    {inside}

gradcon.cli.main = main
gradcon.cli.run([])
"""
WAY = {
    "in Python": "os.kill(os.getpid(), {number}); sys.exit(5)",
    "in a callback": "callback()\n    while True: pass",
    "before another error": "callback()\n    raise RuntimeError('nothing was compiled')",
}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", WAY)
def test_a_signal_ends_a_command_quietly(number: signal.Signals, way: str) -> None:
    inside = WAY[way].format(number=int(number))
    if way == "in Python":
        inside = f"try: {inside}\n    except KeyboardInterrupt: return 130"
    elif way == "in a callback":
        inside = f"try:\n        {inside.replace(chr(10), chr(10) + '    ')}\n    except KeyboardInterrupt: return 130"
    program = PROGRAM.format(number=int(number), inside=inside)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (128 + number, "")


IMPORTING = """
import builtins, os, signal
import gradcon.__main__
signal.signal(signal.SIGINT, signal.default_int_handler)
real = builtins.__import__

def imported(name, *more):
    if name == "typer":
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *more)

builtins.__import__ = imported
gradcon.__main__.start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_ctrl_c_while_modules_are_imported_ends_a_command_quietly() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (130, "")
