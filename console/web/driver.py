"""How a console draws that is shown in a browser."""

import os
import signal

from textual.drivers.web_driver import WebDriver
from typing_extensions import override


class BrowserDriver(WebDriver):
    """The library's driver, which also ends the console when its server is gone.

    However the server ends, killed too, its end of the pipe closes. The console then
    leaves as if it were killed: what was written is kept.
    """

    @override
    def run_input_thread(self) -> None:
        """Reads what the server sends until there is no more of it."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
