"""Serves the console to browsers that know the token, and to nothing else.

Whoever reaches this server acts as the operator, so nothing of it answers without
proof: the token in the address, exchanged at once for a cookie so that it stays in no
history. A page of another site is kept out by three things: the `Host` must be a name
of ours (a name that was re-bound to this machine is none), an `Origin` must be the
page's own, and the cookie goes with no request of another site. Neither token nor
cookie is written anywhere: there is no access log, and the consoles don't get them.
"""

import asyncio
import hmac
import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web

from console.theme import DARK
from console.web.door import Door, is_address, is_loopback
from console.web.session import Session
from core.errors import BadConfiguration

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_STATIC = files(textual_serve).joinpath("static")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
_CELLS = re.compile(r"[0-9]{1,4}")
_MOST = 20
"""Consoles at a time; each is a process of its own."""

_SIZES = range(6, 73)
_SIZE = 16

NO_ENTRY = "Open the address that `handoff web` printed, with its token.\n"

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "handoff",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


async def serve(
    door: Door, opened: Callable[[int], None], stopping: asyncio.Event
) -> None:
    """Serves until it is to stop; then every console is left in order.

    Args:
        door: Where and for whom.
        opened: Called with the port once browsers can come.
        stopping: Set to end it.

    Raises:
        BadConfiguration: Nobody can listen there.
    """
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # quotes requests
    site = Site(door)
    runner = web.AppRunner(site.application(), access_log=None, shutdown_timeout=10)
    await runner.setup()
    try:
        await web.TCPSite(runner, door.host, door.port).start()
        opened(runner.addresses[0][1])
        await stopping.wait()
    except OSError as wrong:
        why = (wrong.strerror or "it can't be used").lower()
        place = f"{door.host}, port {door.port}"
        raise BadConfiguration(f"can't listen at {place}: {why}") from None
    finally:
        await runner.cleanup()


@dataclass(slots=True)
class Site:
    """The pages of one door."""

    door: Door
    _pass: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _cookie: str = field(default_factory=lambda: f"handoff_{secrets.token_hex(4)}")
    _sockets: set[web.WebSocketResponse] = field(default_factory=set)

    def application(self) -> web.Application:
        """What answers requests."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        made = web.Application(middlewares=[guard])
        made.add_routes(
            [
                web.get("/", self._page),
                web.get("/page.js", _script),
                web.get("/ws", self._socket),
                web.static("/static", str(_STATIC)),
            ]
        )
        made.on_response_prepare.append(_add_headers)
        made.on_shutdown.append(self._close)
        return made

    async def _guard(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        own = {f"http://{host}"} | ({None} if request.path != "/ws" else set())
        if not self._is_ours(host) or request.headers.get("Origin") not in own:
            return _no_entry()
        if request.path == "/" and "token" in request.query:
            if not _same(request.query["token"], self.door.token):
                return _no_entry()
            answer = web.Response(status=303, headers={"Location": "/"})
            answer.set_cookie(
                self._cookie, self._pass, httponly=True, samesite="Strict"
            )
            return answer
        if not _same(request.cookies.get(self._cookie, ""), self._pass):
            return _no_entry()
        return await handler(request)

    def _is_ours(self, host: str) -> bool:
        """Whether a page under this name can only be ours."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].lower()
        if is_loopback(name) or name == self.door.host.lower():
            return True
        return not is_loopback(self.door.host) and is_address(name)

    async def _page(self, request: web.Request) -> web.Response:
        host = request.headers["Host"]
        said = request.query.get("fontsize", "")
        size = int(said) if said.isdecimal() and int(said) in _SIZES else _SIZE
        page = _ours("page.html")
        for name, value in (
            ("socket", f"ws://{host}/ws"),
            ("size", str(size)),
            ("ground", DARK.background or ""),
            ("text", DARK.foreground or ""),
        ):
            page = page.replace(f"@{name}@", escape(value))
        policy = {"Content-Security-Policy": _POLICY.format(host=host)}
        return web.Response(text=page, content_type="text/html", headers=policy)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if len(self._sockets) >= _MOST:
            raise web.HTTPServiceUnavailable(text=f"{_MOST} consoles are open\n")
        socket = web.WebSocketResponse(heartbeat=15)
        await socket.prepare(request)
        self._sockets.add(socket)
        session = Session(socket, self.door.environment)
        try:
            await session.start(
                _cells(request.query.get("width"), 80),
                _cells(request.query.get("height"), 24),
            )
            async with asyncio.TaskGroup() as together:
                together.create_task(session.run())
                try:
                    await _listen(socket, session)
                finally:
                    await session.stop()
        finally:
            self._sockets.discard(socket)
        return socket

    async def _close(self, application: web.Application) -> None:
        del application
        going = [s.close(code=WSCloseCode.GOING_AWAY) for s in self._sockets]
        await asyncio.gather(*going, return_exceptions=True)


def _ours(name: str) -> str:
    return files("console.web").joinpath(name).read_text(encoding="utf-8")


async def _script(request: web.Request) -> web.Response:
    del request
    return web.Response(text=_ours("page.js"), content_type="text/javascript")


async def _listen(socket: web.WebSocketResponse, session: Session) -> None:
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            try:
                said: object = message.json()
            except ValueError:
                continue
            await session.take(said)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers.update(_HEADERS)


def _no_entry() -> web.Response:
    return web.Response(status=403, text=NO_ENTRY)


def _same(said: str, wanted: str) -> bool:
    return hmac.compare_digest(
        said.encode(errors="replace"), wanted.encode(errors="replace")
    )


def _cells(said: str | None, usual: int) -> int:
    return int(said) if said and _CELLS.fullmatch(said) else usual
