"""The threads of an engine on the host."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba


class Threads:
    """Some threads, by default as many as Numba may use, all of them at hand at any time.

    A kernel is compiled without Python's lock, and computes its share of the work: `chunk` of `chunks`.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count: int = numba.get_num_threads() if count is None else count
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="gradcon")

    def deal(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run kernel(chunk, chunks, ...) for all chunks, one per thread."""
        self.deal_to(self.count, kernel, *arguments)

    def deal_to(self, chunks: int, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run the kernel on this many of the threads, at the same time."""
        if chunks == 1:
            kernel(0, 1, *arguments)
            return
        list(self._pool.map(lambda chunk: kernel(chunk, chunks, *arguments), range(chunks)))
