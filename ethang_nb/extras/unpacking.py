"""Unpacking: the copy of a response's body as it was before it was packed for the way (`content-encoding`)."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any

from ethang_nb.errors import ProviderFault

__all__ = ["unpacked"]

_PACKAGES = {"br": ("brotli", "brotlicffi"), "zstd": ("compression.zstd", "backports.zstd", "zstandard")}
"""A client asks for these only where it has one of the packages that read them."""


def unpacked(body: bytes, encoding: str) -> bytes:
    """`body` without its encodings, the last applied first; what of it is whole, where it breaks off.

    Raises ProviderFault for an encoding that nothing here reads.
    """
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        body = _without(body, name)
    return body


def _without(body: bytes, name: str) -> bytes:
    match name:
        case "identity":
            return body
        case "gzip" | "x-gzip":
            return _inflated(body, 16 + zlib.MAX_WBITS)
        case "deflate":
            try:
                return _inflated(body, zlib.MAX_WBITS)
            except zlib.error:  # servers that leave out the header
                return _inflated(body, -zlib.MAX_WBITS)
        case _:
            return _foreign(body, name)


def _inflated(body: bytes, bits: int) -> bytes:
    return zlib.decompressobj(bits).decompress(body)


def _foreign(body: bytes, name: str) -> bytes:
    for package in _PACKAGES.get(name, ()):
        try:
            module: Any = import_module(package)
        except ImportError:
            continue
        if name == "br":
            return bytes(module.Decompressor().process(body))
        unpacker = module.ZstdDecompressor()
        if hasattr(
            unpacker, "decompressobj"
        ):  # what takes a stream in the one package, the other has as it is
            unpacker = unpacker.decompressobj()
        return bytes(unpacker.decompress(body))
    raise ProviderFault(f"the answer is packed as {name[:20]!r}, which is not read here")
