"""Answer of `waterline ask`: how the cluster is, what a further fault loses, what may be done.

As a screen, and as plain values for JSON: `docs/schemas/ask.schema.json`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.now.asking import Answer, Difference, Harm, RestartOrder, difference
from waterline.checker.kafka.now.further import Loss
from waterline.checker.kafka.now.histories import BEFORE_MAX
from waterline.checker.kafka.now.partitions import Cluster
from waterline.checker.problem.wording import list_of, quantity
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, GOOD, WARNING

WORDS = {
    "restarts": ("crash", "crashes"),
    "power_losses": ("power loss", "power losses"),
    "lost_disks": ("lost disk", "lost disks"),
    "session_expiries": ("live broker taken for dead", "live brokers taken for dead"),
    "shutdowns": ("broker restart", "broker restarts"),
    "moves": ("move of leadership", "moves of leadership"),
}
"""Names of faults for operators."""
IF_POWER = "acknowledged records may be lost, if a broker that is down lost power."
NAMES_MAX = 3
"""Most partitions that a line names."""


def render(answer: Answer, *, has_details: bool) -> RenderableType:
    """The screen of an answer."""
    cluster, faults = answer.cluster, answer.faults
    if answer.order is not None:
        return render_order(answer.order, cluster)
    assert answer.before is not None
    if answer.after is None:
        return render_now(answer.title, cluster, answer.before, faults, has_details=has_details)
    harms = (answer.before, answer.after)
    return render_event(answer.question, cluster, harms, faults, has_details=has_details)


def render_now(
    title: str, cluster: Cluster, harm: Harm, faults: int, *, has_details: bool = False
) -> RenderableType:
    """The cluster as it is, and the fewest further faults that lose records."""
    lines = [_heading(title, cluster), *_standing(harm)]
    lines += _dangers(cluster)
    certain, uncertain = _groups(harm)
    for names, losses in certain:
        lines.append(
            Text.assemble((f"{quantity(len(names), 'partition')}: ", BAD), _sentence(losses))
        )
        lines.append(_name_partitions(names, cluster, losses, harm))
        if has_details:
            lines += _steps(cluster, names[0], harm.losing[names[0]].losses)
    if uncertain:
        lines.append(Text(f"{quantity(len(uncertain), 'partition')}: {IF_POWER}", WARNING))
        lines.append(_name_partitions(uncertain, cluster))
    rest = len(cluster.partitions) - len({*harm.losing, *harm.unknown})
    if rest:
        lines.append(
            Text(f"{quantity(rest, 'partition')}: no loss found with {_any(faults)}.", GOOD)
        )
    return Trimmed(Group(*lines, *_render_unknown(harm.unknown), *_bounds(cluster)))


def _dangers(cluster: Cluster) -> list[Text]:
    return [Text(f"In danger now: {text}", BAD) for text in cluster.dangers[:NAMES_MAX]]


def _steps(cluster: Cluster, name: str, losses: Sequence[Loss]) -> Iterator[Text]:
    """Yield the steps of each loss of a partition, with the numbers of its brokers."""
    brokers = next(each.brokers for each in cluster.partitions if each.name == name)
    for loss in losses:
        yield Text(f"  {name}, {describe(loss.faults) or 'no further fault'}:", "bold")
        for number, sentence in enumerate(loss.steps, start=1):
            text = re.sub(r"\br(\d)\b", lambda found: f"broker {brokers[int(found[1])]}", sentence)
            yield Text(f"  {number:2}. {text[:1].upper()}{text[1:]}")


def _heading(title: str, cluster: Cluster) -> Text:
    up, down = sorted(cluster.racks), sorted(cluster.down)
    brokers = f"{quantity(len(up), 'broker')} up"
    if down:
        brokers += f", down: {list_of([str(broker) for broker in down], 9)}"
    return Text(f"{title}: {quantity(len(cluster.partitions), 'partition')}, {brokers}.", "bold")


def _standing(harm: Harm) -> Iterator[Text]:
    for names, what in ((harm.unavailable, "unavailable"), (harm.refusing, "refusing writes")):
        if names:
            shown = list_of(list(names), NAMES_MAX)
            yield Text(f"{quantity(len(names), 'partition')} {what} now: {shown}.", WARNING)


def _groups(harm: Harm) -> tuple[list[tuple[list[str], tuple[Loss, ...]]], list[str]]:
    """Return the partitions by the faults that lose their records, and those perhaps lost."""
    certain: defaultdict[tuple[Loss, ...], list[str]] = defaultdict(list)
    uncertain = []
    for name, found in harm.losing.items():
        losses = tuple(each for each in found.losses if not each.if_power)
        if losses:
            faults = tuple(Loss(each.faults, (), ()) for each in losses)
            certain[faults].append(name)
        else:
            uncertain.append(name)
    groups = [(names, losses) for losses, names in certain.items()]
    return sorted(groups, key=lambda group: len(group[1][0].faults)), uncertain


def _sentence(losses: Sequence[Loss]) -> str:
    """`one power loss or one lost disk loses acknowledged records.`"""
    if not losses[0].faults:
        return "acknowledged records are lost without any further fault."
    ways = list(dict.fromkeys(describe(each.faults) for each in losses))
    listed = " or ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))
    return f"{listed} loses acknowledged records."


def describe(faults: Sequence[str]) -> str:
    """`one crash and one power loss`, `two crashes`"""
    parts = (
        f"two {WORDS[fault][1]}" if faults.count(fault) > 1 else f"one {WORDS[fault][0]}"
        for fault in dict.fromkeys(faults)
    )
    return " and ".join(parts)


def _name_partitions(
    names: Sequence[str],
    cluster: Cluster,
    losses: Sequence[Loss] = (),
    harm: Harm | None = None,
) -> Text:
    """`  audit-0 (broker 1), pay-3 (broker 2) and 9 more`"""
    shown = []
    for name in names[: NAMES_MAX + 1]:
        hit = ""
        if harm is not None and losses and losses[0].faults:
            loss = next(x for x in harm.losing[name].losses if x.faults == losses[0].faults)
            brokers = next(p.brokers for p in cluster.partitions if p.name == name)
            at = list(dict.fromkeys(str(brokers[place]) for place in loss.places))
            hit = f" (broker {' and '.join(at)})"
        shown.append(f"{name}{hit}")
    return Text(f"  {list_of([*shown, *names[NAMES_MAX + 1 :]], NAMES_MAX)}")


def _any(faults: int) -> str:
    every = list_of([one for one, _ in WORDS.values()], 9).replace(" and ", " or ")
    number = ("no further fault", "one further fault", "any two further faults")[faults]
    return f"{number} ({every})" if faults else number


def _render_unknown(unknown: Mapping[str, str]) -> Iterator[Text]:
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for name, reason in unknown.items():
        by_reason[reason].append(name)
    for reason, names in by_reason.items():
        shown = list_of(names, NAMES_MAX)
        count = quantity(len(names), "partition")
        yield Text(f"{count} not explored ({reason}): {shown}. Nothing is known of them.", WARNING)


def _bounds(cluster: Cluster) -> Iterator[Text]:
    yield from (Text(note) for note in cluster.notes)
    yield Text(
        "Checked: every order of events, 1 record (2 with up to 2 replicas), from every state that "
        f"looks like this after the fewest faults that explain it (at most {BEFORE_MAX}). What is "
        "not seen, as high watermarks and logs, is tried in all these ways; a longer past is not "
        "(docs/operators.md)."
    )


def render_event(
    what: str, cluster: Cluster, harms: tuple[Harm, Harm], faults: int, *, has_details: bool = False
) -> RenderableType:
    """Return the answer to "May I ...?", with partitions before and meanwhile."""
    before, after = harms
    found = difference(before, after)
    answer = _answer(found) if not cluster.dangers else ("No, not now.", BAD)
    lines: list[RenderableType] = [Text.assemble((f"{what} ", "bold"), answer), *_dangers(cluster)]
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_row("  partitions that", "now", "meanwhile", "newly")
    losing = [{n: x for n, x in h.losing.items() if x.fewest is not None} for h in harms]
    rows = (
        ("are unavailable", before.unavailable, after.unavailable, found.unavailable),
        ("refuse writes", before.refusing, after.refusing, found.refusing),
        (f"lose records {_further(faults)}", *losing, found.losing),
    )
    for name, was, then, new in rows:
        shown = list_of(list(new), NAMES_MAX)
        table.add_row(f"  {name}", f"{len(was):,}", f"{len(then):,}", Text(shown, BAD))
    lines.append(table)
    by_losses: defaultdict[str, list[str]] = defaultdict(list)
    for name, losses in found.losing.items():
        certain = [each for each in losses if not each.if_power]
        by_losses[_sentence(certain) if certain else IF_POWER].append(name)
    for sentence, names in by_losses.items():
        lines.append(Text(f"Meanwhile, {list_of(names, NAMES_MAX)}: {sentence}"))
        if has_details:
            lines += _steps(cluster, names[0], found.losing[names[0]])
    return Trimmed(Group(*lines, *_render_unknown(after.unknown), *_bounds(cluster)))


def _answer(found: Difference) -> tuple[str, str]:
    if not found.is_harmless:
        return "No, not now.", BAD
    return ("Not known.", WARNING) if found.unknown else ("Yes, within the bounds below.", GOOD)


def _further(faults: int) -> str:
    return ("without a fault", "by one more fault", "by two more faults")[faults]


def render_order(found: RestartOrder, cluster: Cluster) -> Trimmed:
    """An order of restarts, or why there is none."""
    lines = _dangers(cluster)
    down = list_of([str(broker) for broker in sorted(cluster.down)], 9)
    order = [str(broker) for broker in found.now]
    if found.unsure or cluster.dangers or any(why.losing for why in found.refused.values()):
        lines.append(Text("No order of restarts is known to be safe.", BAD))
    elif found.refused:
        text = "Every order of restarts stops writes to some partition."
        lines.append(Text(text, BAD))
    else:
        lines.append(Text("Restart one broker at a time, in this order:", "bold"))
    if down:
        lines.append(Text(f"First start: {down}."))
    lines.append(Text(f"May restart now: {', '.join(order) or 'none'}."))
    if found.later:
        text = ", ".join(map(str, found.later))
        lines.append(Text(f"Only once every replica is in sync again: {text}."))
    for broker, why in found.refused.items():
        names = list(dict.fromkeys((*why.unavailable, *why.refusing, *why.losing)))
        harm = [
            f"{quantity(len(members), 'partition')} {words}"
            for members, words in (
                (why.unavailable, "unavailable meanwhile"),
                (why.refusing, "refusing writes meanwhile"),
                (why.losing, "losing records with one more fault"),
            )
            if members
        ]
        text = f"Broker {broker}, even with all in sync: {list_of(harm)} ({list_of(names)})."
        lines.append(Text(text, BAD))
    if found.unsure:
        lines.append(Text(f"Not known for: {', '.join(map(str, found.unsure))}.", WARNING))
    lines.append(
        Text(
            "Between two restarts wait a minute, and until kafka-topics.sh --describe "
            "--under-replicated-partitions prints nothing; then ask again."
        )
    )
    return Trimmed(Group(*lines, *_bounds(cluster)))


FORMAT = "waterline-ask/1"


def answer_object(answer: Answer, exit_code: int) -> dict[str, Any]:
    """Return the answer with the names of all partitions, and brokers by their numbers."""
    cluster, before, after, order = answer.cluster, answer.before, answer.after, answer.order
    worse = difference(before, after) if before is not None and after is not None else None
    return {
        "format": FORMAT,
        "release": answer.title,
        "question": answer.question or None,
        "exit_code": exit_code,
        "faults": answer.faults,
        "partitions": len(cluster.partitions),
        "brokers": [{"broker": each, "rack": rack} for each, rack in cluster.racks.items()],
        "down": sorted(cluster.down),
        "dangers": list(cluster.dangers),
        "notes": list(cluster.notes),
        "now": _harm(before, cluster) if before is not None else None,
        "meanwhile": _harm(after, cluster) if after is not None else None,
        "newly": worse
        and {
            "unavailable": list(worse.unavailable),
            "refusing": list(worse.refusing),
            "losing": _losing(worse.losing, cluster),
        },
        "order": order
        and {
            "now": list(order.now),
            "later": list(order.later),
            "refused": list(order.refused),
            "unsure": list(order.unsure),
        },
    }


def _harm(harm: Harm, cluster: Cluster) -> dict[str, Any]:
    return {
        "unavailable": list(harm.unavailable),
        "refusing": list(harm.refusing),
        "losing": _losing({name: each.losses for name, each in harm.losing.items()}, cluster),
        "unknown": dict(harm.unknown),
    }


def _losing(losing: dict[str, tuple[Loss, ...]], cluster: Cluster) -> dict[str, list[Any]]:
    brokers = {each.name: each.brokers for each in cluster.partitions}
    return {
        name: [
            {
                "faults": list(loss.faults),
                "brokers": [brokers[name][place] for place in loss.places],
                "if_power": loss.if_power,
                "steps": list(loss.steps),
            }
            for loss in losses
        ]
        for name, losses in losing.items()
    }
