"""The command that installs an extra fits the way in which gradcon itself was installed."""

from __future__ import annotations

import importlib.metadata
import json
from types import SimpleNamespace
from typing import Any

import pytest

from gradcon.extras import install_extra

CHECKOUT = "run `pip install '.[cuda]'` in the checkout of gradcon"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "run `pip install 'gradcon[cuda]'`"),
        ({"url": "file:///home/me/gradcon", "dir_info": {}}, CHECKOUT),
        ({"url": "file:///home/me/gradcon", "dir_info": {"editable": True}}, CHECKOUT),
        (
            {"url": "file:///home/me/gradcon.whl", "archive_info": {}},
            "run `pip install 'gradcon[cuda] @ file:///home/me/gradcon.whl'`",
        ),
        (
            {"url": "https://a.example/gradcon", "vcs_info": {"vcs": "git", "commit_id": "1234"}},
            "run `pip install 'gradcon[cuda] @ git+https://a.example/gradcon'`",
        ),
    ],
)
def test_the_command_names_the_origin(
    origin: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = SimpleNamespace(read_text=lambda _: None if origin is None else json.dumps(origin))
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: recorded)
    assert install_extra("cuda") == command


def test_a_checkout_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert install_extra("cuda") == CHECKOUT
