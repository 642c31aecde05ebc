"""How to install the optional parts of gradcon, which pip calls extras."""

from __future__ import annotations


def install_extra(extra: str) -> str:
    """Tell the user how to add an extra to the gradcon that is installed, as the remedy of an error.

    pip records the origin of a package that it did not take from a package index, so the command is right for a
    checkout as well as for a release.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = json.loads(distribution("gradcon").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # it runs from a checkout without being installed
        origin = {"dir_info": {}}
    if "dir_info" in origin:
        return f"run `pip install '.[{extra}]'` in the checkout of gradcon"
    vcs = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    source = f" @ {vcs}{origin['url']}" if origin else ""
    return f"run `pip install 'gradcon[{extra}]{source}'`"
