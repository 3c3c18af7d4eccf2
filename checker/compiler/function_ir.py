"""A compiled function: its LLVM text and the kind of its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from waterline.checker.compiler.emitter import Writer
from waterline.checker.compiler.values import Number, constant

FAULT = "%fault"
"""The parameter that points to the flag which a fault raises."""
FAULTED = "faulted"
"""The block that raises it and returns."""


@dataclass(frozen=True, slots=True)
class Written:
    """A function as it was written: what it returns, and what it needs."""

    name: str
    parameters: tuple[str, ...]
    returns: tuple[Number, ...]
    faults: bool
    writes: bool
    body: tuple[str, ...]
    calls: tuple[Written, ...]

    @property
    def kind(self) -> str:
        """The LLVM type that it returns."""
        return kind_of(self.returns)

    def text(self, attributes: str, *, outer: bool = False) -> str:
        """The definition; an `outer` function is called from outside and has its own flag."""
        entry, *body = self.body
        parameters = list(self.parameters)
        if outer:
            body = [f"  {FAULT} = alloca i8", f"  store i8 0, ptr {FAULT}", *body]
        elif self.faults:
            parameters.append(f"ptr {FAULT}")
        linkage = "" if outer else "internal "
        head = f"define {linkage}{self.kind} @{self.name}({', '.join(parameters)}) {attributes} {{"
        return "\n".join([head, entry, *body, "}"])


def kind_of(returns: Sequence[Number]) -> str:
    """The LLVM type of what a function returns."""
    kinds = ["i1" if number.truth else "i64" for number in returns]
    if not kinds:
        return "void"
    return kinds[0] if len(kinds) == 1 else f"{{ {', '.join(kinds)} }}"


@dataclass(slots=True)
class Returns:
    """The places where a function returns; what they return is of one kind."""

    writer: Writer
    _places: list[tuple[int, tuple[Number, ...]]] = field(default_factory=list)

    def add(self, numbers: tuple[Number, ...]) -> bool:
        """Return these numbers here; False where other places return more or less of them."""
        self._places.append((len(self.writer.lines), numbers))
        self.writer.end("")
        return len(numbers) == len(self._places[0][1])

    def fill_in(self, *, faults: bool) -> tuple[Number, ...]:
        """Write the returns, whose kinds are known now; what a fault returns is of that kind."""
        columns = zip(*(numbers for _, numbers in self._places), strict=True)
        returns = tuple(_any_of(numbers) for numbers in columns)
        for line, numbers in self._places:
            self.writer.lines[line] = "\n".join(self._return_lines(returns, numbers))
        if faults and self.writer.begin(FAULTED):
            self.writer.act(f"store i8 1, ptr {FAULT}")
            least = tuple(constant(number.lo) for number in returns)
            self.writer.lines += self._return_lines(returns, least)
            self.writer.block = ""
        return returns

    def _return_lines(self, returns: Sequence[Number], numbers: Sequence[Number]) -> list[str]:
        if not returns:
            return ["  ret void"]
        lines, operands = [], []
        for wanted, number in zip(returns, numbers, strict=True):
            text = wanted.text if wanted.is_constant else number.text
            if wanted.truth and number.is_constant:
                text = "true" if number.lo else "false"
            elif number.truth and not wanted.truth and not wanted.is_constant:
                text = f"%{self.writer.name('wide')}"
                lines.append(f"  {text} = zext i1 {number.text} to i64")
            operands.append(f"{'i1' if wanted.truth else 'i64'} {text}")
        if len(operands) == 1:
            return [*lines, f"  ret {operands[0]}"]
        whole, kind = "poison", kind_of(returns)
        for position, operand in enumerate(operands):
            register = f"%{self.writer.name('both')}"
            lines.append(f"  {register} = insertvalue {kind} {whole}, {operand}, {position}")
            whole = register
        return [*lines, f"  ret {kind} {whole}"]


def _any_of(numbers: Sequence[Number]) -> Number:
    """A number of the kind and the range of all of these."""
    lo, hi = min(n.lo for n in numbers), max(n.hi for n in numbers)
    if lo == hi:
        return constant(lo)
    if all(n.truth or (n.is_constant and n.within(0, 1)) for n in numbers):
        return Number("", 0, 1, truth=True)
    return Number("", lo, hi)
