/* A token ring, as in examples/token_ring.py with three nodes; see lab/bench/liveness_peers.py.
 *
 * A process of Promela for each step that is to be fair, and one that is free to do nothing: so
 * Spin's weak fairness, which is to processes, is to the same steps.
 */
#ifndef GREEDY
#define GREEDY 0
#endif
#define N 3

byte token;
bool wants[N];
bool served;

proctype use(byte me) {
  do :: atomic { token == me && wants[me] && (GREEDY || !served) ->
         wants[me] = false; served = true } od
}
proctype pass_on(byte me) {
  do :: atomic { token == me && (!wants[me] || (!GREEDY && served)) ->
         token = (me + 1) % N; served = false } od
}
proctype free() {
  do :: atomic { !wants[0] -> wants[0] = true }
     :: atomic { !wants[1] -> wants[1] = true }
     :: atomic { !wants[2] -> wants[2] = true }
     :: true -> skip
  od
}
init {
  atomic {
    run use(0); run use(1); run use(2); run pass_on(0); run pass_on(1); run pass_on(2); run free()
  }
}

ltl always_eventually_holds_it_node0 { [] <> (token == 0) }
ltl always_eventually_holds_it_node1 { [] <> (token == 1) }
ltl always_eventually_holds_it_node2 { [] <> (token == 2) }
ltl wants_it_leads_to_has_used_it_node0 { [] (wants[0] -> <> (!wants[0])) }
ltl wants_it_leads_to_has_used_it_node1 { [] (wants[1] -> <> (!wants[1])) }
ltl wants_it_leads_to_has_used_it_node2 { [] (wants[2] -> <> (!wants[2])) }
