"""SQLite's journal mode: which one a database gets, by what its folder lies on.

WAL needs memory that all its users share, which a network file system has not; and a program that syncs a
folder copies database and WAL at different moments. There the journal is DELETE: slower, and safe.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["JournalMode", "Mount", "journal_mode"]

_NETWORK = frozenset(
    {
        "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fakeowner", "glusterfs", "gpfs", "lustre",
        "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "smb", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
        "webdav",
    }
)  # fmt: skip
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs"})
_SYNCED_NAMES = frozenset(
    {
        "box sync", "cloudstorage", "dropbox", "google drive", "googledrive", "icloud drive", "mobile documents",
        "my drive", "nextcloud", "owncloud", "pcloud drive", "seafile",
    }
)  # fmt: skip
_SYNCED_STARTS = ("onedrive", "dropbox (", "googledrive-")
_SYNCED_MARKERS = (".stfolder", ".dropbox.cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalMode:
    """Which journal a database there gets, and why in words that follow "journal DELETE: "."""

    mode: Literal["WAL", "DELETE"]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One mounted file system: where, and its type as the OS calls it."""

    point: str
    type: str


def journal_mode(path: Path, mounts: Sequence[Mount] | None = None) -> JournalMode:
    """WAL on a local disk; DELETE on a network or synced folder, where WAL's shared memory is not shared.

    `mounts` are the file systems of this machine unless given. Where the OS does not tell, it is taken for local.
    """
    place = path.resolve()
    if place.drive.startswith("\\\\"):
        return JournalMode(mode="DELETE", why=f"{place.drive} is on a network")
    for folder in (place, *place.parents):
        name = folder.name.casefold()
        if name in _SYNCED_NAMES or name.startswith(_SYNCED_STARTS):
            return JournalMode(mode="DELETE", why=f"{folder} is a synced folder")
        if any((folder / marker).exists() for marker in _SYNCED_MARKERS):
            return JournalMode(mode="DELETE", why=f"{folder} is a synced folder")
    mount = _mount_of(place, _mounts() if mounts is None else mounts)
    if mount is not None and _is_remote(mount.type):
        return JournalMode(mode="DELETE", why=f"{mount.point} is a {mount.type} file system")
    return JournalMode(mode="WAL", why=f"{mount.type} is a local file system" if mount else "a local folder")


def _is_remote(kind: str) -> bool:
    return kind in _NETWORK or (kind.startswith(("fuse.", "macfuse", "osxfuse")) and kind not in _LOCAL_FUSE)


def _mount_of(place: Path, mounts: Sequence[Mount]) -> Mount | None:
    around = [mount for mount in mounts if place.is_relative_to(mount.point)]
    # Of two mounts on one point the later one hides the other.
    return max(enumerate(around), key=lambda item: (len(item[1].point), item[0]), default=(0, None))[1]


def _mounts() -> list[Mount]:
    """The file systems of this machine, as far as the OS tells."""
    try:
        if sys.platform == "darwin":
            told = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=False)
            return _from_mount(told.stdout)
        return _from_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    except (OSError, subprocess.SubprocessError):
        return []


def _from_mountinfo(text: str) -> list[Mount]:
    """Lines of Linux's mountinfo: the point is the fifth field, the type stands after a lone dash."""
    found = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        if len(fields := before.split()) > 4 and after:
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
            found.append(Mount(point=point, type=after.split()[0]))
    return found


def _from_mount(text: str) -> list[Mount]:
    """Lines of a BSD's `mount`: `//me@host/share on /Volumes/share (smbfs, nodev)`."""
    matches = re.finditer(r"^.+? on (/.*) \((\w+)[,)]", text, re.MULTILINE)
    return [Mount(point=match[1], type=match[2]) for match in matches]
