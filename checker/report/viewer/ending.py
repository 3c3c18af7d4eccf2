"""End of a screen by a signal: in order, so that the terminal is left as it was."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from textual.app import App

ENDED_BY_SIGNAL = 128 + signal.SIGTERM


def exit_on_sigterm(app: App[int]) -> None:
    """Exit with `ENDED_BY_SIGNAL` on SIGTERM; call it once the app is mounted."""
    with contextlib.suppress(NotImplementedError):  # no signals where there is no Unix
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGTERM, lambda: app.exit(ENDED_BY_SIGNAL)
        )
