"""Emitter of one LLVM function: instructions, basic blocks, stack slots.

Operands are folded where they are known, so that what a version does not have never reaches LLVM.
"""

from __future__ import annotations

from waterline.checker.compiler.values import GREATEST, LEAST, Number, constant, number_within

_NEUTRAL = {"add": 0, "sub": 0, "or": 0, "xor": 0, "mul": 1, "and": -1}


class NotFlat(Exception):
    """Code without branches would need one: see `checker.compiler.if_conversion`."""


FIRST_BLOCK = ".first"
"""Names of blocks and registers have a dot, as no parameter's name has."""


class Writer:
    """Writes the body of a function, block by block."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        """Room for variables, in the function's first block, where LLVM makes registers of it."""
        self.lines: list[str] = []
        self.block = FIRST_BLOCK
        """The block that is written to; empty after an instruction that ends one."""
        self._names = 0
        self._targets: set[str] = set()
        self.flat = False
        """True if there may be no branches now: what is worked out may be so in vain."""

    def name(self, hint: str) -> str:
        """A name that nothing else in the function has."""
        self._names += 1
        return f"{hint}.{self._names}"

    def result(self, operation: str) -> str:
        """Write an operation that gives something; returns its register."""
        self._names += 1
        register = f"%v.{self._names}"
        self.lines.append(f"  {register} = {operation}")
        return register

    def act(self, operation: str) -> None:
        """Write an operation that gives nothing."""
        self.lines.append(f"  {operation}")

    def slot(self, hint: str, count: int = 1) -> str:
        """Room on the stack for so many numbers of 64 bits."""
        name = f"%{self.name(hint)}"
        times = f", i64 {count}" if count > 1 else ""
        self.slots.append(f"  {name} = alloca i64{times}")
        return name

    # --- blocks ----------------------------------------------------------------------------------

    def begin(self, block: str) -> bool:
        """Jump to a new block, and write there; return False if it is unreachable."""
        if self.flat:
            raise NotFlat
        self.jump(block)
        if block not in self._targets:
            return False
        self.lines.append(f"{block}:")
        self.block = block
        return True

    def jump(self, block: str) -> None:
        """Go on in another block."""
        if self.flat:
            raise NotFlat
        if self.block:
            self.act(f"br label %{block}")
            self._targets.add(block)
            self.block = ""

    def end(self, operation: str) -> None:
        """End the function here."""
        self.act(operation)
        self.block = ""

    def restart(self) -> None:
        """Begin a block that nothing leads to, for what stands behind a sure end."""
        self.block = self.name("never")
        self.lines.append(f"{self.block}:")

    def branch(self, truth: Number, then: str, otherwise: str, *, seldom: bool = False) -> None:
        """Go on in `then` or else in `otherwise`; `seldom` says that it is hardly ever `then`."""
        if self.flat:
            raise NotFlat
        if truth.is_constant:
            self.jump(then if truth.lo else otherwise)
            return
        weights = ", !prof !0" if seldom else ""
        register = self.as_truth(truth)
        self.act(f"br i1 {register}, label %{then}, label %{otherwise}{weights}")
        self._targets |= {then, otherwise}
        self.block = ""

    # --- numbers ---------------------------------------------------------------------------------

    def as_word(self, number: Number) -> str:
        """The operand as 64 bits."""
        if number.truth and not number.is_constant:
            return self.result(f"zext i1 {number.text} to i64")
        return number.text

    def as_truth(self, number: Number) -> str:
        """The operand as one bit: whether it is not zero."""
        if number.is_constant:
            return "true" if number.lo else "false"
        if number.truth:
            return number.text
        return self.result(f"icmp ne i64 {number.text}, 0")

    def truth_of(self, number: Number) -> Number:
        """True if the number is not zero."""
        if number.is_constant:
            return constant(number.lo != 0)
        if number.lo > 0 or number.hi < 0:
            return constant(1)
        return number if number.truth else Number(self.as_truth(number), 0, 1, truth=True)

    def negate(self, number: Number) -> Number:
        """`not number`."""
        truth = self.truth_of(number)
        if truth.is_constant:
            return constant(not truth.lo)
        return Number(self.result(f"xor i1 {truth.text}, true"), 0, 1, truth=True)

    def both(self, left: Number, right: Number) -> Number:
        """Return whether two truths are true, both evaluated."""
        return self._of_truths("and", left, right)

    def either(self, left: Number, right: Number) -> Number:
        """Return whether one of two truths is true, both evaluated."""
        return self._of_truths("or", left, right)

    def _of_truths(self, operator: str, left: Number, right: Number) -> Number:
        for one, other in ((left, right), (right, left)):
            if one.is_constant:
                decides = (one.lo != 0) == (operator == "or")
                return constant(one.lo != 0) if decides else self.truth_of(other)
        register = self.result(f"{operator} i1 {self.as_truth(left)}, {self.as_truth(right)}")
        return Number(register, 0, 1, truth=True)

    def compare(self, operator: str, left: Number, right: Number) -> Number:
        """A comparison: "eq", "ne", "slt", "sle", "sgt" or "sge"."""
        known = _decide(operator, left, right)
        if known is not None:
            return constant(known)
        one, other = self.as_word(left), self.as_word(right)
        return Number(self.result(f"icmp {operator} i64 {one}, {other}"), 0, 1, truth=True)

    def combine(self, operator: str, left: Number, right: Number) -> Number:
        """An operation on two numbers: "add", "sub", "mul", "and", "or" or "xor"."""
        lo, hi = range_of(operator, left, right)
        if lo == hi:
            return constant(lo)
        neutral = constant(_NEUTRAL[operator])
        if right == neutral and not left.truth:
            return left
        if left == neutral and operator != "sub" and not right.truth:
            return right
        fits = lo >= LEAST and hi <= GREATEST
        # In vain a number may be outside its range, and nothing may be undefined then.
        exact = " nsw" if fits and operator in {"add", "sub", "mul"} and not self.flat else ""
        one, other = self.as_word(left), self.as_word(right)
        return number_within(self.result(f"{operator}{exact} i64 {one}, {other}"), lo, hi)

    def select(self, truth: Number, left: Number, right: Number) -> Number:
        """Return one of two numbers."""
        if truth.is_constant:
            return left if truth.lo else right
        test, one, other = self.as_truth(truth), self.as_word(left), self.as_word(right)
        register = self.result(f"select i1 {test}, i64 {one}, i64 {other}")
        return number_within(register, min(left.lo, right.lo), max(left.hi, right.hi))

    def lesser(self, left: Number, right: Number) -> Number:
        """`min(left, right)`."""
        return self._extreme("smin", left, right)

    def greater(self, left: Number, right: Number) -> Number:
        """`max(left, right)`."""
        return self._extreme("smax", left, right)

    def _extreme(self, which: str, left: Number, right: Number) -> Number:
        extreme = min if which == "smin" else max
        lo, hi = extreme(left.lo, right.lo), extreme(left.hi, right.hi)
        if lo == hi:
            return constant(lo)
        one, other = self.as_word(left), self.as_word(right)
        return number_within(
            self.result(f"call i64 @llvm.{which}.i64(i64 {one}, i64 {other})"), lo, hi
        )


