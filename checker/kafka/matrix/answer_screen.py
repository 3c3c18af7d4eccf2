"""First screen of an answer: what can lose a record, why, and what prevents it, within 80 x 24.

It is for operators of Kafka who have never heard of a model checker. The evidence and the trials
are in `config_table` and on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.deployed.deployment import Deployment, Setting
from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC, REPLICATION, ROLES
from waterline.checker.kafka.matrix.advice import cost
from waterline.checker.kafka.matrix.deployment_facts import describe_zones, facts_of
from waterline.checker.kafka.matrix.grid import FAULTS
from waterline.checker.kafka.matrix.matrix import ConfigAnswer, DeploymentAnswer
from waterline.checker.kafka.matrix.outcome import Outcome
from waterline.checker.kafka.matrix.properties import (
    NOT_SAID,
    NOT_SAID_ACKS,
    REPLICAS,
    Config,
    describe_topics,
)
from waterline.checker.kafka.matrix.protocol_of import OF_A_NEW_CLUSTER
from waterline.checker.kafka.matrix.reason import harm_of, loss_of
from waterline.checker.kafka.matrix.verdict_groups import (
    Group as Reasoned,
)
from waterline.checker.kafka.matrix.verdict_groups import (
    groups_of,
    harmless,
    headline,
    known_causes,
    loses,
    not_met,
    precautions,
    title_of,
    unexplored_faults,
    why_unexplored,
    within,
    without_remedy,
)
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, GOOD, QUIET, WARNING
from waterline.model.message.releases import ELIGIBLE_LEADER_REPLICAS_USUAL

_GLOSSES = {
    "zombie": "a live broker believed dead",
    "disk out of sync": "a broker out of sync loses its disk",
    "reassigned again": "a second reassignment",
    "replication factor": "lowered, then raised",
    "taken directory": "a broker returns without its log directory",
}
"""Glosses of faults whose names alone do not say what happens."""
NOTES_MAX = 4
"""Remarks on what was read that are on the first screen."""
LINES_MAX = 23
"""Lines of a class of topics, so that a prompt fits below it on a screen of 24."""


def render_screen(answer: DeploymentAnswer, *, is_whole: bool = False) -> RenderableType:
    """The worst class, all if `is_whole`; in the end, by the prompt, a line for each of several."""
    parts: list[RenderableType] = []
    for number, each in enumerate(answer.answers if is_whole else answer.answers[:1]):
        if number:
            parts.append(Text())
        parts.append(_Screen(answer, each, is_first=number == 0))
    if len(answer.answers) > 1:
        parts += [Text(), *_overview(answer)]
    return Trimmed(Group(*parts))


def _overview(answer: DeploymentAnswer) -> list[RenderableType]:
    title = answer.protocol.title
    kinds = quantity(len(answer.answers), "kind")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for each in answer.answers:
        losing = sum(loss_of(outcome) is not None for outcome in each.matrix.outcomes)
        count = f"  {losing} of {quantity(len(each.matrix.outcomes), 'fault')} can lose a record"
        if not losing and (unknown := unexplored_faults(each)):
            count = f"  {quantity(len(unknown), 'fault')} not explored"
        if each.config.acks == "0":
            count = "  any fault may lose records"
        table.add_row(Text(count, _style(each)), _topics(each))
    return [
        Text(f"{title}: {kinds} of topics; above is the worst (--details: all).", "bold"),
        table,
    ]


def _style(answer: ConfigAnswer) -> str:
    return BAD if loses(answer) else ""


def _topics(answer: ConfigAnswer) -> str:
    config = answer.config
    unclean = ", unclean elections on" if config.unclean == "true" else ""
    replicas = quantity(config.yours.replicas, "replica")
    return (
        f"{_capital(describe_topics(config.topics))}: {replicas}, acks={config.acks}, "
        f"min.insync.replicas={config.yours.min_insync}{unclean}."
    )


def _capital(text: str) -> str:
    """A sentence begins with a capital; a topic's name stays as it is."""
    return f"T{text[1:]}" if text.startswith("topics without") else text


