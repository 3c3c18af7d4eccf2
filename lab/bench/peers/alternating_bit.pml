/* The alternating-bit protocol, as in examples/alternating_bit.py; see lab/bench/liveness_peers.py.
 *
 * A process of Promela for each step that is to be fair, and one that is free to do nothing: so
 * Spin's weak fairness, which is to processes, is to the same steps. Where nothing is to be fair
 * all of them are done by the one that is free.
 */
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef ENDLESS
#define ENDLESS 0
#endif
#ifndef GOES_ON
#define GOES_ON 1
#endif
#define NOTHING 2

byte sending, expected, messages_lost, answers_lost;
byte message = NOTHING;
byte answer = NOTHING;

inline do_send() { message == NOTHING -> message = sending }
inline do_receive() {
  message != NOTHING && answer == NOTHING ->
    expected = 1 - message; answer = message; message = NOTHING; messages_lost = 0
}
inline do_be_answered() {
  answer != NOTHING ->
    if :: answer == sending -> sending = 1 - sending :: else fi;
    answer = NOTHING; answers_lost = 0
}

proctype send() { do :: atomic { do_send() } od }
proctype receive() { do :: atomic { do_receive() } od }
proctype be_answered() { do :: atomic { do_be_answered() } od }
proctype free() {
  do :: atomic { message != NOTHING && (ENDLESS || messages_lost < LOSSES) ->
         if :: ENDLESS :: else -> messages_lost++ fi; message = NOTHING }
     :: atomic { answer != NOTHING && (ENDLESS || answers_lost < LOSSES) ->
         if :: ENDLESS :: else -> answers_lost++ fi; answer = NOTHING }
     :: atomic { !GOES_ON -> do_send() }
     :: atomic { !GOES_ON -> do_receive() }
     :: atomic { !GOES_ON -> do_be_answered() }
     :: true -> skip
  od
}
init {
  atomic {
    if :: GOES_ON -> run send(); run receive(); run be_answered() :: else fi;
    run free()
  }
}

ltl always_eventually_sends_the_first { [] <> (sending == 0) }
ltl always_eventually_sends_the_second { [] <> (sending == 1) }
