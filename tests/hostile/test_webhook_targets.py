"""Hostile targets of webhooks: addresses that are not public, and receivers that send whatever they like."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.config import Config
from directory_server.features.webhooks.rules import Message, Sent, new_secret
from directory_server.features.webhooks.sender import DEADLINE, sender_of
from directory_server.features.webhooks.settings import WebhooksConfig
from directory_server.runtime.run_sync import inline

from ..contract import awaited

MESSAGE = Message("msg_1", "test", {"message": "Hello."})
KEY = new_secret()

Answer = Callable[[socket.socket], None]


class Receiver:
    """A receiver on a loopback port that answers with `answer`, and records requests."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.requests.append(connection.recv(65_536))
                try:
                    self._answer(connection)
                except OSError:
                    continue

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def receive() -> Iterator[Callable[[Answer], Receiver]]:
    receivers: list[Receiver] = []

    def start(answer: Answer) -> Receiver:
        receivers.append(Receiver(answer))
        return receivers[-1]

    yield start
    for receiver in receivers:
        receiver.close()


def raw(data: bytes) -> Answer:
    return lambda connection: connection.sendall(data)


async def send(
    url: str, *, allowed: Sequence[str] = (), resolved: Sequence[str] = (), hosts: list[str] | None = None
) -> Sent:
    """Send a message with the reactor of the tests. `hosts` gets the names that are looked up."""
    from twisted.internet import reactor

    def resolve(host: str, *_: Any, **__: Any) -> list[Any]:
        if hosts is not None:
            hosts.append(host)
        return [(2, 1, 6, "", (address, 0)) for address in resolved or [host]]

    config = Config(features={"webhooks": WebhooksConfig(allowed_networks=tuple(allowed))})
    sender = sender_of(config, reactor, lambda: 1_800_000_000.0, lookup=inline, resolve=resolve)
    try:
        return await sender.send(url, [KEY], MESSAGE)
    finally:
        sender.stop()


async def send_to(receiver: Receiver) -> Sent:
    return await send(f"http://127.0.0.1:{receiver.port}/hook?x=1", allowed=["127.0.0.0/8"])


@awaited
async def test_a_receiver_can_verify_a_message(receive: Callable[[Answer], Receiver]) -> None:
    receiver = receive(raw(b"HTTP/1.1 204 No Content\r\n\r\n"))
    sent = await send_to(receiver)
    assert (sent.delivery.error, sent.delivery.status) == ("", 204)
    head, _, body = receiver.requests[0].partition(b"\r\n\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in head.split(b"\r\n"))}
    assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    signed = b"%s.%s.%s" % (fields[b"webhook-id"], fields[b"webhook-timestamp"], body)
    digest = hmac.new(base64.b64decode(KEY.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    assert fields[b"webhook-signature"] == b"v1," + base64.b64encode(digest)
    assert KEY.encode() not in receiver.requests[0]


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/"),
        *("http://[fd00::1]/", "http://[::ffff:127.0.0.1]/", "http://168.63.129.16/", "http://0.0.0.0/"),
    ],
)
@awaited
async def test_addresses_that_are_not_public_get_nothing(url: str) -> None:
    assert "not public" in (await send(url)).delivery.error


@awaited
async def test_a_name_with_one_address_that_is_not_public_gets_nothing(receive: Callable[[Answer], Receiver]) -> None:
    receiver = receive(raw(b"HTTP/1.1 200 OK\r\n\r\n"))
    sent = await send(f"http://rebinding.example:{receiver.port}/", resolved=["93.184.215.14", "127.0.0.1"])
    assert (sent.delivery.error, receiver.requests) == ("Its address is not public.", [])


@awaited
async def test_a_name_beyond_ascii_is_no_other_name(receive: Callable[[Answer], Receiver]) -> None:
    receiver, hosts = receive(raw(b"HTTP/1.1 204 No Content\r\n\r\n")), list[str]()
    url = f"http://m\u00fcnchen.example:{receiver.port}/hook"
    sent = await send(url, allowed=["127.0.0.0/8"], resolved=["127.0.0.1"], hosts=hosts)
    assert (sent.delivery.error, hosts) == ("", ["xn--mnchen-3ya.example"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@awaited
async def test_redirects_are_not_followed(receive: Callable[[Answer], Receiver], status: int) -> None:
    other = receive(raw(b"HTTP/1.1 200 OK\r\n\r\n"))
    location = b"Location: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n" % other.port
    sent = await send_to(receive(raw(b"HTTP/1.1 %d Moved\r\n" % status + location)))
    assert (sent.delivery.status, other.requests) == (status, [])
    assert "Redirects are not followed" in sent.delivery.error


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "It answered 500."),
        (b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", "It answered 410."),
        (b"", "broke off"),
        (b"SSH-2.0-x\r\n", "broke off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000, "more than 65,536 bytes of headers"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 5_000, "more than 65,536 bytes of headers"),
    ],
)
@awaited
async def test_wrong_responses_are_failures(receive: Callable[[Answer], Receiver], answer: bytes, error: str) -> None:
    sent = await send_to(receive(raw(answer)))
    assert error in sent.delivery.error
    assert sent.delivery.error.isprintable()


@awaited
async def test_the_body_of_a_response_is_not_read(receive: Callable[[Answer], Receiver]) -> None:
    size = []

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2_000):
            size.append(connection.send(b"10000\r\n" + b"x" * 65_536 + b"\r\n"))

    assert (await send_to(receive(endless))).delivery.error == ""
    assert sum(size) < 20_000_000


@awaited
async def test_a_receiver_can_ask_for_at_most_a_day(receive: Callable[[Answer], Receiver]) -> None:
    sent = await send_to(receive(raw(b"HTTP/1.1 503 Busy\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n")))
    assert sent.retry_after == 86_400


@awaited
async def test_a_receiver_that_never_answers_is_a_failure() -> None:
    clock = Clock()

    sender = sender_of(
        Config(features={"webhooks": WebhooksConfig()}),
        clock,
        clock.seconds,
        lookup=never,
    )
    sending = Deferred.fromCoroutine(sender.send("https://a.example/", [KEY], MESSAGE))
    clock.advance(DEADLINE)
    sent = await sending
    assert sent.delivery.error == "It did not answer within 15 seconds."
    sender.stop()


async def never(*_: Any, **__: Any) -> Any:
    return await Deferred[Any]()


@awaited
async def test_without_a_secret_nothing_is_sent() -> None:
    clock = Clock()
    sender = sender_of(Config(features={"webhooks": WebhooksConfig()}), clock, clock.seconds, lookup=inline)
    sent = await sender.send("https://a.example/", [], MESSAGE)
    assert "Rotate it" in sent.delivery.error
    sender.stop()
