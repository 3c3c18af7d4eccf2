"""Brokers that only pretend: each reads the metadata log, and says so in its heartbeats."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from tests.kafka.confirm.quorum.fake_broker import DEFINITIONS, FakeBroker, records_of
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController

EVERY_SECONDS = 0.005


class FakeBrokers:
    """The brokers of a stage, without a process; the log of each is that of the metadata alone."""

    def __init__(self, folder: Path, number: int) -> None:
        self.ports = list(range(number))
        self.topic = "t"
        self.quorum = ScriptedController(DEFINITIONS, number)
        self.lives: dict[int, Life] = {}
        self.last_epochs: dict[int, int] = {}
        self._folder = folder

    def start(self, broker: int) -> None:
        previous = self.last_epochs.pop(broker, -1)
        self.lives[broker] = Life(self.quorum, broker, previous)

    def is_up(self, broker: int) -> bool:
        return broker in self.lives and not self.lives[broker].is_over.is_set()

    def require(self, broker: int) -> None:
        assert self.is_up(broker)

    def last_lines(self, broker: int) -> str:
        return "its log ends: nothing"

    def await_serving(self, broker: int) -> None:
        assert not self.quorum.broker(broker).is_fenced or self.is_up(broker)

    def kill(self, broker: int) -> None:
        self.lives.pop(broker).end()

    def ask_to_end(self, broker: int) -> None:
        self.lives[broker].wants_shutdown = True

    def shut_down(self, broker: int) -> None:
        life = self.lives.pop(broker)
        self.last_epochs[broker] = life.asks.epoch
        life.end()

    def partition(self, broker: int) -> Path:
        return self._folder / f"log-{broker}"

    def checkpoint_file(self, broker: int) -> Path:
        return self._folder / f"checkpoint-{broker}"

    def checkpoint_files(self, broker: int) -> list[Path]:
        return [self.checkpoint_file(broker)]

    def end_all(self) -> None:
        for life in self.lives.values():
            life.end()


class Life:
    """From start to end of a process: it registers, reads what there is, and says so."""

    def __init__(self, quorum: ScriptedController, broker: int, previous: int) -> None:
        self.asks = FakeBroker(quorum, broker)
        self.wants_shutdown = False
        self.is_over = threading.Event()
        self.read: list[str] = []
        """The names of the records that it has read."""
        self._previous = previous
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.is_over.set()
        self._thread.join(5)

    def _live(self) -> None:
        try:
            self.asks.register(previous=self._previous)
            end = 0
            while not self.is_over.is_set():
                answer: Any = self.asks.fetch(end)
                if answer.high_watermark > end:
                    self.read += [name for name, _ in records_of(answer)]
                    end = answer.high_watermark
                beat = self.asks.beat(end - 1, want_shut_down=self.wants_shutdown)
                if beat.should_shut_down:
                    self.is_over.set()
                time.sleep(EVERY_SECONDS)
        except (OSError, AttributeError):
            self.is_over.set()  # The controller is gone.
