/*
 * The atomic grain with truncation to the high watermark, for Spin.
 *
 * One partition. Every decision of the controller takes the next leader epoch and leaves behind one
 * LeaderAndIsr request, on which every replica may act once, late or never, if it is newer than
 * what the replica knows. Brokers read each other's state directly.
 *
 * Written for speed: one process at one location, one atomic step for each choice of brokers and
 * epoch (unrolled by macros, so that most indices are constants), a byte a field. Nothing happens
 * before the first of these steps, so "states, stored" is the number of states of the model, with
 * none on top. Atomic steps are faster than deterministic ones here: those copy the whole state.
 *
 * Bounds are macros: REPLICAS 1 to 4, LOG_SIZE, RECORDS, EPOCHS (the highest leader epoch, up to 4).
 * RECORDS * (EPOCHS + 1) must be below 256.
 */

#ifndef REPLICAS
#define REPLICAS 3
#endif
#ifndef LOG_SIZE
#define LOG_SIZE 2
#endif
#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif

#if REPLICAS < 1 || REPLICAS > 4 || EPOCHS > 4 || RECORDS * (EPOCHS + 1) > 255
#error "these bounds are beyond this model"
#endif

#define REQUESTS (EPOCHS + 1)
#define BIT(r) (1 << (r))
#define SLOT(r, offset) log[(r) * LOG_SIZE + (offset)]

/* Brokers are numbered from 1 where 0 stands for nobody, epochs from 1 where 0 stands for none. */
byte leo[REPLICAS];                 /* log end offset */
byte hw[REPLICAS];                  /* high watermark */
byte known[REPLICAS];               /* epoch of the request last acted on */
byte follows[REPLICAS];             /* whom it takes for leader, perhaps itself */
byte isr[REPLICAS];                 /* a leader's in-sync replicas, a bit each; 0 for others */
byte log[REPLICAS * LOG_SIZE];      /* a record's number and epoch in one; 0 above the log's end */
byte wanted[REQUESTS];              /* the leader that each request names */
byte members[REQUESTS];             /* the in-sync replicas that each request names */
byte issued;                        /* requests so far */
byte produced;                      /* records so far */
byte true_leader;                   /* as the controller has it */
byte true_isr = (1 << REPLICAS) - 1;

#define LEADS(r) (follows[r] == (r) + 1)
#define TRULY_LEADS(r) (LEADS(r) && known[r] == issued)

#define SEND wanted[issued] = true_leader; members[issued] = true_isr; issued++

#define CONTROLLER(r) \
    :: atomic { \
           issued < REQUESTS && (true_isr & BIT(r)) && true_leader != (r) + 1 -> \
           true_leader = (r) + 1; SEND } \
    :: atomic { \
           issued < REQUESTS && true_leader == (r) + 1 -> \
           true_leader = 0; \
           true_isr = (true_isr == BIT(r) -> true_isr : true_isr & ~BIT(r)); SEND } \
    :: atomic { \
           issued < REQUESTS && true_leader != (r) + 1 && (true_isr & BIT(r)) -> \
           true_isr = true_isr & ~BIT(r); SEND }

/* Only slots from the high watermark on can be in use and must be cleared. */
#if LOG_SIZE == 1
#define CLEAR(r) SLOT(r, 0) = (hw[r] > 0 -> SLOT(r, 0) : 0)
#elif LOG_SIZE == 2
#define CLEAR(r) \
    SLOT(r, 0) = (hw[r] > 0 -> SLOT(r, 0) : 0); \
    SLOT(r, 1) = (hw[r] > 1 -> SLOT(r, 1) : 0)
#else
#define CLEAR(r) \
    do \
    :: leo[r] > hw[r] -> leo[r] = leo[r] - 1; SLOT(r, leo[r]) = 0 \
    :: else -> break \
    od
#endif

