"""A headless Chromium, driven over its own protocol."""

import asyncio
import base64
import itertools
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pyte

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40}


@dataclass
class Page:
    """The one page of a browser, and what its terminal was sent."""

    wire: aiohttp.ClientWebSocketResponse
    session: str = ""
    urls: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _answers: dict[int, "asyncio.Future[Any]"] = field(default_factory=dict)
    _screen: pyte.Screen = field(default_factory=lambda: pyte.Screen(80, 24))
    _stream: pyte.ByteStream | None = None

    async def read(self) -> None:
        """Takes what the browser tells, until it is gone."""
        async for message in self.wire:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
            elif said["method"] == "Network.webSocketFrameReceived":
                frame = said["params"]["response"]
                if frame["opcode"] == 2:
                    self._fed(base64.b64decode(frame["payloadData"]))
            elif said["method"] == "Network.webSocketCreated":
                asked = parse_qs(urlsplit(said["params"]["url"]).query)
                size = int(asked["width"][0]), int(asked["height"][0])
                self._screen = pyte.Screen(*size)
                self._stream = pyte.ByteStream(self._screen)
            elif said["method"] == "Network.webSocketClosed":
                self.told.append("socket closed")
            elif said["method"] == "Inspector.targetCrashed":
                self.told.append("page crashed")
            elif said["method"] == "Network.webSocketFrameError":
                self.told.append(said["params"]["errorMessage"])
            elif said["method"] == "Network.requestWillBeSent":
                self.urls.append(said["params"]["request"]["url"])

    async def ask(self, method: str, **parameters: Any) -> Any:
        """Tells the browser to do something; its answer."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        said = {"id": number, "method": method, "params": parameters}
        if self.session:
            said["sessionId"] = self.session
        await self.wire.send_json(said)
        got = await answer
        assert "error" not in got, got
        return got["result"]

    async def open(self, url: str) -> None:
        """Goes to an address."""
        await self.ask("Page.navigate", url=url)

    async def value(self, script: str) -> Any:
        """What a line of script comes to on the page."""
        said = await self.ask("Runtime.evaluate", expression=script)
        return said["result"].get("value")

    async def becomes(self, script: str, limit: float = 40) -> None:
        """Waits until a line of script is true on the page."""
        end = time.monotonic() + limit
        while not await self.value(script):
            assert time.monotonic() < end, f"never {script!r}"
            await asyncio.sleep(0.02)

    async def press(self, key: str) -> None:
        """Presses a key: a letter, a name of `CODES`, or `ctrl+` and a letter."""
        plain = key.removeprefix("ctrl+")
        pressed = {
            "key": plain,
            "code": f"Key{plain.upper()}" if len(plain) == 1 else plain,
            "windowsVirtualKeyCode": CODES.get(plain) or ord(plain.upper()),
        }
        if plain != key:
            pressed |= {"type": "rawKeyDown", "modifiers": 2}
        elif key in CODES:
            pressed |= {"type": "keyDown", "text": {"Enter": "\r"}.get(key, "")}
        else:
            pressed = {"type": "char", "text": key}
        await self.ask("Input.dispatchKeyEvent", **pressed)

    async def write(self, text: str) -> None:
        """Types a text, letter by letter."""
        for letter in text:
            await self.press(letter)

    async def picture(self, path: Path) -> None:
        """Keeps what one sees."""
        said = await self.ask("Page.captureScreenshot")
        _keep(path, base64.b64decode(said["data"]))

    async def shows(self, wanted: str, limit: float = 40) -> None:
        """Waits until the terminal on the page shows these words."""
        end = time.monotonic() + limit
        while wanted not in self.screen():
            assert time.monotonic() < end, f"no {wanted!r} on\n{self.screen()}"
            await asyncio.sleep(0.02)

    async def hides(self, words: str, limit: float = 40) -> None:
        """Waits until the terminal on the page does not show these words any more."""
        end = time.monotonic() + limit
        while words in self.screen():
            assert time.monotonic() < end, f"still {words!r} on\n{self.screen()}"
            await asyncio.sleep(0.02)

    def screen(self) -> str:
        """What the terminal shows, and what became of its socket."""
        lines = [line.rstrip() for line in self._screen.display]
        return "\n".join([*lines, *self.told])

    def _fed(self, data: bytes) -> None:
        if self._stream is not None:
            self._stream.feed(re.sub(rb"\x1b\[[<>=?]\d+u", b"", data))


@asynccontextmanager
async def browser(folder: Path, window: tuple[int, int]) -> AsyncIterator[Page]:
    """A browser with a profile of its own, and its page."""
    assert BROWSER is not None
    process = await asyncio.create_subprocess_exec(
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-proxy-server",
        "--no-first-run",
        "--disable-background-networking",
        "--force-device-scale-factor=1",
        f"--window-size={window[0]},{window[1]}",
        f"--user-data-dir={folder}",
        "--remote-debugging-port=0",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        address = await _address(folder / "DevToolsActivePort")
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(address, max_msg_size=0) as wire,
        ):
            page = Page(wire)
            reading = asyncio.create_task(page.read())
            try:
                await _attach(page, window)
                yield page
            finally:
                reading.cancel()
    finally:
        process.kill()
        await process.wait()


def _keep(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def _address(port_file: Path) -> str:
    end = time.monotonic() + 30
    while not (address := _read_address(port_file)):
        assert time.monotonic() < end, "the browser did not start"
        await asyncio.sleep(0.05)
    return address


def _read_address(port_file: Path) -> str:
    said = port_file.read_text("utf-8") if port_file.exists() else ""
    port, _, path = said.partition("\n")
    return f"ws://127.0.0.1:{port}{path}" if path else ""


async def _attach(page: Page, window: tuple[int, int]) -> None:
    targets = (await page.ask("Target.getTargets"))["targetInfos"]
    target = next(t for t in targets if t["type"] == "page")
    got = await page.ask(
        "Target.attachToTarget", targetId=target["targetId"], flatten=True
    )
    page.session = got["sessionId"]
    await page.ask("Network.enable")
    await page.ask("Page.enable")
    await page.ask(
        "Emulation.setDeviceMetricsOverride",
        width=window[0],
        height=window[1],
        deviceScaleFactor=1,
        mobile=False,
    )
