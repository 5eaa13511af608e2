"""One request to a broker, for what no client library has a call for."""

import socket
from typing import TypeVar, cast

from snakka.protocol.frames import read_response, write_request
from snakka.protocol.schema import Request, Response

A = TypeVar("A", bound=Response)


def ask(bootstrap: str, request: Request, version: int, response: type[A]) -> A:
    host, _, port = bootstrap.rpartition(":")
    chunks = write_request(request, version, correlation_id=1, client_id="test")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"".join(cast(list[bytes], chunks)))
        size = int.from_bytes(_read(connection, 4), "big")
        return read_response(response, version, _read(connection, size))[1]


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        received = connection.recv(size - len(data))
        assert received, "the broker has hung up"
        data += received
    return data
