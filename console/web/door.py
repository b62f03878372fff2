"""Where the console is served to browsers, and what opens it.

Apart from the server, so that a command can ask before the server's library is loaded.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where to listen, and who may come in.

    Attributes:
        host: Address or name to listen at.
        port: 0 for any that is free.
        token: What opens it.
        environment: Of each console's process.
    """

    host: str
    port: int
    token: str
    environment: Mapping[str, str]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host == "localhost" or (is_address(host) and _address(host).is_loopback)


def is_address(host: str) -> bool:
    """Whether it is a number and no name."""
    try:
        _address(host)
    except ValueError:
        return False
    return True


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
