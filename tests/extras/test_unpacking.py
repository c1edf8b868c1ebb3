"""The copy of a body is unpacked as its client unpacks it."""

import gzip
import zlib

import pytest

from ethang_nb.errors import ProviderFault
from ethang_nb.extras.unpacking import unpacked

BODY = b'{"text": "' + b"a \xc3\xb6 " * 500 + b'"}'


def raw_deflate(body):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (BODY, ""),
        (BODY, "identity"),
        (gzip.compress(BODY), "gzip"),
        (gzip.compress(BODY), "X-GZIP"),
        (zlib.compress(BODY), "deflate"),
        (raw_deflate(BODY), "deflate"),
        (gzip.compress(zlib.compress(BODY)), "deflate, gzip"),
    ],
)
def test_each_encoding_gives_the_body(packed, encoding):
    assert BODY == unpacked(packed, encoding)


def test_what_breaks_off_gives_what_had_come():
    packed = gzip.compress(BODY)
    found = unpacked(packed[: len(packed) // 2], "gzip")
    assert BODY.startswith(found)


def test_zstd_is_read_where_its_package_is_there_also_from_a_stream():
    zstandard = pytest.importorskip("zstandard", reason="needs zstandard: uv sync --group peers")
    assert BODY == unpacked(zstandard.compress(BODY), "zstd")
    packer = zstandard.ZstdCompressor().compressobj()  # which does not say how long it will be
    packed = packer.compress(BODY) + packer.flush()
    assert BODY == unpacked(packed, "zstd")
    assert BODY.startswith(unpacked(packed[:-9], "zstd"))


def test_an_encoding_nobody_reads_is_named():
    with pytest.raises(ProviderFault, match="packed as 'rot13'"):
        unpacked(BODY, "rot13")