#define REQUEST(r, e) \
    :: atomic { \
           wanted[e] == (r) + 1 && known[r] <= (e) -> \
           known[r] = (e) + 1; follows[r] = (r) + 1; isr[r] = members[e] } \
    :: atomic { \
           wanted[e] != (r) + 1 && known[r] <= (e) && wanted[e] != 0 -> \
           CLEAR(r); leo[r] = hw[r]; \
           known[r] = (e) + 1; follows[r] = wanted[e]; isr[r] = 0 }

#define BEHIND(l, f) ((isr[l] & BIT(f)) && (follows[f] != (l) + 1 || leo[f] <= hw[l]))

#if REPLICAS == 1
#define ANY_BEHIND(l) BEHIND(l, 0)
#elif REPLICAS == 2
#define ANY_BEHIND(l) (BEHIND(l, 0) || BEHIND(l, 1))
#elif REPLICAS == 3
#define ANY_BEHIND(l) (BEHIND(l, 0) || BEHIND(l, 1) || BEHIND(l, 2))
#else
#define ANY_BEHIND(l) (BEHIND(l, 0) || BEHIND(l, 1) || BEHIND(l, 2) || BEHIND(l, 3))
#endif

#define LEADER(r) \
    :: atomic { \
           LEADS(r) && produced < RECORDS && leo[r] < LOG_SIZE -> \
           SLOT(r, leo[r]) = produced * REQUESTS + known[r]; \
           leo[r] = leo[r] + 1; produced++ } \
    :: atomic { \
           LEADS(r) && leo[r] > hw[r] && !ANY_BEHIND(r) -> \
           hw[r] = hw[r] + 1 }

#define SOURCE(f) (follows[f] - 1)
#define NEXT_END(f) (leo[f] + 1)

#define FETCH(f) \
    :: atomic { \
           follows[f] != 0 && follows[SOURCE(f)] == follows[f] && leo[f] < leo[SOURCE(f)] -> \
           SLOT(f, leo[f]) = SLOT(SOURCE(f), leo[f]); \
           leo[f] = leo[f] + 1; \
           hw[f] = (hw[SOURCE(f)] < leo[f] -> hw[SOURCE(f)] : leo[f]) }

#define PAIR(l, f) \
    :: atomic { \
           TRULY_LEADS(l) && !(isr[l] & BIT(f)) && follows[f] == (l) + 1 && leo[f] >= hw[l] -> \
           isr[l] = isr[l] | BIT(f); true_isr = isr[l] } \
    :: atomic { \
           TRULY_LEADS(l) && (isr[l] & BIT(f)) && \
           (follows[f] != (l) + 1 || leo[f] < leo[l]) -> \
           isr[l] = isr[l] & ~BIT(f); true_isr = isr[l] }

#if EPOCHS == 0
#define REQUESTS_OF(r) REQUEST(r, 0)
#elif EPOCHS == 1
#define REQUESTS_OF(r) REQUEST(r, 0) REQUEST(r, 1)
#elif EPOCHS == 2
#define REQUESTS_OF(r) REQUEST(r, 0) REQUEST(r, 1) REQUEST(r, 2)
#elif EPOCHS == 3
#define REQUESTS_OF(r) REQUEST(r, 0) REQUEST(r, 1) REQUEST(r, 2) REQUEST(r, 3)
#else
#define REQUESTS_OF(r) REQUEST(r, 0) REQUEST(r, 1) REQUEST(r, 2) REQUEST(r, 3) REQUEST(r, 4)
#endif

#define BROKER(r) CONTROLLER(r) REQUESTS_OF(r) LEADER(r) FETCH(r)

active proctype cluster()
{
end:
    do
    BROKER(0)
#if REPLICAS > 1
    BROKER(1)
    PAIR(0, 1)
    PAIR(1, 0)
#endif
#if REPLICAS > 2
    BROKER(2)
    PAIR(0, 2)
    PAIR(1, 2)
    PAIR(2, 0)
    PAIR(2, 1)
#endif
#if REPLICAS > 3
    BROKER(3)
    PAIR(0, 3)
    PAIR(1, 3)
    PAIR(2, 3)
    PAIR(3, 0)
    PAIR(3, 1)
    PAIR(3, 2)
#endif
    od
}
