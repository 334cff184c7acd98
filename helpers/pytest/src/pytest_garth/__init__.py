"""Tests of clients of the Linode API v4 against Garth."""

from .connection import GarthError
from .process import start
from .server import Server, Snapshot, Tenant, connect

__all__ = ["GarthError", "Server", "Snapshot", "Tenant", "connect", "start"]
