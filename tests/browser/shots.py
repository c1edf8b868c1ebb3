"""Pictures of what was drawn, for a person to look at: in $ETHANG_SHOTS, else in a folder that goes with the run."""

import os
import re
from pathlib import Path


class Shots:
    def __init__(self, folder):
        self.folder = Path(os.environ.get("ETHANG_SHOTS") or folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def take(self, what, *name, **options):
        """A picture of a page or of one element, called by the words of `name`."""
        path = self.folder / f"{re.sub(r'[^a-z0-9]+', '-', '-'.join(map(str, name)).lower()).strip('-')}.png"
        what.screenshot(path=path, animations="disabled", **options)
        return path
