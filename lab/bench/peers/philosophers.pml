/* Dining philosophers, as in examples/philosophers.py with three seats; see lab/bench/liveness_peers.py.
 *
 * A process of Promela for each step that is to be fair, and one that is free to do nothing: so
 * Spin's weak fairness, which is to processes, is to the same steps.
 */
#ifndef TIE_BREAK
#define TIE_BREAK 1
#endif
#define N 3
#define THINKS 0
#define HUNGERS 1
#define HAS_ONE 2
#define EATS 3
#define NOBODY N
#define FIRST(me) ((TIE_BREAK && me == N - 1) -> 0 : me)
#define SECOND(me) ((TIE_BREAK && me == N - 1) -> me : (me + 1) % N)

byte does[N];
byte held_by[N] = NOBODY;

proctype take_first(byte me) {
  do :: atomic { does[me] == HUNGERS && held_by[FIRST(me)] == NOBODY ->
         held_by[FIRST(me)] = me; does[me] = HAS_ONE } od
}
proctype take_second(byte me) {
  do :: atomic { does[me] == HAS_ONE && held_by[SECOND(me)] == NOBODY ->
         held_by[SECOND(me)] = me; does[me] = EATS } od
}
proctype put(byte me) {
  do :: atomic { does[me] == EATS ->
         held_by[me] = NOBODY; held_by[(me + 1) % N] = NOBODY; does[me] = THINKS } od
}
proctype free() {
  do :: atomic { does[0] == THINKS -> does[0] = HUNGERS }
     :: atomic { does[1] == THINKS -> does[1] = HUNGERS }
     :: atomic { does[2] == THINKS -> does[2] = HUNGERS }
     :: true -> skip
  od
}
init {
  atomic {
    run take_first(0); run take_first(1); run take_first(2);
    run take_second(0); run take_second(1); run take_second(2);
    run put(0); run put(1); run put(2); run free()
  }
}

#define WANTS(me) (does[me] == HUNGERS || does[me] == HAS_ONE)
#define SOMEONE_HUNGERS (WANTS(0) || WANTS(1) || WANTS(2))
#define SOMEONE_EATS (does[0] == EATS || does[1] == EATS || does[2] == EATS)
ltl someone_hungers_leads_to_someone_eats { [] (SOMEONE_HUNGERS -> <> SOMEONE_EATS) }
ltl hungers_leads_to_eats_seat0 { [] (does[0] == HUNGERS -> <> (does[0] == EATS)) }
ltl hungers_leads_to_eats_seat1 { [] (does[1] == HUNGERS -> <> (does[1] == EATS)) }
ltl hungers_leads_to_eats_seat2 { [] (does[2] == HUNGERS -> <> (does[2] == EATS)) }
