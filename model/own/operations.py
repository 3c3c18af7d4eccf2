"""Operations of lowered rules: sets as numbers with a bit for each member, and folded indices.

A rule that has an operation on a set, or an element of a field with more than two indices, gets a
copy of such a function: so it is a function of the user's file, checked and compiled as that is.
"""

from __future__ import annotations

import ast

from waterline.model.core.made import note_operation

TEXT = '''
def has_member(members, member):
    """Whether a set has a member; what is outside the domain of the set is no member."""
    return member >= 0 and member < 63 and (members >> member) & 1 == 1


def with_member(members, member):
    """The set and this member."""
    return members | (1 << member)


def without_member(members, member):
    """The set without this member, if it had it."""
    if member >= 0 and member < 63 and (members >> member) & 1 == 1:
        return members ^ (1 << member)
    return members


def is_subset(members, others):
    """Whether all members are members of the other set."""
    return members & ~others == 0


def is_proper_subset(members, others):
    """Whether all members are members of the other set, which has more."""
    return members & ~others == 0 and members != others


def named(number):
    """A number as a name: below 0 there is none, and it is not None either."""
    if number < 0:
        return -2
    return number


def folded(first, second, extent):
    """One index for two, of which the second is below `extent`; -1 where that is not so."""
    if second < 0 or second >= extent:
        return -1
    return first * extent + second
'''


TREES = {
    f"__{each.name}__": note_operation(each, each.name)
    for each in ast.parse(TEXT).body
    if isinstance(each, ast.FunctionDef)
}
"""Functions by their name in lowered rules, to be copied."""
