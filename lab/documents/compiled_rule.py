"""One rule as Python source, as IR and as LLVM, for the site.

The rule is RULE, under the version VERSION in the environment `documented`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from waterline.checker.compiler import ir
from waterline.checker.compiler.kernel import plan_of, program_of
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.source import source_of
from waterline.checker.kafka.families import MESSAGE
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.high_watermark import advance_high_watermark

PLACE = "<!-- made: compiled-rule -->"
RULE = advance_high_watermark
VERSION = "kip320"


def python_source() -> str:
    """The rule as it stands in its file, without the docstring."""
    source = source_of(RULE)
    tree = ast.parse(ast.unparse(source.tree)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return ast.unparse(tree)


def as_ir() -> str:
    """The rule as the nodes of `checker.compiler.ir`, a line a statement, each with its line."""
    function = lower_function(source_of(RULE))
    lines = [f"Function({', '.join(function.parameters)})", *_block(function.body, "  ")]
    return "\n".join(lines)


def as_llvm() -> str:
    """LLVM's text of the rule, before LLVM optimises it."""
    problem = MESSAGE.problem(VERSION, DOCUMENTED)
    text = program_of(plan_of(problem), comment=True).text
    name = re.escape(source_of(RULE).name)
    found = re.search(rf"^define [^@]*@{name}\(.*?^}}$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[0]


def _block(statements: ir.Block, indent: str) -> Iterator[str]:
    for statement in statements:
        yield from _statement(statement, indent)


def _statement(node: ir.Statement, indent: str) -> Iterator[str]:
    def line(text: str) -> str:
        return f"{indent}{text}  # {node.line}"

    deeper = f"{indent}  "
    match node:
        case ir.If(test=test, then=then, otherwise=otherwise):
            yield line(f"If {_expression(test)}")
            yield from _block(then, deeper)
            if otherwise:
                yield f"{indent}Else"
                yield from _block(otherwise, deeper)
        case ir.While(test=test, body=body):
            yield line(f"While {_expression(test)}")
            yield from _block(body, deeper)
        case ir.For(counter=counter, function=function, bounds=bounds, body=body):
            among = _listed(function, *bounds)
            yield line(f"For {_expression(counter)} in Call({among})")
            yield from _block(body, deeper)
        case ir.Assign(targets=targets, value=value):
            written = " = ".join(map(_expression, targets))
            yield line(f"Assign {written} = {_expression(value)}")
        case ir.Update(target=target, operator=operator, value=value):
            yield line(f"Update {_expression(target)} {operator}= {_expression(value)}")
        case ir.Return(value=value):
            yield line("Return" if value is None else f"Return {_expression(value)}")
        case ir.Evaluate(call=call):
            yield line(f"Evaluate {_expression(call)}")
        case ir.Refused(what=what):
            yield line(f"Refused({what})")
        case _:
            yield line(type(node).__name__)


def _expression(node: ir.Expression) -> str:  # noqa: PLR0911, PLR0912 - one for each kind
    kind = type(node).__name__
    match node:
        case ir.Name(name=name):
            return name
        case ir.Constant(value=value):
            return str(value)
        case ir.Attribute(owner=owner, name=name):
            return f"Attribute({_expression(owner)}, {name})"
        case ir.Element(owner=owner, index=index):
            return f"Element({_listed(owner, index)})"
        case ir.Call(function=function, arguments=arguments, named=named):
            by_name = (f"{name}={_expression(value)}" for name, value in named)
            return f"Call({', '.join((_listed(function, *arguments), *by_name))})"
        case (
            ir.Operation(operator=operator, left=left, right=right)
            | ir.Comparison(operator=operator, left=left, right=right)
        ):
            return f"{kind}({_expression(left)} {operator} {_expression(right)})"
        case ir.Unary(operator=operator, operand=operand):
            return f"Unary({operator} {_expression(operand)})"
        case ir.Contained(left=left, among=among, negated=negated):
            joined = "not in" if negated else "in"
            return f"Contained({_expression(left)} {joined} {_expression(among)})"
        case ir.Chain(operands=operands, operators=operators):
            pairs = zip(operators, operands[1:], strict=True)
            links = (f" {operator} {_expression(operand)}" for operator, operand in pairs)
            return f"Chain({_expression(operands[0])}{''.join(links)})"
        case ir.Both(operands=operands) | ir.Either(operands=operands):
            return f"{kind}({_listed(*operands)})"
        case ir.Choice(test=test, then=then, otherwise=otherwise):
            return f"Choice({_listed(test, then, otherwise)})"
        case ir.Tuple(items=items):
            return f"Tuple({_listed(*items)})"
        case ir.Refused(what=what):
            return f"Refused({what})"


def _listed(*nodes: ir.Expression) -> str:
    return ", ".join(map(_expression, nodes))


def page() -> str:
    """Return the rule in its three forms."""
    source = source_of(RULE)
    blocks = (
        f"The source, `{source.place.split(':')[0]}`:",
        f"```python\n{python_source()}\n```",
        "As IR, with the line of each statement:",
        f"```text\n{as_ir()}\n```",
        f"As LLVM under `{VERSION}`, with each statement as a comment above its instructions:",
        f"```llvm\n{as_llvm()}\n```",
    )
    return "\n\n".join(blocks)
