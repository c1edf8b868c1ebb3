"""Scrubbing: what a cassette may hold of a text. Every secret in it becomes `[secret]`, the same everywhere.

Our own credentials are known exactly (`credentials.mask`); of others only the shapes are. A shape wants the look of a
value, never a word alone: what is masked without need is missing when the cassette is played. JSON stays JSON, a text
that is clean stays as it is, scrubbing again changes nothing, and the time taken grows as the text does.
"""

from __future__ import annotations

import json
import re

from ethang_nb.providers.endpoints.credentials import mask
from ethang_nb.providers.endpoints.table import ENDPOINTS

__all__ = ["MASK", "scrub"]

MASK = "[secret]"
DEEPEST = 6  # ► levels of JSON in strings of JSON that are looked into
MOST_PASSES = 3  # ► what a mask leaves behind may be a shape of its own, hardly ever twice

_OPEN = r"(?<![A-Za-z0-9_-])"
_DIGIT = r"(?=[A-Za-z_-]{0,60}[0-9])"
"""A digit is among the next characters: keys have one, words joined by hyphens have not."""

_TOKENS = (
    # Model providers.
    rf"sk-{_DIGIT}[A-Za-z0-9_-]{{16,}}+",
    r"(?:gsk|hf|r8|fw|csk|jina|tgp_v1)[_-](?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}+",
    r"(?:xai|pplx|nvapi)-[A-Za-z0-9_-]{20,}+",
    r"AIza[A-Za-z0-9_-]{30,}+",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    # Code, chat and cloud services.
    r"gh[pousr]_[A-Za-z0-9]{20,}+",
    r"github_pat_[A-Za-z0-9_]{20,}+",
    r"glpat-[A-Za-z0-9_-]{16,}+",
    r"npm_[A-Za-z0-9]{30,}+",
    r"pypi-[A-Za-z0-9_-]{40,}+",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}+",
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+",
    r"whsec_[A-Za-z0-9+/=]{20,}+",
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+",
    r"(?:dop|doo|dor)_v1_[a-f0-9]{40,}+",
    r"dapi[a-f0-9]{32}(?![A-Za-z0-9])",
    r"(?:lin_api|lsv2_pt|lsv2_sk|shpat|shpss)_[A-Za-z0-9_]{20,}+",
    r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+",
    # What `mask` writes for a credential of ours: without that in the environment its shape would stand there.
    rf"\[(?:{'|'.join(sorted({row.key for row in ENDPOINTS.values() if row.key}))})\]",
)
_BLOCK = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"
    r"(?:[^-\"\\]|\\(?!\")|-(?!----)){0,16000}+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
)
_NAMES = (
    r"(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key|client[_-]?secret"
    r"|(?:access|auth|refresh|bearer|api)[_-]?token|secret|password|passwd|pwd)"
)
_LOOKS = r"(?=[^0-9\s\"'\\]{0,60}[0-9])(?=[^A-Za-z\s\"'\\]{0,60}[A-Za-z])(?!\[secret\])"
"""Letters and digits: an example such as `your-key-here` or `os.environ` is no value."""
_FIELD_LOOKS = r'(?=(?:[^"\\\s0-9]|\\.){0,60}[0-9])(?=(?:[^"\\\sA-Za-z]|\\.){0,60}[A-Za-z])(?!\[secret\])'
_VALUE = r"[A-Za-z0-9_+/=.~!@#%^&*:?-]{8,400}+"

_TOKEN = re.compile(_OPEN + "(?:" + "|".join(_TOKENS) + ")|" + _BLOCK)
_FIELD = re.compile(
    rf'("[A-Za-z0-9_.-]{{0,40}}?{_NAMES}"\s{{0,8}}:\s{{0,8}}"){_FIELD_LOOKS}(?:[^"\\\s]|\\.){{8,4000}}+(?=")',
    re.IGNORECASE,
)
_GIVEN = re.compile(
    rf"((?<![A-Za-z]){_NAMES}[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?){_LOOKS}{_VALUE}(?![(\[{{])", re.IGNORECASE
)
_LOGIN = re.compile(
    r"((?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'\\]{0,80}+:)"
    r"(?!\[secret\]@)[^\s@/\"'\\]{3,200}+(?=@)"
)
_HEADER = re.compile(
    r"(authorization[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:basic|token|digest)\s{1,4})[A-Za-z0-9+/=_.-]{8,}+",
    re.IGNORECASE,
)
_BEARER = re.compile(
    _OPEN + r"(bearer\s{1,4})(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,}+", re.IGNORECASE
)
_SIGNED = re.compile(
    r"([?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)=)[A-Za-z0-9%+/=_.-]{8,}+",
    re.IGNORECASE,
)
_AFTER_NAME = (_FIELD, _GIVEN, _HEADER, _BEARER, _LOGIN, _SIGNED)

_STRING = re.compile(r'"((?:[^"\\\n]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"?')
"""A string of JSON, or what there is of one: it always matches at a quotation mark, so nothing is read twice."""


def scrub(text: str) -> str:
    """`text` without its secrets; also inside the strings of JSON, and in JSON within those."""
    for _ in range(MOST_PASSES):
        before, text = text, _scrubbed(text, DEEPEST)
        if text == before:
            break
    return text


def _scrubbed(text: str, depth: int) -> str:
    text = mask(text)
    if depth and '"' in text and "\\" in text:
        text = _STRING.sub(lambda found: _string(found, depth - 1), text)
    for shape in _AFTER_NAME:
        text = shape.sub(rf"\1{MASK}", text)
    return _TOKEN.sub(MASK, text)


def _string(found: re.Match[str], depth: int) -> str:
    """A string of JSON, written anew only where something in it is a secret: an escape may stand before one."""
    body = found[1]
    if "\\" not in body:
        return found[0]
    inside = json.loads(f'"{body}"', strict=False)
    clean = _scrubbed(inside, depth)
    if clean == inside:
        return found[0]
    try:
        packed = json.dumps(clean, ensure_ascii=False)
        packed.encode()
    except UnicodeEncodeError:  # half a character: as an escape it is JSON
        packed = json.dumps(clean)
    return packed if found[0].endswith('"') and len(found[0]) > len(body) + 1 else packed[:-1]
