"""A replayed trace in the formats of other tools: ITF of Apalache and Quint, the text of TLC.

    recording = Recording(trace, states, picks)
    to_itf(recording)      from_itf(text)      to_tlc(recording)

Here states are in the file, as those tools want them. Nothing here knows the protocol:
`checker.traces.recording` reads the states of a model.
"""

from waterline.counterexamples.formats.itf import from_itf, is_itf, to_itf
from waterline.counterexamples.formats.recording import Record, Recording, Value
from waterline.counterexamples.formats.tlc import to_tlc

__all__ = ["Record", "Recording", "Value", "from_itf", "is_itf", "to_itf", "to_tlc"]
