---- MODULE FiniteSetsExt ----
(* The specification extends it, and uses nothing of it. *)
====
