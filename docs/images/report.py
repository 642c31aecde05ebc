"""Take the picture of a report for the guide: python docs/images/report.py

It needs selenium and the Debian packages chromium and chromium-driver.
"""

import base64
import io
import shutil
import tempfile
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from gradcon import Options, estimate, open_scene, synth, write_report

PATH = Path(__file__).with_name("report.png")
WIDTH = 1200
STATE = "gradcon.set({ x: 0.3841, y: 0.6185, solve: 60, yaw: 0.35, pitch: 0.12 })"


def main() -> None:
    """Estimate, write the page, and take a screenshot of it."""
    with tempfile.TemporaryDirectory() as folder:
        scene = open_scene(synth.write("occlusion", Path(folder) / "scene" / "occlusion", (384, 384)))
        result = estimate(scene, Options("gcm", solves=60), keep_weights=True)
        page = write_report([result.save(Path(folder) / "occlusion")], Path(folder) / "report.html").path
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in ("headless=new", "no-sandbox", "hide-scrollbars", "enable-unsafe-swiftshader"):
            options.add_argument(f"--{flag}")
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(page.as_uri())
            while not driver.execute_script("return document.documentElement.dataset.ready"):
                time.sleep(0.1)
            driver.execute_script(STATE)
            time.sleep(1)
            height = driver.execute_script("return document.querySelector('main').getBoundingClientRect().bottom") + 14
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        finally:
            driver.quit()
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(PATH, optimize=True)


if __name__ == "__main__":
    main()
