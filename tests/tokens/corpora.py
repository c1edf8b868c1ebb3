"""Seeded texts of six kinds, for errors of estimates and for benchmarks: all from the standard library or made here."""

import base64
import inspect
import json
import random
from functools import cache

ACCENTED = (
    "La dernière sauvegarde a été effacée pendant l'été ; où sont passées les clés étrangères de la commande ? ",
    "A configuração já não está disponível, e amanhã à tarde será necessária uma nova permissão do usuário. ",
    "Sunucuya bağlanılamadı; lütfen değişiklikleri geri alıp dosyaların iznini yeniden güncelleyin. ",
    "Đơn hàng này chưa được xác nhận, vì máy chủ vẫn báo lỗi sau khi cập nhật phiên bản mới nhất. ",
    "Größere Änderungen müssen zuerst überprüft werden, bevor sie für alle Benutzer verfügbar sind. ",
)
CJK = (
    "订单尚未确认，因为服务器在更新到最新版本之后仍然报告错误，请先检查数据库的连接和用户的权限。",
    "変更を元に戻してから、ファイルの権限を更新し、もう一度サーバーに接続してください。上限は十二万五千です。",
    "주문이 아직 확인되지 않았습니다. 데이터베이스 연결과 사용자 권한을 먼저 확인해 주세요. ",
)
MODULES = (
    "argparse",
    "asyncio.base_events",
    "dataclasses",
    "difflib",
    "inspect",
    "logging",
    "tarfile",
    "typing",
)


@cache
def english():
    import pydoc_data.topics

    topics = pydoc_data.topics.topics
    return "\n\n".join(topics[name] for name in sorted(topics))


@cache
def code():
    from importlib import import_module

    modules = (*MODULES, "_pydecimal", "unittest.mock", "zipfile")
    return "\n".join(inspect.getsource(import_module(name)) for name in modules)


@cache
def rows(length, seed=1):
    """JSON, every other row of it indented."""
    source = random.Random(seed)
    parts, size = [], 0
    while size < length:
        row = {
            "order": f"ORD-{source.randrange(10**5):05d}",
            "amount": round(source.uniform(0, 9_999), 2),
            "at": f"2026-{source.randint(1, 12):02d}-{source.randint(1, 28):02d}T{source.randint(0, 23):02d}:30:00Z",
            "trace": f"{source.getrandbits(64):016x}",
            "marks": source.sample(["paid", "late", "returned", "export", "retry"], 2),
            "open": source.random() < 0.5,
        }
        parts.append(json.dumps(row, indent=source.choice((None, 2))))
        size += len(parts[-1]) + 2
    return ("[" + ",\n".join(parts))[:length]


def _mixed(sentences, length, seed):
    source = random.Random(seed)
    parts, size = [], 0
    while size < length:
        sentence = source.choice(sentences)
        start = source.randrange(len(sentence) // 2)
        parts.append(sentence[start : start + source.randint(12, 80)])
        size += len(parts[-1])
    return "".join(parts)[:length]


def accented(length, seed=2):
    return _mixed(ACCENTED, length, seed)


def cjk(length, seed=3):
    return _mixed(CJK, length, seed)


def base64_text(length, seed=4):
    return base64.b64encode(random.Random(seed).randbytes(length)).decode()[:length]


def corpora(length):
    """Each kind in `length` characters."""
    return {
        "English": _filled(english(), length),
        "code": _filled(code(), length),
        "JSON": rows(length),
        "accented": accented(length),
        "CJK": cjk(length),
        "base64": base64_text(length),
    }


def _filled(text, length):
    return (text * (length // len(text) + 1))[:length]
