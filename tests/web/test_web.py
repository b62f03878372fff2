"""The console in a browser: who gets in, and the whole way once through."""

import asyncio
import signal
import time
from pathlib import Path

import aiohttp
import pytest

from core.flows.handoff import take_over
from core.history import History
from core.lock import HolderKind
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.console.counter import Counter
from tests.console.shown import ME
from tests.web.browser import BROWSER, Page, browser
from tests.web.served import Served, alive, code_of, environment_of, served

in_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium here: apt-get install chromium"
)
LIMIT = 40
"""Seconds for what must come."""

PAUSE = 0.4
"""Seconds before a key that decides: it must stand alone, and panels are deaf first."""

PATHS = ("/", "/static/js/textual.js", "/page.js", "/ws", "/nothing", "/?token=guess")


@pytest.fixture
async def counter(sqlite_store: SqlStore) -> Counter:
    return await Counter(sqlite_store).people()


@pytest.fixture
async def noors_url(store: SqlStore, store_url: str) -> str:
    """A store with two people on each of both databases, as Noor reaches it."""
    if not store_url.startswith("sqlite"):
        boss = ("--store", store_url, "operator", "add", "Noor", "--role", "supervisor")
        assert await code_of(*boss) == 0
    await Counter(store).people()
    return store_url.replace("//postgres@", "//Noor@")


async def status(
    http: aiohttp.ClientSession, url: str, **headers: str
) -> tuple[int, str]:
    async with http.get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status, await answer.text()


def upgrade(origin: str) -> dict[str, str]:
    """What a browser sends for a websocket."""
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Origin": origin,
    }


async def test_without_the_token_nothing_answers(
    counter: Counter, sqlite_url: str
) -> None:
    async with served(sqlite_url) as web, aiohttp.ClientSession() as http:
        for path in PATHS:
            code, text = await status(http, web.base + path)
            assert (code, text[:8]) == (403, "Open the"), path
        code, _ = await status(http, f"{web.base}/ws", **upgrade(web.base))
        assert code == 403
        assert web.consoles() == []


async def test_a_page_of_another_site_gets_nothing_though_the_browser_is_known(
    counter: Counter, sqlite_url: str
) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with served(sqlite_url) as web, aiohttp.ClientSession(cookie_jar=jar) as http:
        assert (await status(http, web.url))[0] == 303
        cookie = next(iter(jar))
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
        assert cookie.value != web.token
        assert (await status(http, web.base + "/"))[0] == 200

        rebound = {"Host": "evil.example"}
        assert (await status(http, web.base + "/", **rebound))[0] == 403
        assert (await status(http, web.url, **rebound))[0] == 403
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null", ""):
            code, _ = await status(http, f"{web.base}/ws", **upgrade(origin))
            assert code == 403, origin
        assert web.consoles() == []


async def test_a_token_of_ones_own_is_checked_never_printed_and_never_passed_on(
    counter: Counter, sqlite_url: str, tmp_path: Path
) -> None:
    token = "only-this-test-knows-it"
    env = {"HANDOFF_WEB_TOKEN": token, "HANDOFF_LOG": str(tmp_path / "log")}
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        served(sqlite_url, env=env) as web,
        aiohttp.ClientSession(cookie_jar=jar) as http,
    ):
        assert token not in web.url
        assert (await status(http, f"{web.base}/?token={token}"))[0] == 303
        async with http.ws_connect(f"{web.base}/ws", origin=web.base) as wire:
            assert (await wire.receive()).type is aiohttp.WSMsgType.BINARY
            (console,) = web.consoles()
            assert token not in environment_of(console)
            await wire.send_str('["stdin"]')  # what makes no sense harms nobody
            await wire.send_str("{")
            await wire.send_str('["resize", {"width": -5, "height": 1e9}]')
            await wire.send_str('["stdin", "\\ud800"]')
            await wire.send_str('["ping", "1"]')
            while (said := await wire.receive()).type is aiohttp.WSMsgType.BINARY:
                pass
            assert said.data == '["pong", "1"]'
        assert token not in (tmp_path / "log").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        (["--host", "0.0.0.0"], {}, "can be reached from other machines"),
        ([], {"HANDOFF_WEB_TOKEN": "short"}, "expected 20 characters or more"),
        (["--host", "192.0.2.1", "--exposed"], {}, "can't listen at 192.0.2.1"),
    ],
)
async def test_what_is_not_safe_or_not_possible_is_refused_in_one_line(
    counter: Counter,
    sqlite_url: str,
    arguments: list[str],
    env: dict[str, str],
    words: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(AssertionError, match="it ended"):
        async with served(sqlite_url, *arguments, env=env):
            pass
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert words in err


async def gone(pids: list[int], page: Page | None = None) -> None:
    end = time.monotonic() + LIMIT
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end, page.screen() if page else pids
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGKILL, -9)],
)
async def test_consoles_end_with_their_server_however_it_ends(
    counter: Counter, sqlite_url: str, number: int, code: int
) -> None:
    jar = aiohttp.CookieJar(unsafe=True)
    async with served(sqlite_url) as web, aiohttp.ClientSession(cookie_jar=jar) as http:
        await status(http, web.url)
        async with http.ws_connect(f"{web.base}/ws", origin=web.base) as wire:
            await wire.receive()
            consoles = web.consoles()
            assert len(consoles) == 1
            assert await web.ended(number) == code
            await gone(consoles)