class _Screen:
    """Screen of one class of topics. If it would not fit, a reason's faults share one line."""

    def __init__(self, whole: DeploymentAnswer, answer: ConfigAnswer, *, is_first: bool) -> None:
        self._whole, self._answer, self._is_first = whole, answer, is_first

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for is_long in (True, False):
            lines = list(self._parts(is_long=is_long))
            height = sum(
                len(console.render_lines(part, options.update(height=None))) for part in lines
            )
            if height <= LINES_MAX:
                break
        yield from lines

    def _parts(self, *, is_long: bool) -> Iterator[RenderableType]:
        answer = self._answer
        title = answer.config.protocol.title
        yield Text.assemble((f"{title}: ", "bold"), (headline(answer), _style(answer)))
        said = answer.config.setting(ACKS)
        is_assumed = said is not None and said.source in NOT_SAID_ACKS
        yield Text(_topics(answer) + " acks is assumed." * is_assumed)
        if answer.config.acks == "0" and (said := answer.config.setting(ACKS)):
            yield Text(
                f"acks=0 ({said.origin}): a producer waits for no answer, and never learns what "
                "was lost. Remedy: set acks=all.",
                WARNING,
            )
        if any(each.source == OF_A_NEW_CLUSTER for each in answer.config.settings):
            yield Text(
                "ELR is taken to be on, as in clusters created with 4.1 or later; upgraded ones "
                "have it off (kafka-features.sh describe).",
                QUIET,
            )
        if not answer.config.is_release_said:
            yield Text("No file says the release: this is the newest modelled (--kafka-version).")
        advised: dict[str, int] = {}
        for number, group in enumerate(groups_of(answer), start=1):
            if is_long:
                yield Text()
            before = None
            if group.remedy is not None:
                before = advised.setdefault(group.remedy.changes.description, number)
            yield _group(number, group, answer, is_long=is_long, before=before)
        if is_long:
            yield Text()
        yield from self._rest()

    def _rest(self) -> Iterator[RenderableType]:
        answer = self._answer
        if quiet := harmless(answer):
            yield Text(f"No loss with {', '.join(quiet)}.", GOOD)
        for why, faults in why_unexplored(answer).items():
            reason = f" ({why})" if why else ""
            if answer.config.stand_in and why.endswith(answer.config.stand_in):
                reason = f" (--replicas {answer.config.yours.replicas} takes longer)"
            yield Text(f"Not known: {', '.join(faults)}{reason}.", "magenta")
        if answer.config.acks != "0" and (empty := not_met(answer)):
            yield Text(f"Not judged here (--details says why): {', '.join(empty)}.", QUIET)
        if answer.matrix.interrupted or answer.advice.interrupted:
            yield Text("Interrupted: this is what was known by then.", "bold magenta")
        deployment = self._whole.deployment
        for text in describe_zones(deployment, answer.config):
            yield Text(text, WARNING)
        if self._is_first:
            for fact in facts_of(deployment, self._whole.protocol):
                yield Text(fact, WARNING)
            yield from (Text(note, QUIET) for note in notes_on(deployment))
            yield from self._assumptions()
            if unused := deployment.unused:
                keys = ", ".join(dict.fromkeys(setting.key for setting in unused))
                yield Text(f"In your files, but not modelled: {keys}.", QUIET)
        checked = (
            f"Checked: every order of events, with {within(answer)}. Steps are the fewest events "
            "that do it. "
        )
        if not any(outcome.answer.distinct for outcome in answer.matrix.outcomes):
            checked = ""
        has_entries = any(list(known_causes(group, answer)) for group in groups_of(answer))
        entries = ", docs/results/catalogue.md (C1 to C64)" if has_entries else ""
        yield Text(f"{checked}More: --details, --html FILE{entries}.", QUIET)

    def _assumptions(self) -> Iterator[Text]:
        protocol = self._answer.config.protocol
        if (capped := self._answer.config.capped) and not self._answer.config.topics:
            yield Text(capped, WARNING)
        if not protocol.is_manner_said:
            yield Text(
                f"ZooKeeper is taken, as nothing says KRaft; --kafka-version {protocol.name}:kraft "
                "says it.",
                QUIET,
            )
        if _is_of_brokers_alone(self._answer.config, self._whole.deployment):
            yield Text(
                "With ELR min.insync.replicas of the controllers counts, not that of brokers; it "
                "is taken to be the same.",
                WARNING,
            )
        if (factor := self._answer.config.setting(REPLICATION)) and self._is_assumed(factor):
            verb = "is" if factor.value == "1" else "are"
            why = "" if factor.source == NOT_SAID else f"{factor.origin}; "
            yield Text(
                f"No file says how many replicas topics have: {factor.value} {verb} taken "
                f"({why}--replicas).",
                QUIET,
            )

    def _is_assumed(self, factor: Setting) -> bool:
        return REPLICATION not in self._whole.deployment.brokers and factor.source != REPLICAS


def notes_on(deployment: Deployment) -> Iterator[str]:
    """Yield the assumptions and omissions of the reading, as many as fit on a first screen."""
    yield from deployment.notes[:NOTES_MAX]
    if (more := len(deployment.notes) - NOTES_MAX) > 0:
        yield f"{quantity(more, 'more remark')} on what was read: --details."


