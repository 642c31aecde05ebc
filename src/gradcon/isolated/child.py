"""What runs in the child process: a loop that carries out one operation after another within its limits."""

from __future__ import annotations

import importlib
import os
import signal
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.isolated.limits import Limits, limited
from gradcon.isolated.messages import Message, receive, send

MODULES = ("hdf5_file", "zarr_store", "video_file", "exr_file")


def serve() -> None:
    """Answer requests until the parent closes its end, which the system does if the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as replies:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)  # so that what a library prints is no reply
        while True:
            try:
                request = receive(requests).fields
            except EOFError:
                return
            reply = _answer(request)
            if request["answered"]:
                try:
                    send(replies, *reply)
                except (TypeError, ValueError, RecursionError) as error:
                    send(replies, _failure("failed", error))


def _answer(request: dict[str, Any]) -> Message:
    module, name = request["operation"].split(".")
    assert module in MODULES
    try:
        operations = importlib.import_module(f"gradcon.isolated.{module}")
    except ImportError as error:
        return Message(_failure("unavailable", error), None)
    path = Path(os.fsdecode(request["path"].encode("latin-1")))
    try:
        with limited(Limits(*request["limits"])):
            facts, array = getattr(operations, name)(path, **request["arguments"])
    except InputError as error:
        return Message({"refused": [error.where, error.problem, error.remedy]}, None)
    except MemoryError as error:
        return Message(_failure("exhausted", error), None)
    except Exception as error:  # every library has its own errors, and damaged files bring out unusual ones
        return Message(_failure("failed", error), None)
    return Message({"facts": facts}, array)


def _failure(kind: str, error: BaseException) -> dict[str, Any]:
    return {kind: str(error)[:2000] or type(error).__name__}