async def history_of(counter: Counter, ticket: TicketId) -> History:
    return await counter.store.read(lambda tx: tx.history(ticket))


def held_by(history: History) -> str | None:
    holder = history.lock.holder
    return holder.name if holder and holder.kind is HolderKind.OPERATOR else None


async def comes_to_be_held(
    counter: Counter, ticket: TicketId, wanted: str | None, page: Page
) -> None:
    end = time.monotonic() + LIMIT
    while held_by(await history_of(counter, ticket)) != wanted:
        assert time.monotonic() < end, page.screen()
        await asyncio.sleep(0.05)


@in_browser
async def test_log_in_take_over_reply_and_release_in_a_browser(
    store: SqlStore, noors_url: str, tmp_path: Path
) -> None:
    counter = Counter(store)
    ticket = await counter.writes("The lamp never came. Where is it?", subject="Lamp")
    async with (
        served(noors_url) as web,
        browser(tmp_path / "profile", (1280, 800)) as page,
    ):
        await page.open(web.url)
        await page.shows("● live")
        assert await page.value("location.href") == f"{web.base}/"
        await page.shows("The lamp never came")
        await page.press("t")
        await comes_to_be_held(counter, ticket, "Noor", page)
        await page.shows("YOU HOLD")
        await page.press("r")
        await page.shows("^s send")
        await page.write("It is on its way. q 1")
        await page.shows("It is on its way. q 1")
        await page.picture(tmp_path / "web.png")
        await page.press("ctrl+s")
        await page.shows("does not leave yet: no channel")
        reply = [r.text for r in (await history_of(counter, ticket)).outbox]
        assert reply == ["It is on its way. q 1"]
        await _gives_back(page)
        await comes_to_be_held(counter, ticket, None, page)
        await _leaves(page, web)


async def _gives_back(page: Page) -> None:
    await page.press("Escape")
    await page.shows("r reply")
    await asyncio.sleep(PAUSE)
    await page.press("R")
    await page.shows("Give back")
    await asyncio.sleep(PAUSE)
    await page.press("Enter")


async def _leaves(page: Page, web: Served) -> None:
    consoles = web.consoles()
    await page.hides("YOU HOLD")  # else it asks first
    await asyncio.sleep(PAUSE)
    await page.press("q")
    await gone(consoles, page)
    await page.shows("The console was left.")
    assert "Lamp" not in page.screen()
    await page.becomes("document.body.classList.contains('-closed')")
    assert all(url.startswith((web.base, "data:")) for url in page.urls), page.urls


@in_browser
async def test_a_closed_page_keeps_what_was_typed_last(
    counter: Counter, sqlite_url: str, tmp_path: Path
) -> None:
    ticket = await counter.writes("Hello?", subject="Lamp")
    await take_over(counter.store, ticket, ME)
    async with (
        served(sqlite_url) as web,
        browser(tmp_path / "profile", (1280, 800)) as page,
    ):
        await page.open(web.url)
        await page.shows("YOU HOLD")
        await page.press("r")
        await page.shows("^s send")
        await page.write("half a sent")
        consoles = web.consoles()
        await page.ask("Page.navigate", url="about:blank")
        await gone(consoles)
        drafts = [d.text for d in (await history_of(counter, ticket)).drafts]
        assert drafts == ["half a sent"]
