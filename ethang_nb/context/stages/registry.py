"""The stages by name and by the moment they act. Adding one is one file and one line here."""

from __future__ import annotations

from ethang_nb.context.draft import Stage
from ethang_nb.context.stages.collapse import collapse
from ethang_nb.context.stages.evict import evict
from ethang_nb.context.stages.intake import intake
from ethang_nb.context.stages.nudge import nudge
from ethang_nb.context.stages.reseed import reseed
from ethang_nb.context.stages.shrink import shrink
from ethang_nb.context.stages.squeeze import squeeze

__all__ = ["AT_CLEANUP", "AT_ENTRY", "AT_REQUEST", "AT_WORK", "EARLY"]

AT_ENTRY: dict[str, Stage] = {"intake": intake}
"""As messages enter."""
AT_WORK: dict[str, Stage] = {"reseed": reseed}
"""Between pieces of work."""
AT_REQUEST: dict[str, Stage] = {"nudge": nudge}
"""At a request point below the cleanup level."""
AT_CLEANUP: dict[str, Stage] = {"squeeze": squeeze, "collapse": collapse, "evict": evict, "shrink": shrink}
"""At a request point that cleans up."""
EARLY: dict[str, Stage] = {"squeeze": squeeze, "collapse": collapse}
"""Of these, what a policy may let act below the cleanup level."""
