"""A real browser for tests: headless Chromium, driven over its DevTools protocol with the standard library alone."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
)
PATIENCE = 60.0
"""Seconds to wait for the browser on a busy machine."""


class Tab:
    """One page of the browser; `errors` gathers what went wrong in it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.last = 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its answer; what the browser reports meanwhile is noted."""
        self.last += 1
        _send(self.connection, json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            message = json.loads(_receive(self.connection))
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        kind, params = message.get("method"), message.get("params", {})
        logged = kind == "Log.entryAdded" and params["entry"]["level"] == "error"
        printed = kind == "Runtime.consoleAPICalled" and params["type"] in {"error", "assert"}
        if logged or printed or kind in {"Runtime.exceptionThrown", "Page.javascriptDialogOpening"}:
            self.errors.append(json.dumps(params))
        elif kind == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file and wait for it."""
        if fragment:  # The page may be there already, and would not be loaded again for a fragment.
            self.call("Page.navigate", url="about:blank")
        # The page before would pass for a loaded one until the new one has taken its place.
        self.run("window.isBefore = true")
        self.call("Page.navigate", url=page.as_uri() + fragment)
        self.wait("!window.isBefore && document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """A key as a person presses it."""
        shown = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        codes = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "Escape": 27, "Tab": 9, " ": 32}
        code = codes.get(key, ord(key[0].upper()))
        kind = "keyDown" if shown else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=kind, key=key, text=shown, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screen(self, width: int, *, dark: bool = False, height: int = 900) -> None:
        """The size of the screen, and which colours its owner prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """What is to be seen, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A tab of a fresh browser whose downloads lie in `folder`; skips where there is no Chromium."""
    binary = next((found for name in NAMES if (found := shutil.which(name))), None)
    if binary is None:
        pytest.skip(f"NO BROWSER: none of {', '.join(NAMES)} is installed, so the page's script is not tested")
    own = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # the browser's, and gone with it
    profile = Path(own.name) / "profile"
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=log,
            stderr=log,
            env={**os.environ, "TMPDIR": own.name},
        )
    try:
        connection = _connect(profile / "DevToolsActivePort", process)
        with connection:
            tab = Tab(connection)
            tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
            yield tab
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        own.cleanup()


def _connect(port_file: Path, process: subprocess.Popen[bytes]) -> socket.socket:
    """A websocket to the first tab."""
    end = time.monotonic() + PATIENCE
    while not (port_file.exists() and port_file.read_text().count("\n")):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"Chromium did not start (exit code {process.poll()})")
        time.sleep(0.05)
    port = int(port_file.read_text().split("\n")[0])
    while True:
        asking = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        asking.request("GET", "/json/list")
        answer = json.loads(asking.getresponse().read())
        asking.close()
        found = next((tab["webSocketDebuggerUrl"] for tab in answer if tab["type"] == "page"), None)
        if found:
            break
        if time.monotonic() > end:
            raise RuntimeError(f"Chromium has no page: {answer}")
        time.sleep(0.05)
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET {urlsplit(found).path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += _exactly(connection, 1)
    return connection


def _send(connection: socket.socket, text: str) -> None:
    """A text frame, masked with zeros as a client's must be masked."""
    body = text.encode()
    size = len(body)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2, "big")
    if size >= 1 << 16:
        length = bytes([0x80 | 127]) + size.to_bytes(8, "big")
    connection.sendall(b"\x81" + length + b"\0\0\0\0" + body)


def _receive(connection: socket.socket) -> str:
    """The next whole message."""
    body = b""
    while True:
        first, size = _exactly(connection, 2)
        if size == 126:
            size = int.from_bytes(_exactly(connection, 2), "big")
        elif size == 127:
            size = int.from_bytes(_exactly(connection, 8), "big")
        part = _exactly(connection, size)
        if first & 0x0F <= 2:  # pings and the like are of no interest
            body += part
            if first & 0x80:
                return body.decode()


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError("Chromium closed the connection")
        parts += part
    return parts
