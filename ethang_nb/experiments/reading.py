"""Reading: the task of the experiment as data. Thirty documents, one of them with the line that is looked for.

Seed 002: "30 documents", a question whose answer stands in one of them. The extended task adds one constraint of the
person on the way. Give another Reading to measure another task.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.errors import Misuse

__all__ = ["SEED", "Reading"]

DOCUMENTS, CLAUSES, NEEDLE_IN = 30, 28, 3
NOTHING = "nothing relevant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is read, and what must be there in the end.

    `sought`: the words that the line in question holds. `answer`: the text that must be in view in the last request.
    `constraint` is said before document `constrained` of the extended task.
    """

    documents: tuple[str, ...]
    task: str = "Find the affected order and its cap."
    question: str = "Report the affected order."
    sought: str = "affected order"
    answer: str = "ORD-88421"
    constraint: str = "Constraint: never open document 17 again and report the cap in EUR."
    constrained: int = 5

    def __post_init__(self) -> None:
        if not self.documents:
            raise Misuse("a reading without documents measures nothing; give at least one text")
        for name in ("task", "question", "sought", "answer", "constraint"):
            if not getattr(self, name).strip():
                raise Misuse(f"{name} of a reading is empty; give a text")

    def lines(self, text: str) -> list[str]:
        """The lines of a text that hold what is looked for."""
        return [line for line in text.split("\n") if self.sought in line]

    def finding(self, number: int) -> str:
        """What a sub-agent that read document `number` reports of it."""
        found = "; ".join(line.partition(": ")[2] or line for line in self.lines(self.documents[number]))
        return f"document {number}: {found or NOTHING}"


def _document(number: int) -> str:
    clauses = [
        f"clause {number}.{clause}: routine contractual language, nothing notable"
        for clause in range(CLAUSES)
    ]
    if number == NEEDLE_IN:
        clauses.append(f"clause {number}.99: the affected order is ORD-88421 and the cap is 125,000")
    return "\n".join([f"DOCUMENT {number}", *clauses])


SEED = Reading(documents=tuple(_document(number) for number in range(DOCUMENTS)))
"""The source's documents: 1,652 characters each and a few more, 395 tokens."""
