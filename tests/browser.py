"""A real browser for the tests of pages: headless Chromium, which reports errors and requests to the network."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import wait_until

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--enable-unsafe-swiftshader",  # WebGL without a GPU
)
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "shift": "\ue008", "tab": "\ue004"}


def missing() -> str:
    """Return why there is no browser, or an empty text if there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "no selenium: pip install selenium"
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"no {' and no '.join(absent)}: install the Debian packages chromium and chromium-driver" if absent else ""


class Browser:
    """A browser that shows one page at a time, given as a file."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Open a page and wait until it is ready."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get(path.resolve().as_uri())
        wait_until(lambda: self.js("return document.documentElement.dataset.ready"))

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def settle(self) -> None:
        """Wait until the last change has been drawn."""
        wait = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)))"
        self.driver.execute_async_script(wait)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        text = self.js("return document.querySelector(arguments[0]).textContent", selector)
        return str(text).replace("\u00a0", " ")

    def move(
        self, selector: str, x: float, y: float, *, click: bool = False, drag: tuple[int, int] | None = None
    ) -> None:
        """Move the mouse to a place in an element, in shares of its size; then click there, or drag by some pixels."""
        from selenium.webdriver import ActionChains

        element = self.find(selector)
        self.js("arguments[0].scrollIntoView({block: 'center'})", element)
        width, height = self.js("const b = arguments[0].getBoundingClientRect(); return [b.width, b.height]", element)
        chain = ActionChains(self.driver, duration=0)
        chain.move_to_element_with_offset(element, round((x - 0.5) * width), round((y - 0.5) * height))
        if click:
            chain.click()
        if drag:
            chain.click_and_hold().move_by_offset(*drag).release()
        chain.perform()
        self.settle()

    def press(self, selector: str, *keys: str) -> None:
        """Give an element the focus, without a click, and press keys."""
        element = self.find(selector)
        self.js("arguments[0].focus()", element)
        element.send_keys("".join(KEYS.get(key, key) for key in keys))
        self.settle()

    def complaints(self) -> list[str]:
        """Return errors on the console, and requests for anything but the page itself, since the last call."""
        severe = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if not address.startswith(("data:", "blob:")) and address != self.driver.current_url:
                    asked.append(f"asked for {address}")
        return severe + asked


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Start a browser with a fresh profile."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.get("about:blank")
        for log in ("browser", "performance"):
            driver.get_log(log)  # empty the logs of the browser's own first page
        yield Browser(driver)
    finally:
        driver.quit()
