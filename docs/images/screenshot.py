"""A screenshot of a page, for the guides.

It needs selenium and the Debian packages chromium and chromium-driver.
"""

import base64
import io
import shutil
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = ("headless=new", "no-sandbox", "hide-scrollbars", "enable-unsafe-swiftshader")


def screenshot(page: Path, width: int, script: str = "") -> Image.Image:
    """Open a page, run a script in it, and return a picture of its element `main`."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        while not driver.execute_script("return document.documentElement.dataset.ready"):
            time.sleep(0.1)
        driver.execute_script(script)
        time.sleep(1)
        height = driver.execute_script("return document.querySelector('main').getBoundingClientRect().bottom") + 14
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    finally:
        driver.quit()
    return Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
