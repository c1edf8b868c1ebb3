"""Contracts: thirty short documents to read with a small window. Invented, and the same bytes on every machine.

Each holds parties, dates, amounts, numbers and places that a cleanup can lose. One of them names the order that
is affected and its cap; orders, caps and things that are affected stand in the others too, never as that answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ethang_nb.lessons.lesson import Lesson, put

__all__ = ["COUNT", "LESSON", "texts", "write"]

COUNT = 30
_SPECIAL = (
    3  # the contract with the clause that everybody is sent to look for: early, so that it leaves the window
)
_SPECIAL_TERM = (
    "Order PO-7719, affected by the export stop of 2031-05-12, goes on under a cap of 48,250 euros."
)

_COMPANIES = (
    "Halvorsen Pumps AS", "Quarry & Lane Ltd", "Brandt Optik GmbH", "Okafor Timber plc", "Sorrel Foods SA",
    "Northgate Rail Ltd", "Tessier Frères SARL", "Almeida Cork Lda", "Varga Glass Kft", "Linden Paper BV",
    "Moravec Tools sro", "Castellan Marine SpA", "Ruddock Steel Ltd", "Ferrow Textiles AG", "Ostrava Cable as",
    "Pell & Sons Ltd", "Juniper Print ApS", "Kestrel Air Oy", "Dovetail Joinery Ltd", "Saltmarsh Energy plc",
)  # fmt: skip
_TOWNS = (
    "Bergen", "Leeds", "Jena", "Lagos", "Nantes", "Crewe", "Lyon", "Porto", "Pécs", "Utrecht", "Brno", "Genoa",
    "Cardiff", "Linz", "Ostrava", "Bath", "Aarhus", "Turku", "Ghent", "Hull", "Gdynia", "Trieste", "Cork", "Malmö",
)  # fmt: skip
_PEOPLE = (
    "R. Aldous", "T. Brandt", "M. Okafor", "J. Lindqvist", "C. Tessier", "P. Almeida", "E. Varga", "H. de Wit",
    "K. Moravec", "A. Rossi", "S. Ruddock", "L. Ferrow", "N. Pell", "D. Juhl", "V. Salo", "G. Marsh",
)  # fmt: skip
_STREETS = ("Canal Row", "Mill Lane", "Harbour Street", "Station Road", "Weighhouse Square", "Tannery Yard")
_GOODS = (
    ("SUPPLY", "valve blocks", "VB"), ("SUPPLY", "lens sets", "LS"), ("SUPPLY", "oak beams", "OB"),
    ("SUPPLY", "cable drums", "CD"), ("SUPPLY", "cork floats", "CF"), ("SUPPLY", "glass tubes", "GT"),
    ("CARRIAGE", "pallets of paper", "PP"), ("CARRIAGE", "rail wheels", "RW"), ("CARRIAGE", "tins of fish", "TF"),
    ("STORAGE", "bales of wool", "BW"), ("STORAGE", "drums of resin", "DR"), ("HIRE", "site cranes", "SC"),
    ("HIRE", "pump units", "PU"), ("SERVICE", "lift motors", "LM"), ("SERVICE", "press rollers", "PR"),
)  # fmt: skip

_LONGER = 4  # sections that get one clause more
# Title, how many clauses are drawn from its pool, the pool; {…} are drawn per clause.
_SECTIONS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("Subject", 2, (
        "The Supplier provides {pieces} {goods}, type {type}, from its site in {town}.",
        "Drawing {drawing} and the sample sealed on {date} are part of this contract.",
        "Weights are stated in kilograms; one piece weighs {small}.{digit} kg, packing left out.",
        "Spare parts are kept ready in {place} for {years} years.",
    )),
    ("Orders", 2, (
        "Each order is placed in writing and confirmed within {days} working days.",
        "Order {order} of {date} opens the series with {some} pieces.",
        "An order that was confirmed is not affected by a later list of prices.",
        "A rush order costs {percent} % more and leaves {place} on the same day.",
        "No order may be split into more than {few} deliveries.",
    )),
    ("Delivery", 1, (
        "Delivery is made to gate {few}, {street}, {place}, between 07:00 and {hour}:30.",
        "The first delivery is due on {date}, the last one on {later}.",
        "The risk passes when the carrier signs note {note}.",
        "Short deliveries are made good within {days} days, at the cost of the Supplier.",
    )),
    ("Price and payment", 2, (
        "The price is {cents}.{digit}0 euros apiece and {amount} euros in all.",
        "Invoices are due {due} days after receipt; late payment bears {few}.{digit} % a year.",
        "Payments go to account {account} and name the contract.",
        "Yearly changes of the price follow the index of {place}, with a cap of {few} %.",
        "A deposit of {deposit} euros is held until {later}.",
    )),
    ("Quality", 1, (
        "Goods are inspected on arrival; faults are told within {days} days.",
        "Test report {drawing} counts as proof unless {person} objects in writing.",
        "At most {few} pieces in {pieces} may fail the test of {date}.",
        "Faulty pieces are replaced from the stock in {place}, {some} of them at a time.",
    )),
    ("Liability", 1, (
        "Damages for delay are {few}.{digit} % a week; the cap is {percent} % of the price.",
        "A cap of {amount} euros holds for all claims of one year.",
        "Both parties insure the goods, policy {policy}, for {deposit} euros.",
        "Claims lapse {years} years after {date}.",
    )),
    ("Events outside control", 1, (
        "The affected party tells the other one within {days} days.",
        "Strikes at the port of {place} count as such an event, storms do not.",
        "After {due} days either party may withdraw by letter.",
    )),
    ("Special terms", 1, (
        "The tools numbered {tools} stay with the Customer until {later}.",
        "The Customer may audit the site in {place} once a year, first on {date}.",
        "Drawings are returned to {person} before {later}.",
        "The discount of {percent} % granted on {date} ends with this contract.",
    )),
    ("Notices and end", 1, (
        "Notices go to {person}, {house} {street}, {place}.",
        "The contract ends on {later}; notice of {few} months is given by letter.",
        "The courts of {place} decide; case fees up to {deposit} euros are shared.",
        "Annex {annex} lists the persons who may sign.",
    )),
)  # fmt: skip


def texts() -> dict[str, str]:
    """The contracts by file name, in order."""
    return {f"contract_{number:02}.txt": _contract(number) for number in range(1, COUNT + 1)}


LESSON = Lesson(
    folder="data/contracts",
    task="Read every file in data/contracts and tell me which order is affected and what its cap is. "
    "Never open contract_17.txt.",
    texts=texts,
)


def write(folder: str | Path) -> tuple[Path, ...]:
    """Writes them into `folder`, which is made where it is missing. Raises PathRefused where that cannot be."""
    return put(Path(folder), texts())


def _contract(number: int) -> str:
    draw = _Draw(number)
    kind, _, code = _GOODS[number % len(_GOODS)]
    supplier, customer = draw.two("parties", _COMPANIES)
    signed, place = draw.date("signed", 2030), draw.one("signed at", _TOWNS)
    head = [
        f"{kind} CONTRACT {code}-{draw.number('contract', 1_000, 9_999)}",
        f"{supplier}, {draw.one('seat of the supplier', _TOWNS)} (the Supplier)",
        f"{customer}, {draw.one('seat of the customer', _TOWNS)} (the Customer)",
        f"Signed in {place} on {signed}.",
    ]
    return "\n".join([*head, *_clauses(draw, number)]) + "\n"


def _clauses(draw: _Draw, number: int) -> Iterator[str]:
    longer = draw.some("longer sections", [title for title, _, _ in _SECTIONS], _LONGER)
    for at, (title, least, pool) in enumerate(_SECTIONS, 1):
        yield f"{at}. {title}"
        taken = draw.some(title, pool, least + (title in longer))
        if number == _SPECIAL and title == "Special terms":
            taken = (*taken, _SPECIAL_TERM)
        for sub, clause in enumerate(taken, 1):
            yield f"{at}.{sub} {_filled(clause, draw, f'{at}.{sub}')}"


def _filled(clause: str, draw: _Draw, where: str) -> str:
    """A clause with its values; those that belong to the whole contract are the same in every clause."""

    def pick(name: str, low: int, high: int) -> int:
        return draw.number(f"{where} {name}", low, high)

    _, goods, code = _GOODS[draw.contract % len(_GOODS)]
    return clause.format(
        goods=goods,
        type=f"{code}-{draw.number('type', 100, 999)}",
        pieces=f"{draw.number('pieces', 12, 96) * 10:,}",
        amount=f"{pick('amount', 41, 962) * 250:,}",
        deposit=f"{pick('deposit', 6, 70) * 250:,}",
        account=f"{pick('bank', 10, 99)} {pick('account', 1_000, 9_999)} {pick('branch', 1_000, 9_999)}",
        order=f"PO-{pick('order', 2_000, 6_999)}",
        drawing=f"{code}-{pick('drawing', 10_000, 99_999)}",
        policy=f"IN-{pick('policy', 100_000, 999_999)}",
        note=f"DN-{pick('note', 1_000, 9_999)}",
        tools=f"T-{pick('tool', 100, 499)} to T-{pick('tools', 500, 899)}",
        annex=f"A-{pick('annex', 11, 99)}",
        town=draw.one("seat of the supplier", _TOWNS),
        place=draw.one(f"{where} place", _TOWNS),
        street=draw.one(f"{where} street", _STREETS),
        person=draw.one(f"{where} person", _PEOPLE),
        date=draw.date(f"{where} date", 2031),
        later=draw.date(f"{where} later", 2033),
        house=pick("house", 2, 98),
        hour=pick("hour", 14, 19),
        cents=pick("cents", 11, 489),
        digit=pick("digit", 1, 9),
        small=pick("small", 2, 48),
        some=pick("some", 15, 85),
        few=pick("few", 2, 6),
        days=pick("days", 3, 14),
        due=draw.one(f"{where} due", ("14", "21", "30", "45", "60")),
        years=pick("years", 2, 7),
        percent=pick("percent", 5, 19),
    )


class _Draw:
    """Draws for one contract: the same number and label give the same value, on every Python there will be."""

    def __init__(self, contract: int) -> None:
        self.contract = contract

    def number(self, label: str, low: int, high: int) -> int:
        digest = hashlib.sha256(f"contract {self.contract}: {label}".encode()).digest()
        return low + int.from_bytes(digest[:8]) % (high - low + 1)

    def one(self, label: str, pool: Sequence[str]) -> str:
        return pool[self.number(label, 0, len(pool) - 1)]

    def two(self, label: str, pool: Sequence[str]) -> tuple[str, str]:
        first = self.number(label, 0, len(pool) - 1)
        second = (first + self.number(f"{label}, other", 1, len(pool) - 1)) % len(pool)
        return pool[first], pool[second]

    def some(self, label: str, pool: Sequence[str], count: int) -> tuple[str, ...]:
        """`count` of the pool, in its order."""
        ranked = sorted(range(len(pool)), key=lambda at: self.number(f"{label} {at}", 0, 1 << 32))
        return tuple(pool[at] for at in sorted(ranked[:count]))

    def date(self, label: str, year: int) -> str:
        return f"{year}-{self.number(f'{label}, month', 1, 12):02}-{self.number(f'{label}, day', 1, 28):02}"
