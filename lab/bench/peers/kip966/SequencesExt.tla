---- MODULE SequencesExt ----
(* What the specification uses of it. *)
EXTENDS Sequences, Naturals
Last(sequence) == sequence[Len(sequence)]
SeqOf(values, length) == UNION {[1..n -> values] : n \in 0..length}
====
