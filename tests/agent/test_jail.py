"""Nothing outside the root is ever opened, whatever a path looks like."""

import os

import pytest

from ethang_nb.agent.jail import Jail
from ethang_nb.errors import PathRefused


@pytest.fixture
def jail(tmp_path):
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "a.txt").write_text("a")
    (root / "~").mkdir()
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "root-twin").mkdir()
    (tmp_path / "root-twin" / "a.txt").write_text("outside")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "in.txt").symlink_to(root / "docs" / "a.txt")
    (root / "loop").symlink_to(root / "loop")
    (root / "broken").symlink_to(root / "nowhere")
    return Jail(root)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "docs/../../secret.txt",
        "/etc/passwd",
        "out.txt",
        "up/secret.txt",
        "../root-twin/a.txt",
        "docs/../up/secret.txt",
        "..",
        "/",
    ],
)
def test_a_path_that_leads_out_is_refused(jail, path):
    for ask in (jail.resolve, jail.file, jail.folder):
        with pytest.raises(PathRefused, match="leads out of the root; use a path inside it"):
            ask(path)


@pytest.mark.parametrize(
    "path",
    ["docs/a.txt", "./docs/a.txt", "docs/../docs/a.txt", "docs//a.txt", "in.txt", "loopless/../docs/a.txt"],
)
def test_a_path_inside_is_found_under_its_real_name(jail, path):
    assert jail.name(jail.file(path)) == "docs/a.txt"


def test_an_absolute_path_inside_the_root_is_inside(jail):
    assert jail.name(jail.file(str(jail.root / "docs" / "a.txt"))) == "docs/a.txt"


def test_the_root_itself_is_a_folder_of_its_own(jail):
    assert [jail.name(jail.folder(path)) for path in (".", "", "docs/..", str(jail.root))] == ["."] * 4


def test_a_tilde_is_a_name_like_any_other(jail):
    assert jail.name(jail.folder("~")) == "~"
    with pytest.raises(PathRefused, match="no file"):
        jail.file("~root/.bashrc")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("docs/a.txt\x00.png", "holds a NUL character; leave it out"),
        ("docs/a\u2400", "holds a NUL character"),
        ("x" * 300, "cannot be used: file name too long"),
        ("d/" * 3000, "cannot be used: file name too long"),
        ("loop", "cannot be used: "),
        ("loop/a", "cannot be used: "),
        ("docs/a\ud83d.txt", "cannot be used: no such name can exist"),
        ("docs/b.txt", "no file 'docs/b.txt'; list_files shows what is there"),
        ("docs/a.txt/b", "no file"),
        ("broken", "no file"),
        ("docs", "'docs' is not a file; list_files shows what is in a folder"),
        ("", "is not a file"),
    ],
)
def test_a_path_that_is_no_file_is_refused_in_one_short_line(jail, path, said):
    with pytest.raises(PathRefused) as caught:
        jail.file(path)
    text = str(caught.value)
    assert said in text
    assert len(text) < 260
    assert text.isprintable()


@pytest.mark.parametrize("path", ["docs/a.txt", "nowhere", "broken"])
def test_a_folder_that_is_none_is_refused(jail, path):
    with pytest.raises(PathRefused, match=r"no folder .*; list_files\('.'\) shows the root"):
        jail.folder(path)


def test_a_pipe_is_not_read(jail):
    os.mkfifo(jail.root / "pipe")
    with pytest.raises(PathRefused, match="is not a file"):
        jail.file("pipe")


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("nowhere", "is not a folder; give a folder that exists"),
        ("a\x00b", "cannot be used"),
        ("x" * 300, "cannot be used: file name too long"),
    ],
)
def test_a_root_that_is_no_folder_is_refused(tmp_path, monkeypatch, root, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PathRefused, match=said):
        Jail(root)


def test_a_root_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(PathRefused, match="is not a folder"):
        Jail(tmp_path / "file")
