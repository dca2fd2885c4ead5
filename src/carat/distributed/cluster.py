"""The cluster: a local one that is started and stopped, or one that is there and is connected to."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from carat.errors import InputError, MissingExtraError

LOCAL = "local"
"""Starts a cluster of this machine."""
AUTO = "auto"
"""Connects to the cluster that this machine is a part of."""
PATIENCE = 5.0
"""Seconds to wait for an answer from an address."""


def load_ray() -> Any:
    """The module `ray`."""
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "work on many machines") from error
    if not hasattr(ray, "init"):  # a folder that happens to be called so
        raise MissingExtraError("ray", "ray", "work on many machines")
    return ray


def check_address(address: str) -> str:
    """Refuse what is no address of a cluster."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address not in (LOCAL, AUTO) and not (host and colon and port.isdecimal() and 0 < int(port) < 65_536):
        raise InputError(f"`ray` must be an address such as 10.0.0.1:6379, or auto, or local; got {address!r}")
    return address


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The module `ray`, connected; what was started here is stopped at the end.

    Args:
        address: of a running cluster, as host:port; `auto` for the one that this machine is a part of; `local` or None
            starts one of this machine alone. A connection that is there is used as it is.
    """
    ray = check_reachable(address)
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    wanted = address or LOCAL
    if wanted == LOCAL:
        # Without an explicit address, Ray would join a cluster that the environment names.
        options |= {"address": "local", "include_dashboard": False}
    else:
        options["address"] = wanted
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        why = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise InputError(f"no Ray cluster at {wanted} ({why}); start one with: ray start --head") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_reachable(address: str | None) -> Any:
    """The module `ray`, where somebody answers at the address: Ray itself would ask for minutes."""
    ray = load_ray()
    if ray.is_initialized() or address in (None, LOCAL, AUTO):
        return ray
    host, _, port = check_address(str(address)).removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise InputError(f"no Ray cluster at {address} ({said}); start one with: ray start --head") from error
    return ray