class Join:
    """Where several ways meet, each with a number of its own; afterwards it is one number."""

    def __init__(self, writer: Writer, hint: str) -> None:
        self._writer = writer
        self._end = writer.name(hint)
        self._ways: list[tuple[Number, str, int]] = []

    def arrive(self, number: Number) -> None:
        """End the block here with a number."""
        if self._writer.block:
            # What widens the number is filled in once it is known whether any is to be widened.
            self._ways.append((number, self._writer.block, len(self._writer.lines)))
            self._writer.act("")
            self._writer.jump(self._end)

    def meet(self) -> Number:
        """Go on where the ways meet."""
        writer = self._writer
        if not self._ways:
            return constant(0)
        writer.begin(self._end)
        numbers = [number for number, _, _ in self._ways]
        lo, hi = min(n.lo for n in numbers), max(n.hi for n in numbers)
        if len(numbers) == 1 or lo == hi:
            return numbers[0]
        truth = all(n.truth or (n.within(0, 1) and n.is_constant) for n in numbers)
        kind = "i1" if truth else "i64"
        incoming = []
        for number, block, line in self._ways:
            text = number.text
            if number.truth and not truth:
                text = f"%{writer.name('wide')}"
                writer.lines[line] = f"  {text} = zext i1 {number.text} to i64"
            incoming.append(f"[ {text}, %{block} ]")
        register = writer.result(f"phi {kind} {', '.join(incoming)}")
        return Number(register, 0, 1, truth=True) if truth else number_within(register, lo, hi)


def _decide(operator: str, left: Number, right: Number) -> bool | None:
    """Return the result of a comparison if the ranges decide it."""
    if operator in {"eq", "ne"}:
        if left.hi < right.lo or right.hi < left.lo:
            return operator == "ne"
        if left.is_constant and right.is_constant:
            return operator == "eq"
        return None
    if operator in {"sgt", "sge"}:
        swapped = "slt" if operator == "sgt" else "sle"
        return _decide(swapped, right, left)
    if operator == "slt":
        return True if left.hi < right.lo else False if left.lo >= right.hi else None
    return True if left.hi <= right.lo else False if left.lo > right.hi else None


def range_of(operator: str, left: Number, right: Number) -> tuple[int, int]:
    """The range of an exact result, which may not fit 64 bits."""
    if operator == "add":
        return left.lo + right.lo, left.hi + right.hi
    if operator == "sub":
        return left.lo - right.hi, left.hi - right.lo
    if operator == "mul":
        corners = [a * b for a in (left.lo, left.hi) for b in (right.lo, right.hi)]
        return min(corners), max(corners)
    if left.is_constant and right.is_constant:
        value = {"and": left.lo & right.lo, "or": left.lo | right.lo, "xor": left.lo ^ right.lo}
        return value[operator], value[operator]
    bits = max(abs(n).bit_length() for n in (left.lo, left.hi, right.lo, right.hi))
    most = (1 << bits) - 1
    if operator == "and":
        tops = [n.hi for n in (left, right) if n.lo >= 0]
        return (0, min(tops)) if tops else (-most - 1, most)
    if left.lo >= 0 and right.lo >= 0:
        return (max(left.lo, right.lo) if operator == "or" else 0), most
    return -most - 1, most
