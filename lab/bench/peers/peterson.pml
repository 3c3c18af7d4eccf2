/* Peterson's lock, as in examples/peterson.py; see lab/bench/liveness_peers.py.
 *
 * A process of Promela for each step that is to be fair, and one that is free to do nothing: so
 * Spin's weak fairness, which is to processes, is to the same steps.
 */
#ifndef GIVES_WAY
#define GIVES_WAY 1
#endif
#define OUTSIDE 0
#define ASKING 1
#define WAITING 2
#define INSIDE 3

byte at[2];
bool wants[2];
byte turn;

proctype let_the_other_first(byte me) {
  do :: atomic { at[me] == ASKING ->
         if :: GIVES_WAY -> turn = 1 - me :: else fi;
         at[me] = WAITING } od
}
proctype enter(byte me) {
  do :: atomic { at[me] == WAITING && (!wants[1 - me] || (GIVES_WAY && turn == me)) ->
         at[me] = INSIDE } od
}
proctype leave(byte me) {
  do :: atomic { at[me] == INSIDE -> wants[me] = false; at[me] = OUTSIDE } od
}
proctype free() {
  do :: atomic { at[0] == OUTSIDE -> wants[0] = true; at[0] = ASKING }
     :: atomic { at[1] == OUTSIDE -> wants[1] = true; at[1] = ASKING }
     :: true -> skip
  od
}
init {
  atomic {
    run let_the_other_first(0); run let_the_other_first(1);
    run enter(0); run enter(1); run leave(0); run leave(1); run free()
  }
}

ltl waits_leads_to_is_inside_process0 { [] (at[0] == WAITING -> <> (at[0] == INSIDE)) }
ltl waits_leads_to_is_inside_process1 { [] (at[1] == WAITING -> <> (at[1] == INSIDE)) }
