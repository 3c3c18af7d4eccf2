"""The alternating-bit protocol over channels that lose messages.

After Bartlett, Scantlebury and Wilkinson (CACM 1969). A message is sent again and again with one
bit until that bit comes back; then the next one is sent with the other bit. Each channel holds one
message. It gets ahead for ever if everybody goes on and no channel loses everything: neither alone
is enough.
"""

from waterline import Fields, Number, Protocol, when

NOTHING = 2


class State(Fields):
    """How many messages a channel loses in a row at the most, unless that is endless; whether
    sender and receiver are sure to go on.
    """

    losses: int = 2
    endless: bool = False
    goes_on: bool = True

    sending = Number(0, 1, doc="The bit of the message that is being sent.")
    expected = Number(0, 1, doc="The bit of the message that the receiver waits for.")
    message = Number(0, NOTHING, doc="The bit of the message on its way.")
    answer = Number(0, NOTHING, doc="The bit on its way back.")
    messages_lost = Number(0, losses, doc="In a row.")
    answers_lost = Number(0, losses, doc="In a row.")


def alternating_bit(state: type[State]) -> Protocol:
    """A sender and a receiver."""
    return Protocol(
        state=state,
        initial=start,
        actions=[send, receive, be_answered, lose_message, lose_answer],
        # Nothing has to be lost.
        fair=[send, receive, be_answered] if state.goes_on else [],
        always=[no_old_message_is_taken],
        lemmas=[answer_follows_message],
        sometimes=[loses_a_message, loses_an_answer],
        always_eventually=[sends_the_first, sends_the_second],
        recoverable=[sends_the_first] if state.goes_on else [],
    )


def start(s: State) -> None:
    """Both channels are empty."""
    s.message = NOTHING
    s.answer = NOTHING


def send(s: State) -> None:
    """The message is sent, perhaps once more."""
    when(s.message == NOTHING)
    s.message = s.sending


def receive(s: State) -> None:
    """The message arrives, is taken if it is the next one, and its bit goes back."""
    when(s.message != NOTHING and s.answer == NOTHING)
    s.expected = 1 - s.message
    s.answer = s.message
    s.message = NOTHING
    s.messages_lost = 0


def be_answered(s: State) -> None:
    """The bit comes back; if it is that of the message, the next one is sent from now on."""
    when(s.answer != NOTHING)
    if s.answer == s.sending:
        s.sending = 1 - s.sending
    s.answer = NOTHING
    s.answers_lost = 0


def lose_message(s: State) -> None:
    """The message is lost."""
    when(s.message != NOTHING)
    when(s.endless or s.messages_lost < s.losses)
    if not s.endless:
        s.messages_lost += 1
    s.message = NOTHING


def lose_answer(s: State) -> None:
    """The answer is lost."""
    when(s.answer != NOTHING)
    when(s.endless or s.answers_lost < s.losses)
    if not s.endless:
        s.answers_lost += 1
    s.answer = NOTHING


def no_old_message_is_taken(s: State) -> bool:
    """A message that was sent before is on its way only if the receiver does not take it."""
    return s.message in (NOTHING, s.sending) or s.message != s.expected


def answer_follows_message(s: State) -> bool:
    """The bit that is being sent comes back only after its message was taken."""
    return s.answer != s.sending or s.expected != s.sending


def sends_the_first(s: State) -> bool:
    """A message with bit 0 is being sent."""
    return s.sending == 0


def sends_the_second(s: State) -> bool:
    """A message with bit 1 is being sent."""
    return s.sending == 1


def loses_a_message(before: State, after: State) -> bool:
    """A message is lost."""
    return before.message != NOTHING and after.message == NOTHING and after.answer == before.answer


def loses_an_answer(before: State, after: State) -> bool:
    """The answer that the sender waits for is lost."""
    return (
        before.answer == before.sending
        and after.answer == NOTHING
        and after.sending == before.sending
    )
