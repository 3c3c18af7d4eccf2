"""A circuit breaker: after failures it refuses calls, and later one trial decides.

`waterline ties` compares with the library circuitbreaker, whose file is to lie next to this one.

Not modelled: circuitbreaker.py:CircuitBreaker.decorate, it only chooses how to wrap
Not modelled: circuitbreaker.py:CircuitBreaker.call_async, as call
Not modelled: circuitbreaker.py:CircuitBreaker.call_async_generator, as call_generator
Not modelled: circuitbreaker.py:CircuitBreaker.open_remaining, it only reads
Not modelled: circuitbreaker.py:CircuitBreaker.failure_count, it only reads
Not modelled: circuitbreaker.py:CircuitBreaker.closed, it only reads
Not modelled: circuitbreaker.py:CircuitBreaker.name, it only reads
Not modelled: circuitbreaker.py:CircuitBreaker.last_failure, it only reads
Not modelled: circuitbreaker.py:CircuitBreaker.fallback_function, what is called instead
"""

from waterline import Choice, Fields, Names, Number, Protocol, when


class State(Fields):
    """Calls that may run at the same time, and the failures in a row that open the circuit."""

    calls = Names("call", 2)
    threshold: int = 2

    circuit = Choice("closed", "open", "half_open")
    failures = Number(0, threshold, doc="Failures in a row while closed.")
    call = Choice("idle", "running", "trial", by=calls)


def circuit_breaker(state: type[State]) -> Protocol:
    """A breaker, and the service that it protects."""
    return Protocol(
        state=state,
        actions=[begin, succeed, fail, wait],
        always=[one_trial],
        every_step=[opens_after_failure, closes_after_trial, keeps_its_kind, counts_in_a_row],
        lemmas=[closed_below_threshold],
        sometimes=[late_end, trial_fails, trial_closes],
        recoverable=[closed],
        fair=[begin, succeed, wait],
    )


def begin(s: State, call: int) -> None:
    """{call} is let through.

    Code: circuitbreaker.py:CircuitBreaker._decorate_sync, circuitbreaker.py:CircuitBreaker.call,
    circuitbreaker.py:CircuitBreaker.call_generator, circuitbreaker.py:CircuitBreaker.opened
    """
    when(s.call[call] == "idle")
    when(s.circuit != "open")
    when(s.circuit == "closed" or all(s.call[other] != "trial" for other in s.calls))
    if s.circuit == "closed":
        s.call[call] = "running"
    else:
        s.call[call] = "trial"


def succeed(s: State, call: int) -> None:
    """{call} succeeds.

    Code: circuitbreaker.py:CircuitBreaker.__exit__, circuitbreaker.py:CircuitBreaker.reset
    """
    when(s.call[call] != "idle")
    if s.call[call] == "trial" or s.circuit == "closed":
        s.circuit = "closed"
        s.failures = 0
    s.call[call] = "idle"


def fail(s: State, call: int) -> None:
    """{call} fails.

    Code: circuitbreaker.py:CircuitBreaker.__exit__, circuitbreaker.py:CircuitBreaker.__call_failed
    """
    when(s.call[call] != "idle")
    if s.call[call] == "trial":
        s.circuit = "open"
    elif s.circuit == "closed":
        s.failures += 1
        if s.failures == s.threshold:
            s.circuit = "open"
    s.call[call] = "idle"


def wait(s: State) -> None:
    """The recovery timeout is over.

    Code: circuitbreaker.py:CircuitBreaker.state, circuitbreaker.py:CircuitBreaker.open_until
    """
    when(s.circuit == "open")
    s.circuit = "half_open"


def one_trial(s: State) -> bool:
    """At most one call is a trial, and only while the circuit is half open."""
    return all(
        s.call[a] != "trial"
        or (s.circuit == "half_open" and all(a == b or s.call[b] != "trial" for b in s.calls))
        for a in s.calls
    )


def closed_below_threshold(s: State) -> bool:
    """The failures are fewer than the threshold while the circuit is closed, then as many."""
    if s.circuit == "closed":
        return s.failures < s.threshold or s.threshold <= 0
    return s.failures == s.threshold


def opens_after_failure(before: State, after: State) -> bool:
    """The circuit opens after as many failures in a row as the threshold, or a failed trial."""
    return (
        after.circuit != "open"
        or before.circuit == "open"
        or (
            after.failures == after.threshold
            and (before.failures == after.threshold - 1 or before.circuit == "half_open")
        )
    )


def closes_after_trial(before: State, after: State) -> bool:
    """Only a trial that succeeds closes the circuit."""
    return (
        after.circuit != "closed"
        or before.circuit == "closed"
        or any(before.call[c] == "trial" and after.call[c] == "idle" for c in before.calls)
    )


def keeps_its_kind(before: State, after: State) -> bool:
    """A call that is under way ends before it begins again."""
    return all(
        before.call[c] == "idle" or after.call[c] == "idle" or after.call[c] == before.call[c]
        for c in before.calls
    )


def counts_in_a_row(before: State, after: State) -> bool:
    """While closed a failure counts and a success forgets the others; later a trial alone does."""
    if not any(before.call[c] != "idle" and after.call[c] == "idle" for c in before.calls):
        return after.failures == before.failures
    if before.circuit == "closed":
        return after.failures == 0 or after.failures == before.failures + 1
    return after.failures == before.failures or after.circuit == "closed"


def late_end(before: State, after: State) -> bool:
    """A call that began while the circuit was closed ends while it is not."""
    return after.circuit == before.circuit != "closed" and any(
        before.call[c] == "running" and after.call[c] == "idle" for c in before.calls
    )


def trial_closes(before: State, after: State) -> bool:
    """A trial closes the circuit."""
    return before.circuit == "half_open" and after.circuit == "closed"


def trial_fails(before: State, after: State) -> bool:
    """A trial opens the circuit again."""
    return before.circuit == "half_open" and after.circuit == "open"


def closed(s: State) -> bool:
    """The circuit is closed."""
    return s.circuit == "closed"
