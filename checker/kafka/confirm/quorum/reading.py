"""Frames between brokers, read by the definitions of the release's own jars."""

from __future__ import annotations

import struct
from typing import Any

from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.proxy import Reader
from waterline.checker.kafka.confirm.quorum.codec import read_request_frame, read_response_frame
from waterline.checker.kafka.confirm.quorum.definitions import Definitions
from waterline.checker.kafka.confirm.wire import Request

_UNREADABLE = (ValueError, LookupError, struct.error)


def reader_of(definitions: Definitions) -> Reader:
    """Return the reader of a link. It raises `NoAnswer` for a frame that does not fit."""

    def request(frame: bytes) -> Request:
        try:
            header, body = read_request_frame(definitions, frame)
        except _UNREADABLE as problem:
            raise NoAnswer(f"a request cannot be read: {problem}") from None
        return Request(header.request_api_key, header.request_api_version, body)

    def answer(key: int, version: int, frame: bytes) -> Any:
        try:
            return read_response_frame(definitions, key, version, frame)
        except _UNREADABLE as problem:
            raise NoAnswer(f"the answer to request {key} cannot be read: {problem}") from None

    return Reader(request, answer)
