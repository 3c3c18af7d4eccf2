"""A bit crosses two lossy channels until it is acknowledged."""

from waterline import Flag, Number, Protocol, when


def lossy(strongly: bool = True) -> Protocol:
    arrivals = [receive, be_answered]
    return Protocol(
        fields=[
            Number("sends", 0, 1),
            Number("awaits", 0, 1),
            Flag("message"),
            Flag("answer"),
            Number("message_bit", 0, 1),
            Number("answer_bit", 0, 1),
        ],
        actions=[send, receive, be_answered, lose_message, lose_answer],
        fair=[send] if strongly else [send, *arrivals],
        strongly_fair=arrivals if strongly else [],
        always_eventually=[has_advanced],
    )


def send(s):
    """The sender sends its message, perhaps again."""
    when(not s.message)
    s.message = True
    s.message_bit = s.sends


def receive(s):
    """The receiver takes the message in, and answers."""
    when(s.message)
    s.message = False
    s.awaits = 1 - s.message_bit
    s.answer = True
    s.answer_bit = s.message_bit


def be_answered(s):
    """The sender is answered."""
    when(s.answer)
    s.answer = False
    s.sends = 1 - s.sends if s.answer_bit == s.sends else s.sends


def lose_message(s):
    """The message is lost."""
    when(s.message)
    s.message = False


def lose_answer(s):
    """The answer is lost."""
    when(s.answer)
    s.answer = False


def has_advanced(s):
    """The sender has the message of bit 1 to send."""
    return s.sends == 1
