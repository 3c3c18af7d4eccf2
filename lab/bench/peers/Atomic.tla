------------------------------- MODULE Atomic -------------------------------
(* The atomic grain with truncation to the high watermark, for TLC.

   One partition. Every decision of the controller takes the next leader epoch and leaves behind
   one LeaderAndIsr request, on which every replica may act once, late or never, if it is newer
   than what the replica knows. Brokers read each other's state directly.

   Requests are numbered from 1 in order of leader epoch, so a replica's state needs only the
   number of the request it last acted on. Whoever does not lead has an empty in-sync set. *)

EXTENDS Integers, Sequences

CONSTANTS
    Brokers,    \* how many replicas the partition has
    LogSize,    \* how many records a log has room for
    MaxRecords, \* how many records are ever produced
    MaxEpoch    \* the highest leader epoch; the first is 0

VARIABLES
    log,      \* each replica's log: a sequence of <<number, epoch>>
    hw,       \* each replica's high watermark
    known,    \* the request each replica last acted on; 0 before any
    isr,      \* the in-sync set as each leader has it
    requests, \* every request so far: a leader (0 for none) and an in-sync set
    trueIsr,  \* the in-sync set as the controller has it
    produced  \* how many records there have been

vars == <<log, hw, known, isr, requests, trueIsr, produced>>

Replicas == 1 .. Brokers
Nobody == 0

LeaderKnownTo(r) == IF known[r] = 0 THEN Nobody ELSE requests[known[r]].leader
Leads(r) == known[r] > 0 /\ requests[known[r]].leader = r
TrueLeader == IF requests = <<>> THEN Nobody ELSE requests[Len(requests)].leader
TrulyLeads(r) == known[r] = Len(requests) /\ Leads(r)

\* Without any fence, only whom the follower names and how long its log is counts.
HasReplicated(l, f, end) == LeaderKnownTo(f) = l /\ Len(log[f]) >= end

Init ==
    /\ log = [r \in Replicas |-> <<>>]
    /\ hw = [r \in Replicas |-> 0]
    /\ known = [r \in Replicas |-> 0]
    /\ isr = [r \in Replicas |-> {}]
    /\ requests = <<>>
    /\ trueIsr = Replicas
    /\ produced = 0

Decide(l, members) ==
    /\ Len(requests) <= MaxEpoch
    /\ requests' = Append(requests, [leader |-> l, isr |-> members])
    /\ trueIsr' = members
    /\ UNCHANGED <<log, hw, known, isr, produced>>

Elect(r) ==
    /\ r \in trueIsr
    /\ r # TrueLeader
    /\ Decide(r, trueIsr)

TakeForFailed(r) ==
    IF r = TrueLeader
    THEN Decide(Nobody, IF trueIsr = {r} THEN trueIsr ELSE trueIsr \ {r})
    ELSE r \in trueIsr /\ Decide(TrueLeader, trueIsr \ {r})

BecomeLeader(e) ==
    LET l == requests[e].leader
    IN  /\ l # Nobody
        /\ e > known[l]
        /\ known' = [known EXCEPT ![l] = e]
        /\ isr' = [isr EXCEPT ![l] = requests[e].isr]
        /\ UNCHANGED <<log, hw, requests, trueIsr, produced>>

BecomeFollower(r, e) ==
    /\ e > known[r]
    /\ requests[e].leader \notin {Nobody, r}
    /\ known' = [known EXCEPT ![r] = e]
    /\ isr' = [isr EXCEPT ![r] = {}]
    /\ log' = [log EXCEPT ![r] = SubSeq(@, 1, hw[r])]
    /\ UNCHANGED <<hw, requests, trueIsr, produced>>

Produce(l) ==
    /\ Leads(l)
    /\ produced < MaxRecords
    /\ Len(log[l]) < LogSize
    /\ log' = [log EXCEPT ![l] = Append(@, <<produced, known[l]>>)]
    /\ produced' = produced + 1
    /\ UNCHANGED <<hw, known, isr, requests, trueIsr>>

AdvanceHighWatermark(l) ==
    /\ Leads(l)
    /\ hw[l] < Len(log[l])
    /\ \A f \in isr[l] : HasReplicated(l, f, hw[l] + 1)
    /\ hw' = [hw EXCEPT ![l] = @ + 1]
    /\ UNCHANGED <<log, known, isr, requests, trueIsr, produced>>

Fetch(f) ==
    LET l == LeaderKnownTo(f)
        end == Len(log[f]) + 1
    IN  /\ l # Nobody
        /\ Leads(l)
        /\ end <= Len(log[l])
        /\ log' = [log EXCEPT ![f] = Append(@, log[l][end])]
        /\ hw' = [hw EXCEPT ![f] = IF hw[l] < end THEN hw[l] ELSE end]
        /\ UNCHANGED <<known, isr, requests, trueIsr, produced>>

WriteIsr(l, members) ==
    /\ isr' = [isr EXCEPT ![l] = members]
    /\ trueIsr' = members
    /\ UNCHANGED <<log, hw, known, requests, produced>>

Expand(l) ==
    /\ TrulyLeads(l)
    /\ \E f \in Replicas \ isr[l] :
        /\ HasReplicated(l, f, hw[l])
        /\ WriteIsr(l, isr[l] \union {f})

Shrink(l) ==
    /\ TrulyLeads(l)
    /\ \E f \in isr[l] :
        /\ ~ HasReplicated(l, f, Len(log[l]))
        /\ WriteIsr(l, isr[l] \ {f})

Next ==
    \/ \E r \in Replicas :
        \/ Elect(r)
        \/ TakeForFailed(r)
        \/ Produce(r)
        \/ AdvanceHighWatermark(r)
        \/ Expand(r)
        \/ Shrink(r)
        \/ Fetch(r)
    \/ \E e \in DOMAIN requests :
        \/ BecomeLeader(e)
        \/ \E r \in Replicas : BecomeFollower(r, e)

Spec == Init /\ [][Next]_vars
=============================================================================
