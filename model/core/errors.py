"""Errors of a family of models."""

from __future__ import annotations


class BadEnvironment(ValueError):
    """An option has a value that means nothing; the message names it and says what is allowed."""


class BadCondition(BadEnvironment):
    """A condition of one's own means nothing; `pointed` are two lines, the text and a caret."""

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.text = text
        self.column = column
        super().__init__(f"the condition, column {column}: {problem}")

    @property
    def pointed(self) -> str:
        """The text, and below it a caret at the column."""
        return f"{self.text}\n{' ' * (self.column - 1)}^"


class RaisedAtStart(BadEnvironment):
    """A model cannot start: the function that makes its initial states has raised an error."""
