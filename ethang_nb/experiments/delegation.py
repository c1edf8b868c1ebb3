"""Delegation: the reading experiment of seed 002, its three rows to the token, and what stands beside them.

The source reads thirty documents in three ways, and a sub-agent wins. Every number here comes from running the
contexts; what of it is the source's own stands in `sources`. It measures what stays visible of a text, not how well
a model works with it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ethang_nb._show import Shown
from ethang_nb.errors import Misuse, Unknown
from ethang_nb.experiments.agent import read
from ethang_nb.experiments.configuration import SETTINGS, SOURCE, Configuration, Setting
from ethang_nb.experiments.reading import SEED, Reading
from ethang_nb.experiments.sources import SourceCounter
from ethang_nb.tokens.registry import counter

__all__ = ["Delegation", "Measured", "delegation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One configuration in one setting, `about` in words.

    `calls` and `helper_calls`: of the thread, and of sub-agents and summarisers. In tokens: `seed_total` is what the
    source adds up, the reading calls of the thread; `main` all calls of the thread; `helpers` what sub-agents and
    summarisers were given; `all_in` both. Per mille: `p95` of fill, `cached` of `main`. `cost` is in input tokens at
    full price. `answer`: whether it was in view in the last request; `constraint`: whether the person's was, in the
    extended task.
    """

    setting: str
    configuration: str
    about: str
    policy: str
    source: bool
    calls: int
    helper_calls: int
    seed_total: int
    main: int
    helpers: int
    all_in: int
    p95: int
    cached: int
    cost: int
    answer: bool
    constraint: bool


@dataclass(frozen=True, kw_only=True)
class Delegation(Shown):
    """What `eth.delegation()` found: `measured` in the order of the table, `settings` what each setting is."""

    _view = "ethang_nb.views.delegation"

    reading: Reading
    measured: tuple[Measured, ...]
    settings: tuple[tuple[str, str], ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row a configuration and setting, ready for a table."""
        return [asdict(item) for item in self.measured]

    def row(self, configuration: str, setting: str = "bare") -> Measured:
        """One of them. Raises Unknown."""
        of_setting = {item.configuration: item for item in self.measured if item.setting == setting}
        if not of_setting:
            raise Unknown("setting", setting, [name for name, _ in self.settings])
        if configuration not in of_setting:
            raise Unknown("configuration", configuration, of_setting)
        return of_setting[configuration]

    def __repr__(self) -> str:
        return f"Delegation({len(self.measured)} rows, {len(self.reading.documents)} documents)"


def delegation(reading: Reading = SEED) -> Delegation:
    """The reading experiment of seed 002 ("Harness"): thirty documents, one with the answer, and a window of 6,000.

    Reads them in the source's three ways and in others, by rule, with no model call. Another `reading` measures
    another task. What it shows is visibility, not model quality.
    """
    if not isinstance(reading, Reading):
        raise Misuse(f"reading is a {type(reading).__name__}; give a Reading, or nothing for the source's")
    counts = SourceCounter(counter("o200k_base"))
    return Delegation(
        reading=reading,
        measured=tuple(
            _measured(reading, way, setting, counts) for setting, ways in SETTINGS for way in ways
        ),
        settings=tuple((setting.name, setting.about) for setting, _ in SETTINGS),
    )


def _measured(reading: Reading, way: Configuration, setting: Setting, counts: SourceCounter) -> Measured:
    plain = read(reading, way, setting, counts)
    extended = read(reading, way, setting, counts, extended=True)
    return Measured(
        setting=setting.name,
        configuration=way.name,
        about=way.about,
        policy=way.policy.name,
        source=way in SOURCE,
        calls=plain.calls,
        helper_calls=plain.helper_calls,
        seed_total=plain.seed_total,
        main=plain.main,
        helpers=plain.helpers,
        all_in=plain.all_in,
        p95=plain.p95,
        cached=plain.cached,
        cost=plain.cost,
        answer=plain.answer,
        constraint=extended.constraint,
    )
