#!/usr/bin/env python3
"""Prints a free port of 127.0.0.1, for a program that cannot choose its own or must keep it across restarts.

The kernel takes the source ports of connections from another range (32768 to 60999 by default), so no connection of
another test can take the port before the program listens on it.
"""

import random
import socket

PORTS = range(20000, 32000)


def free_port() -> int:
    for port in random.sample(PORTS, 1000):
        with socket.socket() as probe:
            # As servers do: connections that have just ended are no reason to refuse the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit("no free port found on 127.0.0.1")


if __name__ == "__main__":
    print(free_port())
