"""The interactive page: whole in itself, closed to the network, the same bytes every time, data that stays data."""

import base64
import hashlib
import json
import re

import pytest

from ethang_nb.errors import Missing, Misuse, PathRefused
from ethang_nb.views import bundle, page
from ethang_nb.views.limits import PAGE_TEXT, PAGE_TEXTS
from ethang_nb.views.page import interactive, write
from tests.views import samples
from tests.views.reading import Reading

SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.S)
BUILT = "var a=1;function b(e,{doc:d}){e.textContent=d.name}export{a as default,b as mount};\n"


@pytest.fixture(autouse=True)
def built(monkeypatch):
    """A front end of one line, so that these tests need no build."""
    monkeypatch.setattr(bundle, "module", lambda: BUILT)
    monkeypatch.setattr(bundle, "sheet", lambda: ".eth-live{color:red}")


def text(words, cut=0):
    return {"title": "t", "address": "log://1", "parts": [{"role": "user", "text": words}], "cut": cut}


def data(html):
    return json.loads(SCRIPT.findall(html)[0][1])


def test_it_holds_the_document_and_the_static_report():
    html = interactive(samples.contracts())
    assert samples.contracts().to_json() == data(html)["doc"]
    assert "Fill, step by step" in Reading(html).text


def test_the_policy_allows_the_one_script_and_no_network():
    html = interactive(samples.contracts())
    _, (kind, program) = SCRIPT.findall(html)
    assert ' type="module"' == kind
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#x27;", "'")
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"(?:src|href)=[\"'](?!#|data:)", html)


def test_the_bundle_mounts_instead_of_exporting():
    program = SCRIPT.findall(interactive(samples.contracts()))[1][1]
    assert "export" not in program
    assert "b(eth('eth-live'),JSON.parse(eth('eth-data').textContent))" in program


def test_a_bundle_that_mounts_nothing_is_a_fault(monkeypatch):
    monkeypatch.setattr(bundle, "module", lambda: "export{a as default};")
    with pytest.raises(ValueError, match="mount"):
        interactive(samples.contracts())


def test_a_bundle_cannot_close_its_element(monkeypatch):
    monkeypatch.setattr(bundle, "module", lambda: 'var c="</script><!--";export{c as mount};')
    assert r'"\x3c/script>\x3c!--"' in SCRIPT.findall(interactive(samples.contracts()))[1][1]


def test_data_makes_no_element_and_no_script():
    texts = {"1": text(samples.HOSTILE)}
    wild = interactive(samples.hostile(), title=samples.HOSTILE, texts=texts)
    assert 2 == len(SCRIPT.findall(wild))
    assert samples.HOSTILE == data(wild)["texts"]["1"]["parts"][0]["text"]
    inert = SCRIPT.findall(wild)[0][1]
    assert "<" not in inert
    assert "<img" not in wild


def test_a_lone_surrogate_can_be_written():
    html = interactive(samples.contracts(), texts={"1": text("a\ud800b")})
    assert html.encode()
    assert "a\ud800b" == data(html)["texts"]["1"]["parts"][0]["text"]


def test_the_same_snapshot_gives_the_same_bytes():
    assert interactive(samples.contracts()) == interactive(samples.contracts())


def test_long_texts_are_cut_and_counted():
    found = data(interactive(samples.contracts(), texts={"1": text("a" * (PAGE_TEXT + 7), cut=5)}))
    kept = found["texts"]["1"]
    assert (PAGE_TEXT, 12) == (len(kept["parts"][0]["text"]), kept["cut"])


def test_texts_that_there_is_no_room_for_are_counted():
    many = {str(number): text("a" * PAGE_TEXT) for number in range(PAGE_TEXTS // PAGE_TEXT + 3)}
    found = data(interactive(samples.contracts(), texts=many))
    assert PAGE_TEXTS // PAGE_TEXT == len(found["texts"])
    assert {"texts": 3} == found["doc"]["left_out"]


def test_writing_returns_where(tmp_path):
    assert tmp_path / "a.html" == write("é", tmp_path / "a.html")
    assert "é" == (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["", "  ", None, 3])
def test_what_is_no_path_is_misuse(path):
    with pytest.raises(Misuse, match="names no file"):
        write("", path)


@pytest.mark.parametrize("path", ["no/such/folder/a.html", ".", "a\0b"])
def test_what_cannot_be_written_is_one_clear_line(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PathRefused, match=r"cannot be written: .*; name a file in a folder that exists"):
        write("", path)


def test_a_front_end_that_was_not_built_says_how(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setattr(bundle, "files", lambda _: tmp_path)
    with pytest.raises(Missing, match="npm run build:widget"):
        page.interactive(samples.contracts())
