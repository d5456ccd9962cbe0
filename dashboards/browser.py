"""A headless Chromium that looks at the pages: for tests, benchmarks and pictures.

Needs Debian's chromium and chromium-driver, and selenium (the extra `pictures`).
"""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import JavascriptException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

LAPTOP, PHONE = (1366, 768), (390, 844)
TIMEOUT_SECONDS = 60.0
_LEARNS_SECONDS = 0.05
"""Until the page has learnt of a click."""
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class PageFault(AssertionError):
    """A page did not come to rest, or does not have what was looked for."""


def missing_browser() -> str:
    """What is missing for a browser; "" where nothing is."""
    lacking = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


class Browser:
    """One browser window; `with` closes it."""

    def __init__(self, address: str, size: tuple[int, int] = LAPTOP, *, dark: bool = False) -> None:
        """Opens a window of that size in pixels, on no page yet."""
        self._address, self._size = address, size
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = Options()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*_FLAGS, f"--user-data-dir={self._profile.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service(shutil.which("chromedriver"), log_output=os.devnull)
        self._driver = webdriver.Chrome(options=options, service=service)
        self.look(size, dark=dark)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._driver.quit()
        self._profile.cleanup()

    def look(self, size: tuple[int, int], *, dark: bool = False) -> None:
        """The window is of that size, and the visitor's system dark or light, from now on."""
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._tell("Emulation.setEmulatedMedia", features=theme)
        self._size = size
        self._resize(*size)

    def begin_anew(
        self, address: str, size: tuple[int, int] = LAPTOP, *, dark: bool = False
    ) -> None:
        """Becomes another visitor's window, on no page yet, as if it had just been started.

        It has no history, no cookies and nothing that pages kept; but files that never change need
        not be fetched and compiled once more.
        """
        left = self._driver.current_window_handle
        self._driver.switch_to.new_window("tab")
        opened = self._driver.current_window_handle
        self._driver.switch_to.window(left)
        self._driver.close()
        self._driver.switch_to.window(opened)
        self._tell("Network.clearBrowserCookies")
        if self._address:
            self._tell("Storage.clearDataForOrigin", origin=self._address, storageTypes="all")
        self.console_errors()  # what earlier pages had to say
        self._address = address
        self.look(size, dark=dark)

    def _tell(self, command: str, **values: Any) -> Any:
        return self._driver.execute_cdp_cmd(command, values)

    def _resize(self, width: int, height: int) -> None:
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def open(self, path: str) -> float:
        """Goes to a page and waits until it is drawn; returns the seconds that it took."""
        started = time.monotonic()
        self.go(path)
        self.settle()
        return time.monotonic() - started

    def go(self, path: str) -> None:
        """Goes to a page, which need not be one of ours, and waits for nothing."""
        self._driver.get(f"{self._address}{path}")

    def settle(self, timeout: float = TIMEOUT_SECONDS) -> float:
        """Waits until no script runs and nothing is loading; returns the seconds waited.

        Raises:
          PageFault: it never came to rest.
        """
        started = time.monotonic()
        while (left := timeout + started - time.monotonic()) > 0:
            try:
                # The page looks by itself: asked 50 times a second, it would draw more slowly.
                if self._driver.execute_async_script(_UNTIL_REST, 1_000 * min(left, 5.0)):
                    return time.monotonic() - started
            except JavascriptException:
                time.sleep(0.02)  # it was left for another page meanwhile
        raise PageFault(f"{self._driver.current_url} did not come to rest in {timeout} s")

    def wait_for(
        self, text: str = "", timeout: float = TIMEOUT_SECONDS, *, element: str = "", at: str = ""
    ) -> None:
        """Waits for a text, an element (by CSS selector), and a part of the address.

        Raises:
          PageFault: it never had them; the message has what the page shows.
        """
        deadline = time.monotonic() + timeout
        while not (text in self.text and at in self.address and self.find(element or "body")):
            if time.monotonic() > deadline:
                missing = text or element or at
                raise PageFault(f"{missing!r} is not on {self.address}, which says: {self.text}")
            time.sleep(0.1)

    @property
    def text(self) -> str:
        """All text that the page shows."""
        return str(self._driver.execute_script("return document.body.innerText"))

    @property
    def source(self) -> str:
        """The page's HTML as it stands."""
        return str(self._driver.execute_script("return document.body.outerHTML"))

    @property
    def address(self) -> str:
        """What the address bar says."""
        return self._driver.current_url

    def run(self, script: str) -> Any:
        """Runs a script in the page and returns its value."""
        return self._driver.execute_script(script)

    def run_until_answered(self, script: str) -> Any:
        """Runs a script in the page that calls `answer` with its value later."""
        head = "const answer = arguments[arguments.length - 1];"
        return self._driver.execute_async_script(head + script)

    def slow_down(self, times: float, bits_a_second: float, latency_ms: float) -> None:
        """From now on the processor is so many times slower, behind a line of that speed."""
        self._tell("Emulation.setCPUThrottlingRate", rate=times)
        self._tell("Network.enable")
        self._tell(
            "Network.emulateNetworkConditions",
            offline=False,
            latency=latency_ms,
            downloadThroughput=bits_a_second / 8,
            uploadThroughput=bits_a_second / 8,
        )

    def save_into(self, folder: Path) -> None:
        """From now on, what a page saves goes into this folder."""
        self._tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def find(self, selector: str) -> list[WebElement]:
        """Elements by CSS selector."""
        return self._driver.find_elements(By.CSS_SELECTOR, selector)

    def click(self, label: str) -> float:
        """Clicks the visible button or tab of that label; returns the seconds until the page rests.

        Raises:
          PageFault: there is none.
        """
        named = f"normalize-space(.)='{label}' or .//*[normalize-space(text())='{label}']"
        path = f"//*[self::button or @role='tab' or @role='radio'][{named}]"
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            try:
                for button in self._driver.find_elements(By.XPATH, path):
                    if button.is_displayed() and button.is_enabled():
                        self.run_on(_WATCHED, button)
                        button.click()
                        if self.run("return window.clicked === false"):
                            continue  # it moved from under the pointer
                        time.sleep(_LEARNS_SECONDS)
                        return self.settle() + _LEARNS_SECONDS
            except WebDriverException:
                pass  # it was being drawn again
            time.sleep(0.1)
        raise PageFault(f"there is no button {label!r} on the page, which says: {self.text}")

    def unfold(self, label: str) -> None:
        """Opens the folded box of that label and waits until the page rests.

        Raises:
          PageFault: there is none.
        """
        for summary in self.find("details > summary"):
            if label in summary.text:
                self.run_on("arguments[0].click()", summary)
                time.sleep(_LEARNS_SECONDS)
                self.settle()
                return
        raise PageFault(f"there is no box {label!r} on the page, which says: {self.text}")

    def point(self, selector: str, x: float, y: float, *, click: bool = False) -> None:
        """Moves the pointer over an element, to shares of its width and height; may click there.

        Raises:
          PageFault: there is no such element.
        """
        found = self.find(selector)
        if not found:
            raise PageFault(f"there is no {selector!r} on the page, which says: {self.text}")
        self.run_on("arguments[0].scrollIntoView({block: 'center'})", found[0])
        left, top, width, height = self.run_on(_BOX, found[0])
        where = {"x": left + x * width, "y": top + y * height}
        self._tell("Input.dispatchMouseEvent", type="mouseMoved", **where)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            button = {"button": "left", "clickCount": 1}
            self._tell("Input.dispatchMouseEvent", type=kind, **button, **where)
        if click:
            time.sleep(_LEARNS_SECONDS)
            self.settle()

    def run_on(self, script: str, element: WebElement) -> Any:
        """Runs a script about an element."""
        return self._driver.execute_script(script, element)

    def write(self, label: str, text: str) -> None:
        """Puts a text into the field of that label, in place of what it has.

        Raises:
          PageFault: there is no such field.
        """
        found = self.find(f'input[aria-label="{label}"], textarea[aria-label="{label}"]')
        if not found:
            raise PageFault(f"there is no field {label!r} on the page, which says: {self.text}")
        self.run_on("arguments[0].focus(); arguments[0].select()", found[0])
        self._tell("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Presses a key where the focus is, and waits until the page rests."""
        ActionChains(self._driver).send_keys(key).perform()
        time.sleep(_LEARNS_SECONDS)
        self.settle()

    def exceptions(self) -> list[str]:
        """Texts of the exceptions that the page shows."""
        return [element.text for element in self.find('[data-testid="stException"]')]

    def console_errors(self) -> list[str]:
        """Errors on the console since the last call, but for Streamlit's own search for its root.

        On a page of some path the front end first asks that path for the server, and is told 404.
        """
        entries = self._driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [
            entry["message"]
            for entry in entries
            if entry["level"] == "SEVERE" and "/_stcore/" not in entry["message"]
        ]

    def picture(self, file: Path, most_pixels: int = 1_800) -> None:
        """Saves the page, down to its end or that many pixels, as PNG."""
        width, height = self._size
        length = int(self.run(_HEIGHT))
        self._resize(width, min(max(height, length), most_pixels))
        time.sleep(0.7)  # charts adapt to the window
        self.settle()
        shot = self._tell("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(shot["data"]))
        self._resize(width, height)


_AT_REST = """
    const app = document.querySelector('[data-testid="stApp"]');
    return Boolean(app) && app.getAttribute('data-test-script-state') === 'notRunning'
        && app.getAttribute('data-test-connection-state') === 'CONNECTED'
        && !document.querySelector('[data-testid="stSkeleton"], .pointed:empty')
        && Boolean(document.querySelector('[data-testid="stMainBlockContainer"]')?.innerText);
"""
_UNTIL_REST = f"""
    const [timeout, answer] = arguments, until = performance.now() + timeout;
    const rests = () => {{ {_AT_REST} }};
    const look = () => {{
        const found = rests();
        if (found || performance.now() > until) answer(found);
        else setTimeout(look, 20);
    }};
    look();
"""
_WATCHED = """
    window.clicked = false;
    arguments[0].addEventListener('click', () => { window.clicked = true; }, {once: true});
    arguments[0].scrollIntoView({block: 'center'});
"""
_BOX = """
    const box = arguments[0].getBoundingClientRect();
    return [box.left, box.top, box.width, box.height];
"""
_HEIGHT = """
    const main = document.querySelector('[data-testid="stMainBlockContainer"]');
    return main ? main.getBoundingClientRect().height : 0;
"""
