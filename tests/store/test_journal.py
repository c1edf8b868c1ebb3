from pathlib import Path

import pytest

from ethang_nb.store import database
from ethang_nb.store.journal import Mount, _from_mount, _from_mountinfo, journal
from ethang_nb.store.record import Record


def mounts(*pairs):
    return [Mount(point=point, type=kind) for point, kind in pairs]


LOCAL = mounts(("/", "ext4"))


@pytest.mark.parametrize(
    ("place", "table", "mode", "why"),
    [
        ("/home/me/work", LOCAL, "WAL", "ext4 is a local file system"),
        (
            "/home/me/work",
            mounts(("/", "overlay"), ("/home", "nfs4")),
            "DELETE",
            "/home is a nfs4 file system",
        ),
        (
            "/home/me/work",
            mounts(("/home", "nfs4"), ("/home/me", "xfs"), ("/", "ext4")),
            "WAL",
            "xfs is a local",
        ),
        ("/homework/me", mounts(("/", "ext4"), ("/home", "nfs4")), "WAL", "ext4"),
        ("/mnt/a", mounts(("/", "ext4"), ("/mnt/a", "ext4"), ("/mnt/a", "cifs")), "DELETE", "cifs"),
        ("/mnt/a", mounts(("/", "ext4"), ("/mnt/a", "fuse.sshfs")), "DELETE", "fuse.sshfs"),
        ("/mnt/a", mounts(("/", "fuse.fuse-overlayfs")), "WAL", "fuse.fuse-overlayfs"),
        ("/mnt/c/x", mounts(("/", "ext4"), ("/mnt/c", "9p")), "DELETE", "9p"),
        ("/home/me/Dropbox/work", LOCAL, "DELETE", "/home/me/Dropbox is a synced folder"),
        ("/home/me/OneDrive - Company/work", LOCAL, "DELETE", "synced folder"),
        ("/home/me/Library/Mobile Documents/x", LOCAL, "DELETE", "synced folder"),
        ("/home/me/dropbox-report", LOCAL, "WAL", "ext4"),
        ("/anywhere", [], "WAL", "a local folder"),
    ],
)
def test_network_and_synced_folders_get_delete_and_say_why(place, table, mode, why):
    said = journal(Path(place), table)
    assert said.mode == mode
    assert why in said.why


def test_a_folder_with_a_sync_programs_marker_is_synced(tmp_path):
    (tmp_path / ".stfolder").mkdir()
    assert journal(tmp_path / "work" / "ethang.db", LOCAL).why == f"{tmp_path} is a synced folder"


def test_linux_tells_point_and_type():
    told = (
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "36 22 0:31 / /mnt/my\\040share rw,noatime master:1 shared:9 - nfs4 host:/x rw,vers=4.2\n"
        "torn line\n"
    )
    assert _from_mountinfo(told) == mounts(("/", "ext4"), ("/mnt/my share", "nfs4"))


def test_macos_tells_point_and_type():
    told = (
        "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)\n"
        "//me@host/share on /Volumes/my share (smbfs, nodev, nosuid, mounted by me)\n"
    )
    assert _from_mount(told) == mounts(("/", "apfs"), ("/Volumes/my share", "smbfs"))


def test_a_record_in_a_synced_folder_works_without_a_wal(tmp_path):
    root = tmp_path / "Dropbox" / "work"
    with Record.open(root, "s") as record, Record.open(root, "s", write=False) as view:
        assert record._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        for n in range(3):
            record.append("x", {"n": n})
            assert view.last == n + 1
        assert not list((root / ".ethang").glob("*-wal"))


def test_a_record_that_moved_into_a_synced_folder_changes_its_journal(tmp_path):
    with Record.open(tmp_path / "work", "s") as record:
        record.append("x", {})
    (tmp_path / "Dropbox").mkdir()
    (tmp_path / "work").rename(tmp_path / "Dropbox" / "work")
    connection = database.connect(tmp_path / "Dropbox" / "work" / ".ethang" / "ethang.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()
