------------------------------------------- MODULE lock --------------------------------------------
\* Clients take a lock.
\*
\* Made by `waterline export` from lock.py within clients = 2, turns = 2, fair_turns = TRUE.
\* Names of a sort are numbers from 0. The sets of values and indices are those of these bounds:
\* other ones want another export.
EXTENDS Integers, FiniteSets

CONSTANTS
  clients, turns, fair_turns

VARIABLES
  state,  \* What each does.
  holder,
  taken   \* How often it was taken.

vars == <<state, holder, taken>>

Client == 0..(clients - 1)
None == -1

\* The values that fields can have.
TypeOK ==
  /\ state \in [Client -> {"idle", "waiting", "works"}]
  /\ holder \in ({None} \union Client)
  /\ taken \in 0..2

----------------------------------------------------------------------------------------------------
\* The first states

Init == state = [client \in Client |-> "idle"] /\ holder = None /\ taken = 0

----------------------------------------------------------------------------------------------------
\* What can happen

\* {client} asks for the lock.
Ask(client) ==
  /\ state[client] = "idle"
  /\ state' = [state EXCEPT ![client] = "waiting"]
  /\ UNCHANGED <<holder, taken>>

\* {client} takes it.
Take(client) ==
  /\ holder = None
  /\ state[client] = "waiting"
  /\ taken < turns
  /\ state' = [state EXCEPT ![client] = "works"]
  /\ holder' = client
  /\ taken' = taken + 1

\* {client} gives it back.
GiveBack(client) ==
  /\ holder = client
  /\ state' = [state EXCEPT ![client] = IF fair_turns THEN "idle" ELSE "waiting"]
  /\ holder' = None
  /\ UNCHANGED taken

Next ==
  \/ \E client \in Client : Ask(client)
  \/ \E client \in Client : Take(client)
  \/ \E client \in Client : GiveBack(client)

\* An action that stays enabled is taken in the end, with the same arguments.
Fairness ==
  /\ \A client \in Client : WF_vars(GiveBack(client))

Spec == Init /\ [][Next]_vars /\ Fairness

----------------------------------------------------------------------------------------------------
\* What is claimed

\* At most one works.
one_works == Cardinality({client \in Client : state[client] = "works"}) <= 1

\* {client} is idle.
is_idle(client) == state[client] = "idle"

\* {client} works.
works(client) == state[client] = "works"

\* Two wait.
two_wait == \A client \in Client : state[client] = "waiting"

\* client0 works. In the end then: client0 is idle.
works_leads_to_is_idle_client0 == works(0) ~> is_idle(0)

\* client1 works. In the end then: client1 is idle.
works_leads_to_is_idle_client1 == works(1) ~> is_idle(1)

\* Is to be violated. Two wait.
never_two_wait == ~two_wait

====================================================================================================
