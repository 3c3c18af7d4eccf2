"""A replayed trace in the formats of other tools: ITF of Apalache and Quint, the text of TLC.

    recording = record(replayed, values)
    to_itf(recording)      from_itf(text)      to_tlc(recording)

Here states are in the file, as those tools want them. `values` reads a state of the model's;
nothing here knows the protocol.
"""

from waterline.counterexamples.formats.itf import from_itf, is_itf, to_itf
from waterline.counterexamples.formats.recording import Recording, Value, record
from waterline.counterexamples.formats.tlc import to_tlc

__all__ = ["Recording", "Value", "from_itf", "is_itf", "record", "to_itf", "to_tlc"]
