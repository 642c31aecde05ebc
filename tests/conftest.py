"""The folder of real scenes, for the tests marked `data`, and what the tests of parsers and of the report share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browser import Browser, chromium
from gradcon.errors import InputError

CHECKOUT = Path(__file__).resolve().parents[1]

# Two processes that compile one function for different types at the same time may mix up each other's files, so each
# process of pytest-xdist gets a cache of its own, which it finds again in the next run.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(CHECKOUT / ".numba_cache" / os.environ["PYTEST_XDIST_WORKER"])

# A slow machine is not a failure, and a test that passed passes again until the code changes.
# HYPOTHESIS_PROFILE=search looks for new examples.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=500)
settings.register_profile("gradcon", settings.get_profile("search"), derandomize=True, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gradcon"))


def data_root() -> Path | None:
    """The folder of real scenes: GRADCON_DATA, or ../shared/data beside the checkout; or None."""
    told = os.environ.get("GRADCON_DATA")
    folder = Path(told) if told else CHECKOUT.parent / "shared" / "data"
    return folder if (folder / "hci").is_dir() else None


def value_or_refusal(where: str | Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a parser returns, or None if it refuses; it must refuse in one sentence that begins with `where`."""
    try:
        return function(*arguments)
    except InputError as error:
        sentence = str(error)
    assert sentence.startswith(str(where))
    assert "\n" not in sentence
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if data_root() is None:
        reason = "no real scenes: set GRADCON_DATA, or put them in ../shared/data beside the checkout"
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real scenes; for tests marked `data`, which are skipped where it is absent."""
    root = data_root()
    if root is None:
        pytest.skip("no real scenes: mark this test `data`")
    return root


@pytest.fixture(scope="module")
def folders() -> list[Path]:
    """Two results, which no test may change."""
    from report_folders import small_results

    return small_results()


@pytest.fixture(scope="module")
def one(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the first result."""
    from gradcon.report import write_report

    return write_report(folders[:1], tmp_path_factory.mktemp("page") / "one.html").path


@pytest.fixture(scope="module")
def two(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of both results."""
    from gradcon.report import write_report

    return write_report(folders, tmp_path_factory.mktemp("page") / "two.html").path


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    """The browser that all tests share; no test may cause an error or a request to the network in it."""
    yield running
    assert running.complaints() == []
