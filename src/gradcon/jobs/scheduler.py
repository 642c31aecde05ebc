"""Finds the scheduler of a Dask cluster and connects to it."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import read_text

CONNECT_SECONDS = 10.0
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?([\w.-]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")


def connect(address: str) -> Any:
    """Return Dask's client for the scheduler with this address or scheduler file."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("scheduler", "needs Dask", install_extra("cluster")) from None
    place = _address(address)
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has an event loop of its own in this thread
            thread.submit(asyncio.run, asyncio.wait_for(_ask(place), CONNECT_SECONDS)).result()
        return Client(place, timeout=CONNECT_SECONDS, name="gradcon", set_as_default=False)
    except Exception as error:  # of many kinds: no such host, no answer, another server, TLS
        reason = (
            str(error).split("\n")[0].rstrip(".") if not isinstance(error, OSError) else "no scheduler answers there"
        )
        raise InputError(
            address,
            f"the scheduler cannot be reached ({reason})",
            "start one (dask scheduler), and check the address",
        ) from None


async def _ask(place: str) -> None:
    """Raise an error unless a scheduler answers there; a Client would ask servers of some other kinds for ever."""
    from distributed.core import rpc
    from distributed.security import Security

    async with rpc(place, connection_args=Security().get_connection_args("client")) as there:
        if (await there.identity())["type"] != "Scheduler":
            raise ValueError("another kind of server answers there")


def _address(told: str) -> str:
    """Return the address that was given, or the one in the scheduler file that was given."""
    found: Any = told
    if "://" not in told and Path(told).is_file():
        try:
            found = json.loads(read_text(Path(told)))["address"]
        except (ValueError, LookupError, TypeError):
            raise InputError(
                told, "is not a scheduler file", "give one that dask scheduler --scheduler-file wrote"
            ) from None
    if not (isinstance(found, str) and _ADDRESS.fullmatch(found)):
        raise InputError(
            "scheduler", f"{found!r} is neither an address nor a file", "give an address such as tcp://127.0.0.1:8786"
        )
    return found