def _is_of_brokers_alone(config: Config, deployment: Deployment) -> bool:
    """True if min.insync.replicas comes from a file of non-controller brokers, with ELR.

    When ELR is enabled, the controller writes its own static value as the cluster's, which then
    takes precedence over the static value of any broker (KIP-966,
    ConfigurationControlManager.maybeGenerateElrSafetyRecords; from 4.1 on).
    """
    roles, used = config.setting(ROLES), config.setting(MIN_INSYNC)
    return (
        config.has_eligible_leader_replicas
        and config.number >= ELIGIBLE_LEADER_REPLICAS_USUAL
        and roles is not None
        and "controller" not in roles.value
        and used is not None
        and used == deployment.brokers.get(MIN_INSYNC)
    )


def _group(
    number: int, group: Reasoned, answer: ConfigAnswer, *, is_long: bool, before: int | None
) -> RenderableType:
    """Render the reason, the faults, the remedies and their cost; `before` has the same remedy."""
    parts = [Text.assemble((title_of(group, answer), "bold"), ":")]
    if is_long:
        parts += [_fault(outcome) for outcome in group.outcomes]
    else:
        parts.append(Text(f"with {'; '.join(map(_with_gloss, group.outcomes))}."))
    parts += map(Text, known_causes(group, answer))
    parts += (Text(text, WARNING) for text in precautions(group, answer))
    if before is not None and before != number:
        which = _which(group, answer)
        parts.append(Text.assemble("Remedy: ", (f"the same as for {before}", GOOD), which))
    else:
        parts += _closing(group, answer)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row(f"{number}.", Text("\n").join(parts))
    return table


def _fault(outcome: Outcome) -> Text:
    """`power loss, 14 steps: A machine loses power, and with it what was not flushed.`"""
    value = _sentence(outcome)
    return Text.assemble((_short(outcome), BAD if loss_of(outcome) else WARNING), f": {value}")


def _sentence(outcome: Outcome) -> str:
    name = outcome.fault
    return next(value.sentence for value in FAULTS if value.name == name)


def _short(outcome: Outcome) -> str:
    """`power loss (14 steps)`, or what else it does: `leader moves (no loss: diverges, 9 steps)`"""
    return outcome.fault + _steps(outcome)


def _with_gloss(outcome: Outcome) -> str:
    """`zombie, a live broker believed dead (5 steps)`, where no sentence follows."""
    name = outcome.fault
    gloss = f", {_GLOSSES[name]}" if name in _GLOSSES else ""
    return name + gloss + _steps(outcome)


def _steps(outcome: Outcome) -> str:
    claim = loss_of(outcome)
    if claim is not None:
        return f" ({claim.depth} steps)"
    harm = harm_of(outcome)
    assert harm is not None
    return f" (no loss: {harm.word}, {harm.depth} steps)"


def _closing(group: Reasoned, answer: ConfigAnswer) -> Iterator[Text]:
    if group.remedy is None:
        if text := without_remedy(group, answer):
            yield Text(text, "magenta" if answer.advice.interrupted else "")
        return
    description = group.remedy.changes.description
    line = Text.assemble("Remedy: ", (description, GOOD), _which(group, answer))
    costs = " ".join(cost(group.remedy.changes, answer.config))
    yield line.append(f" Cost: {costs}") if costs else line


def _which(group: Reasoned, answer: ConfigAnswer) -> str:
    """`: prevents 4 of 7 (...; checked with 2 replicas, 1 record).`"""
    assert group.remedy is not None
    count, total = len(group.closes), len(group.outcomes)
    environment = group.remedy.outcome.cell.environment
    replicas = quantity(environment.replicas, "replica")
    checked = f"checked with {replicas}, {quantity(environment.records, 'record')}"
    checked += ", not in your size" if answer.config.stand_in else ""
    text = {1: "prevents it", 2: "prevents both"}.get(total, f"prevents all {total}")
    if count < total:
        text = f"prevents {', '.join(group.closes)}, {count} of {total}"
    return f": {text} ({checked})."


def sorted_answers(answers: Sequence[ConfigAnswer]) -> tuple[ConfigAnswer, ...]:
    """The worst first: the most faults that lose a record, that are not known, that do harm."""
    return tuple(
        sorted(
            answers,
            key=lambda each: (
                -sum(loss_of(outcome) is not None for outcome in each.matrix.outcomes),
                -len(unexplored_faults(each)),
                -sum(outcome.worst is not None for outcome in each.matrix.outcomes),
            ),
        )
    )
