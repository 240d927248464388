"""Drive headless Chromium over its debugging pipe, with the standard library alone.

Protocol: https://chromedevtools.github.io/devtools-protocol/. Messages are JSON, each ended by a
NUL byte; the browser reads file descriptor 3 and writes 4 (`--remote-debugging-pipe`).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--mute-audio", "--hide-scrollbars"),
    *("--no-default-browser-check", "--disable-default-apps", "--remote-debugging-pipe"),
)
_LAUNCH = "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); \
os.execv(sys.argv[3], sys.argv[3:])"
_PATIENCE = 20.0


def program() -> str:
    """Chromium's path; without one the test is skipped, or fails where CI promises one."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    reason = f"Chromium is not installed (looked for {', '.join(NAMES)}): apt-get install chromium"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Pipe:
    """Calls to the browser and what it reports, in order."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process, self._to, self._back = process, to, back
        self._rest = b""
        self._calls = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        message: dict[str, Any] = {"id": self._calls, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._read()
            if reply.get("id") == self._calls:
                if "error" in reply:
                    raise AssertionError(f"{method}: {reply['error']['message']}")
                result: dict[str, Any] = reply["result"]
                return result
            self.events.append(reply)

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self._back, 1 << 20) if ready else b""
            if not chunk:
                raise AssertionError(f"Chromium fell silent (exit status {self._process.poll()})")
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        reply: dict[str, Any] = json.loads(message)
        return reply


class Page:
    """One page. `problems` are console errors, exceptions, policy violations; `requests` URLs."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        target = pipe.call("Target.createTarget", url="about:blank")["targetId"]
        attached = pipe.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._pipe.call(method, self._session, **parameters)

    def go(self, url: str) -> None:
        """Open an address and wait for the page to be loaded."""
        self._pipe.events.clear()
        # A fragment alone would not load the page anew.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.protocol !== 'about:'")

    def value(self, expression: str) -> Any:
        """What an expression (or promise) of the page comes to."""
        reply = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in reply:
            raise AssertionError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, expression: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never became true: {expression}")
            time.sleep(0.01)

    def press(self, key: str, text: str = "", modifiers: int = 0) -> None:
        """A key as a person presses it; `text` is what it types."""
        code = {"Enter": 13, "Tab": 9, " ": 32, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38,
                "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}.get(key, 0)  # fmt: skip
        facts = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        typed = text or {"Enter": "\r", " ": " "}.get(key, "")
        down = {"type": "keyDown", "text": typed} if typed else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **down, **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def type(self, text: str) -> None:
        for character in text:
            self.press(character, character)

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of an element."""
        quoted = json.dumps(selector)
        x, y = self.value(
            f"(() => {{ const node = document.querySelector({quoted});"
            " node.scrollIntoView({block: 'center'});"
            " const box = node.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def shot(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """A picture of the page at a size, in light or dark."""
        self.dress(width, height, dark)
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def dress(self, width: int, height: int, dark: bool = False, media: str = "") -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    @property
    def problems(self) -> list[str]:
        found = []
        for event in self._pipe.events:
            method, facts = event.get("method", ""), event.get("params", {})
            if method == "Log.entryAdded":
                found.append(facts["entry"]["text"])
            elif method == "Runtime.exceptionThrown":
                found.append(str(facts["exceptionDetails"].get("exception", facts)))
            elif method == "Runtime.consoleAPICalled":
                found.append(str([one.get("value") for one in facts["args"]]))
            elif method in ("Page.javascriptDialogOpening", "Page.windowOpen"):
                found.append(f"{method}: {facts}")
        return found

    @property
    def requests(self) -> list[str]:
        return [
            event["params"]["request"]["url"]
            for event in self._pipe.events
            if event.get("method") == "Network.requestWillBeSent"
        ]


@contextmanager
def browser() -> Iterator[Pipe]:
    """A browser of one's own, with an empty profile."""
    path = program()
    down, up = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (down[0], up[1])]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [path, *SWITCHES, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, theirs), *command],
            pass_fds=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for one in (*theirs, down[0], up[1]):
            os.close(one)
        pipe = Pipe(process, down[1], up[0])
        try:
            yield pipe
            pipe.call("Browser.close")
        finally:
            os.close(down[1])
            os.close(up[0])
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
