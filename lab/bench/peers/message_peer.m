-- Message grain of Kafka partition replication, written a second time, in Murphi (for Rumur).
--
-- The meaning of every rule is in SEMANTICS.md next to this file; the comments here say only how it
-- is put into Murphi. message_peer.py replaces the values of the constants in the first two blocks,
-- one constant per line; the values below are the defaults, of the version hw.
--
-- Two habits keep "distinct" the same as "different in meaning":
--   * nothing is ever left undefined: what is not alive is written back to one fixed value;
--   * no scalarset is used, so the checker does no symmetry reduction.
--
-- Where the sheet has a pair (an epoch and an offset, or an offset and "done"), there are two
-- functions here. Where it has a set, there is an array of booleans.

-- The setting.
const
  REPLICAS: 2;            -- replicas are 0 .. REPLICAS - 1
  RECORDS: 2;             -- at most so many records are ever produced
  EPOCHS: 2;              -- greatest leader epoch
  RESTARTS: 2;            -- budget of process crashes
  MOVES: 0;               -- budget of leader moves
  POWER_LOSSES: 0;        -- budgets of the other faults
  LOST_DISKS: 0;
  LOST_CHECKPOINTS: 0;
  SESSION_EXPIRIES: 0;
  SHUTDOWNS: 0;
  TAKEN_DIRECTORIES: 0;
  REASSIGNMENTS: 0;
  ASSIGNED: 0;            -- so many brokers, the first, have a replica at first; 0: all
  FIRST_PARTITION_REPLICAS: 0; -- how many replicas another partition 0 has; 0: this one is it
  UNCLEAN: 0;             -- 1: a replica outside the ISR may be elected
  ACKS: 2;                -- 0, 1, or 2 for acks=all
  MIN_ISR: 1;
  RESTART_DETECTION: 1;   -- whose restart may go unnoticed: 0 nobody's, 1 a follower's, 2 anybody's
  DISK_LOSS: 0;           -- whose disk may be lost: 0 anybody's, 1 one's outside the ISR
  HW_AFTER_FETCH: 1;      -- 1: an answer carries the HW after the fetch was handled, 0: before
  PARKED: 0;              -- 1: a fetch that finds nothing new is parked
  REQUESTS_SURVIVE: 0;    -- 1: a fetch that is given up may become the stray one
  LATE_METADATA: 0;       -- 1: decisions of the controller may be learned late
  CONSUMER: 0;            -- 1: there is one
  FORGET_EPOCHS: 1;       -- 1: the epoch of a record in no log and no answer is not state, 0: it is
  CONTROLLER_MIN_ISR: 0;  -- what the controller goes by for the ELR; 0: MIN_ISR
  UNFENCED_REGISTRATION: 0; -- 1: under KRaft a crashed broker may register before it was fenced
  LATE_READS: 0;          -- 1: an answer may be read from the log after it was decided on
  LATE_ANSWERS: 0;        -- 1: the answer of AlterPartition is a message
  EVERY_CHANGE_ENDS: 0;   -- 1: a registration ends a reassignment too, as in Kafka
  CAUGHT_UP_WAIT: 0;      -- 1: the high watermark waits also for who caught up lately
  CLAIM: 0;               -- which claim is checked: 0 none, 1 .. 9 in the order of the sheet

-- The version: how to truncate, and its features.
const
  TRUNCATION: 0;          -- 0 hw, 1 epoch, 2 epochs, 3 epochs-2.0, 4 on-fetch
  FENCING: 0;
  EPOCH_ON_LEADING: 0;
  TRUNCATE_EVERY_EPOCH: 0;
  ISR_FROM_EPOCH_START: 0;
  TRUNCATE_OUT_OF_RANGE: 0;
  CONSUMER_VALIDATION: 0;
  DIVERGING_GUARD: 0;
  ALTER_PARTITION: 0;
  MAXIMAL_ISR: 0;
  KRAFT: 0;
  SHRINK_RAISES_EPOCH: 0;
  FENCED_CHECK: 0;
  BROKER_EPOCH: 0;
  HW_NEEDS_MIN_ISR: 0;
  ELR: 0;
  LONGEST_LOG: 0;
  FRESH_REMOTE_LEO: 0;
  FRESH_REMOTE_LEO_AFTER_GAP: 0;
  SHRINK_ONLY_LAGGING: 0;
  TRUNCATION_LOWERS_HW: 0;
  REFUSAL_TELLS_NOTHING: 0;
  MOVED_FETCH_TRIES_HW: 0;
  SESSION_FENCING: 0;
  TRUNCATION_CLEARS_EPOCHS: 0;
  TRUNCATE_AFTER_GAP: 0;
  STEPS_DOWN: 0;
  STALE_FETCH_CHECK: 0;
  REGISTRATION_REMOVES: 0;
  UNCLEAN_MARK_KEPT: 0;
  APPEND_CHECKS_EPOCH: 0;
  LAST_KNOWN_LEADER: 0;
  LAST_KNOWN_LEADER_FENCED: 0;
  REFUSAL_TRIES_HW: 0;
  DEPARTURE_TRIES_HW: 0;
  COMPLETES_WHEN_ADDED: 0;
  SHRINK_WAITS_FOR_TARGETS: 0;
  ELR_ONLY_REPLICAS: 0;
  NEW_DIRECTORY_EMPTIES_ELR: 0;
  LOST_DIRECTORY_IS_UNCLEAN: 0;
  -- Of Fluss.
  COORDINATOR: 0;
  TRUNCATE_LEADERLESS: 0;
  FOLLOWER_HW_AT_END: 0;
  FRESH_ON_EVERY_NOTICE: 0;

const
  ACKS_ONE: 1;
  ACKS_ALL: 2;
  DETECTION_FOLLOWER: 1;
  DETECTION_ANY: 2;
  BY_HW: 0;
  BY_EPOCH: 1;
  BY_EPOCHS: 2;
  BY_EPOCHS_2_0: 3;
  ON_FETCH: 4;
  NOBODY: REPLICAS;       -- "no replica"
  NO_RECORD: 0;
  UNKNOWN: -1;            -- an unknown remote LEO, an undefined answer
  NO_EPOCH: -1;

type
  Replica: 0 .. REPLICAS - 1;
  MaybeReplica: 0 .. REPLICAS;
  Id: 1 .. RECORDS;
  MaybeId: 0 .. RECORDS;
  Place: 0 .. RECORDS - 1;          -- an offset that a record can have
  Offset: 0 .. RECORDS;             -- a log end or a high watermark
  MaybeOffset: -1 .. RECORDS;
  Number: 0 .. RECORDS + REPLICAS;
  Epoch: 0 .. EPOCHS;
  MaybeEpoch: -1 .. EPOCHS;
  Sequence: array [Place] of MaybeId;   -- filled from the left, NO_RECORD behind the end
  ReplicaSet: array [Replica] of boolean;
  Code: 0 .. (1 << REPLICAS) - 1;       -- a set of replicas as a number, bit r for replica r
  IdSet: array [Id] of boolean;
  Role: enum { NOTHING, LEADER, TRUNCATING, FETCHING };
  Slot: enum { EMPTY, REQUEST, WAITING, DATA, OUT_OF_RANGE, DIVERGING };
  Answer: enum { NO_ANSWER, GRANTED, REFUSED };

var
  -- The controller.
  leader: MaybeReplica;
  epoch: Epoch;
  isr: ReplicaSet;
  fenced: ReplicaSet;
  elr: ReplicaSet;
  stopping: ReplicaSet;
  last_known_leader: MaybeReplica;            -- only while nobody leads
  assigned: ReplicaSet;                       -- who has a replica; all without REASSIGNMENTS
  adding: ReplicaSet;                         -- of a reassignment under way
  removing: ReplicaSet;

  -- Every replica.
  up: array [Replica] of boolean;
  log: array [Replica] of Sequence;
  leo: array [Replica] of Offset;
  hw: array [Replica] of Offset;              -- 0 while down
  checkpoint: array [Replica] of Offset;
  durable: array [Replica] of Offset;
  role: array [Replica] of Role;              -- NOTHING while down
  known_epoch: array [Replica] of MaybeEpoch; -- NO_EPOCH while down
  unclean: array [Replica] of boolean;        -- false while up
  taken: array [Replica] of boolean;          -- the same; its log directory was taken out

  -- Alive only at a leader; otherwise all false, or UNKNOWN.
  known_isr: array [Replica] of ReplicaSet;
  remote_leo: array [Replica] of array [Replica] of MaybeOffset;
  unanswered: array [Replica] of IdSet;
  pending_isr: array [Replica] of ReplicaSet;
  pending_stale: array [Replica] of boolean;
  answer: array [Replica] of Answer;          -- to the request pending_isr, on its way
  outdated: array [Replica] of boolean;
  caught_up: array [Replica] of ReplicaSet;         -- all false without CAUGHT_UP_WAIT
  seen_unavailable: array [Replica] of ReplicaSet;  -- the same
  known_replicas: array [Replica] of ReplicaSet;    -- all false without REASSIGNMENTS
  -- Of broker epochs; all false without CAUGHT_UP_WAIT or without BROKER_EPOCH.
  read: array [Replica] of ReplicaSet;     -- whose last registration the leader's metadata has
  since: array [Replica] of ReplicaSet;    -- whose last fetch was of their last registration
  matches: array [Replica] of ReplicaSet;  -- whose last fetch was of the registration it has

  -- Alive only at a follower; otherwise NOBODY, NO_EPOCH and EMPTY.
  known_leader: array [Replica] of MaybeReplica;
  cached_epoch: array [Replica] of MaybeEpoch;
  slot: array [Replica] of Slot;
  slot_ids: array [Replica] of Sequence;      -- only with DATA
  slot_count: array [Replica] of Offset;      -- only with DATA
  slot_value: array [Replica] of Offset;      -- HW with DATA, the leader's LEO with OUT_OF_RANGE,
                                              -- where to cut with DIVERGING
  -- The stray fetch; all fixed while stray_from is NOBODY.
  stray_from: MaybeReplica;
  stray_to: MaybeReplica;
  stray_offset: Offset;
  stray_epoch: MaybeEpoch;
  stray_last: MaybeEpoch;
  stray_stale: boolean;

  -- Past decisions.
  decided_leader: array [Epoch] of MaybeReplica;
  decided_isr: array [Epoch] of ReplicaSet;

  -- The consumer.
  consumed: Offset;
  last_consumed: MaybeId;
  misread: boolean;

  -- The epoch each record was written in; NO_EPOCH if not produced yet (or forgotten, see above).
  record_epoch: array [Id] of MaybeEpoch;

  -- Ghosts.
  produced: Offset;
  acked: IdSet;
  exposed: Sequence;
  exposed_count: Offset;
  restarts_used: 0 .. RESTARTS;
  moves_used: 0 .. MOVES;
  power_losses_used: 0 .. POWER_LOSSES;
  lost_disks_used: 0 .. LOST_DISKS;
  lost_checkpoints_used: 0 .. LOST_CHECKPOINTS;
  session_expiries_used: 0 .. SESSION_EXPIRIES;
  shutdowns_used: 0 .. SHUTDOWNS;
  taken_directories_used: 0 .. TAKEN_DIRECTORIES;
  reassignments_used: 0 .. REASSIGNMENTS;

---------------------------------------------------------------------------------------------------
-- Small questions
---------------------------------------------------------------------------------------------------

function Least(a: Number; b: Number): Number;
begin
  if a < b then return a; else return b; end;
end;

function Size(s: ReplicaSet): MaybeReplica;
var n: MaybeReplica;
begin
  n := 0;
  for r: Replica do
    if s[r] then n := n + 1; end;
  end;
  return n;
end;

function Unavailable(r: Replica): boolean;
begin
  return fenced[r] | stopping[r];
end;

-- The least of the topic's setting and of how many replicas there are.
function LeaderMinIsr(l: Replica): MaybeReplica;
begin
  if REASSIGNMENTS = 0 then return MIN_ISR; end;
  return Least(MIN_ISR, Size(known_replicas[l]));
end;

function ControllerMinIsr(): MaybeReplica;
var configured: MaybeReplica;
begin
  configured := MIN_ISR;
  if CONTROLLER_MIN_ISR > 0 then configured := CONTROLLER_MIN_ISR; end;
  if FIRST_PARTITION_REPLICAS > 0 then return Least(configured, FIRST_PARTITION_REPLICAS); end;
  return Least(configured, Size(assigned));
end;

-- Does l act as leader, as far as a request that reaches it can tell?
function Leads(l: MaybeReplica): boolean;
begin
  if l = NOBODY then return false; end;
  return role[l] = LEADER;
end;

-- Does a leader compare the epoch of a fetch with its own?
function FencesFetches(): boolean;
begin
  return FENCING = 1 & SESSION_FENCING = 1;
end;

-- Has leader l an object for replica f?
function KnowsReplica(l: Replica; f: Replica): boolean;
begin
  return REASSIGNMENTS = 0 | known_replicas[l][f];
end;

-- Does leader l take fetches of f and of this epoch?
function Accepts(l: MaybeReplica; f: Replica; e: MaybeEpoch): boolean;
begin
  if !Leads(l) then return false; end;
  if !KnowsReplica(l, f) then return false; end;
  return !FencesFetches() | known_epoch[l] = e;
end;

-- May follower f ask its leader where its latest epoch ends, and be told?
function MayAsk(f: Replica): boolean;
begin
  if TRUNCATION = BY_HW | TRUNCATION = ON_FETCH | role[f] != TRUNCATING then return false; end;
  if KRAFT = 0 & stopping[f] then return false; end;
  if !Leads(known_leader[f]) then return false; end;
  return FENCING = 0 | known_epoch[known_leader[f]] = known_epoch[f];
end;

-- "l knows the partition". May it change the ISR?
function Current(l: Replica): boolean;
begin
  return role[l] = LEADER & leader = l & epoch = known_epoch[l] & !outdated[l]
    & answer[l] != GRANTED;
end;

function IsFollower(r: Replica): boolean;
begin
  return role[r] = TRUNCATING | role[r] = FETCHING;
end;

function MayFetch(r: Replica): boolean;
begin
  return known_leader[r] != NOBODY
    & (role[r] = FETCHING | (role[r] = TRUNCATING & TRUNCATION = ON_FETCH));
end;

function Pending(l: Replica): boolean;
begin
  return exists r: Replica do pending_isr[l][r] end;
end;

-- Must leader l wait for r before it commits?
function Counts(l: Replica; r: Replica): boolean;
begin
  return known_isr[l][r] | (MAXIMAL_ISR = 1 & pending_isr[l][r]);
end;

function CountedSize(l: Replica): MaybeReplica;
var n: MaybeReplica;
begin
  n := 0;
  for r: Replica do
    if Counts(l, r) then n := n + 1; end;
  end;
  return n;
end;

-- Do leaders keep who fetched with which broker epoch?
function KeepsBrokerEpochs(): boolean;
begin
  return CAUGHT_UP_WAIT = 1 & BROKER_EPOCH = 1;
end;

-- May f be in the ISR, by what leader l has read of the brokers and by f's last fetch?
function Eligible(l: Replica; f: Replica): boolean;
begin
  return !seen_unavailable[l][f] & (BROKER_EPOCH = 0 | matches[l][f]);
end;

-- Must leader l wait for f as well, which caught up lately?
function WaitsFor(l: Replica; f: Replica): boolean;
begin
  if CAUGHT_UP_WAIT = 0 | !caught_up[l][f] then return false; end;
  if COORDINATOR = 1 then return Eligible(l, f); end;
  return !(KRAFT = 1 & SHRINK_RAISES_EPOCH = 0 & !Eligible(l, f));
end;

function CodeHas(c: Code; r: Replica): boolean;
begin
  return ((c >> r) & 1) = 1;
end;

-- May leader l ask for, or with ZooKeeper write, an ISR without f?
function MayShrink(l: Replica; f: Replica): boolean;
begin
  if role[l] != LEADER | f = l | !known_isr[l][f] | Pending(l) then return false; end;
  if CAUGHT_UP_WAIT = 1 & caught_up[l][f] then return false; end;
  if SHRINK_ONLY_LAGGING = 1 & remote_leo[l][f] = leo[l] then return false; end;
  return ALTER_PARTITION = 1 | Current(l);
end;

-- May leader l ask for an ISR without all of that set, two at least?
function MayShrinkTogether(l: Replica; c: Code): boolean;
var n: MaybeReplica;
begin
  n := 0;
  for f: Replica do
    if CodeHas(c, f) then
      if !MayShrink(l, f) then return false; end;
      n := n + 1;
    end;
  end;
  return n >= 2;
end;

-- Is what leader l has heard of the other brokers not true any more?
function BrokersChanged(l: Replica): boolean;
begin
  for r: Replica do
    if seen_unavailable[l][r] != Unavailable(r) then return true; end;
    if KeepsBrokerEpochs() & r != l & !read[l][r] then return true; end;
  end;
  return false;
end;

-- The epoch of the last record in r's log.
function LastRecordEpoch(r: Replica): MaybeEpoch;
begin
  if leo[r] = 0 then return NO_EPOCH; end;
  return record_epoch[log[r][leo[r] - 1]];
end;

-- The epoch of the entry in r's epoch cache that has no record yet, and starts at the LEO.
function Unwritten(r: Replica): MaybeEpoch;
var e: MaybeEpoch;
begin
  e := NO_EPOCH;
  if EPOCH_ON_LEADING = 1 then
    if role[r] = LEADER then e := known_epoch[r]; end;
    if IsFollower(r) then e := cached_epoch[r]; end;
  end;
  if e = LastRecordEpoch(r) then return NO_EPOCH; else return e; end;
end;

-- Where epoch q's entry in r's epoch cache starts, UNKNOWN if it has none.
-- With EPOCH_ON_LEADING an entry removes those that are not of a smaller epoch; without it an epoch
-- that is not greater than all before makes no entry.
function EntryStart(r: Replica; q: MaybeEpoch): MaybeOffset;
var found: MaybeOffset;
var last: MaybeEpoch;
begin
  found := UNKNOWN;
  last := NO_EPOCH;
  if q = NO_EPOCH then return UNKNOWN; end;
  if EPOCH_ON_LEADING = 1 then
    if Unwritten(r) = q then return leo[r]; end;
    if Unwritten(r) != NO_EPOCH & Unwritten(r) < q then return UNKNOWN; end;
    for o: Place do
      if o < leo[r] then
        if record_epoch[log[r][o]] < q then found := UNKNOWN; end;
        if record_epoch[log[r][o]] = q & last != q then found := o; end;
        last := record_epoch[log[r][o]];
      end;
    end;
    return found;
  end;
  for o: Place do
    if o < leo[r] then
      if record_epoch[log[r][o]] = q & last < q then found := o; end;
      if record_epoch[log[r][o]] > last then last := record_epoch[log[r][o]]; end;
    end;
  end;
  return found;
end;

-- The last epoch in r's epoch cache.
function Latest(r: Replica): MaybeEpoch;
var e: MaybeEpoch;
begin
  e := NO_EPOCH;
  for q: Epoch do
    if EntryStart(r, q) != UNKNOWN then e := q; end;
  end;
  return e;
end;

-- Where the first epoch above q starts in r's log; UNKNOWN if there is none.
function StartAbove(r: Replica; q: MaybeEpoch): MaybeOffset;
begin
  for e: Epoch do
    if e > q then
      if EntryStart(r, e) != UNKNOWN then return EntryStart(r, e); end;
    end;
  end;
  return UNKNOWN;
end;

-- The greatest epoch in r's cache that is not above q; NO_EPOCH if there is none.
function Floor(r: Replica; q: MaybeEpoch): MaybeEpoch;
var found: MaybeEpoch;
begin
  found := NO_EPOCH;
  for e: Epoch do
    if e <= q then
      if EntryStart(r, e) != UNKNOWN then found := e; end;
    end;
  end;
  return found;
end;

-- Where epoch q ends in r's log: the offset of that pair, UNKNOWN for undefined.
function EndOffset(r: Replica; q: MaybeEpoch): MaybeOffset;
begin
  if q = NO_EPOCH & TRUNCATION != BY_EPOCH then return UNKNOWN; end;
  if q = Latest(r) then return leo[r]; end;
  if Floor(r, q) = NO_EPOCH & (TRUNCATION = BY_EPOCH | TRUNCATION = BY_EPOCHS_2_0) then
    return UNKNOWN;
  end;
  return StartAbove(r, q);
end;

-- The epoch of that pair; it says nothing where the offset is UNKNOWN.
function EndEpoch(r: Replica; q: MaybeEpoch): MaybeEpoch;
begin
  if q = Latest(r) | Floor(r, q) = NO_EPOCH then return q; end;
  return Floor(r, q);
end;

-- Where follower f cuts on the answer (e, x), x being UNKNOWN for undefined.
function Cut(f: Replica; e: MaybeEpoch; x: MaybeOffset): Offset;
var own: MaybeOffset;
begin
  if x = UNKNOWN then return Least(hw[f], leo[f]); end;
  if TRUNCATION = BY_EPOCH then return Least(x, leo[f]); end;
  own := EndOffset(f, e);
  if own = UNKNOWN then return Least(x, leo[f]); end;
  if EndEpoch(f, e) != e then return Least(own, leo[f]); end;
  return Least(Least(x, own), leo[f]);
end;

-- Whether f is done with truncating then.
function Done(f: Replica; e: MaybeEpoch; x: MaybeOffset): boolean;
begin
  if x = UNKNOWN | TRUNCATION = BY_EPOCH then return true; end;
  if EndOffset(f, e) = UNKNOWN then return true; end;
  return EndEpoch(f, e) = e;
end;

-- Where the epoch of leader l starts in its log.
function EpochStart(l: Replica): Offset;
begin
  for o: Place do
    if o < leo[l] then
      if record_epoch[log[l][o]] = known_epoch[l] then return o; end;
    end;
  end;
  return leo[l];
end;

function Diverges(l: Replica; offset: Offset; last: MaybeEpoch): boolean;
begin
  if TRUNCATION != ON_FETCH | last = NO_EPOCH then return false; end;
  if EndOffset(l, last) = UNKNOWN then return false; end;
  return EndEpoch(l, last) < last | EndOffset(l, last) < offset;
end;

function OutOfRange(l: Replica; offset: Offset; last: MaybeEpoch): boolean;
begin
  if offset > leo[l] then return true; end;
  if TRUNCATION != ON_FETCH | last = NO_EPOCH then return false; end;
  return EndOffset(l, last) = UNKNOWN;
end;

-- Whom the controller must not elect, if `gone` were fenced, and `back` up and available.
function Out(r: Replica; gone: MaybeReplica; back: MaybeReplica): boolean;
begin
  return !assigned[r] | ((Unavailable(r) | r = gone) & r != back);
end;

-- Does the return of `back` take r out of the ELR?
function LeavesElr(r: Replica; back: MaybeReplica): boolean;
begin
  if back = NOBODY then return false; end;
  if taken[back] & NEW_DIRECTORY_EMPTIES_ELR = 1 & assigned[back] then return true; end;
  return r = back & (unclean[r] | (taken[r] & LOST_DIRECTORY_IS_UNCLEAN = 1));
end;

-- The first candidate for the lead, if `gone` had left ISR and ELR and were fenced, and then `back`
-- were up and available. (Who comes back from an unclean stop is not in the ELR any more.)
function CandidateIf(gone: MaybeReplica; back: MaybeReplica): MaybeReplica;
var best: MaybeOffset;
var known: MaybeReplica;
var nobody_in_sync: boolean;
begin
  nobody_in_sync := !(exists r: Replica do isr[r] & r != gone end);
  for r: Replica do
    if !Out(r, gone, back) & r != gone then
      if isr[r] | (nobody_in_sync & elr[r] & !LeavesElr(r, back)) then return r; end;
    end;
    -- The last one in sync stays so without ELR; with it, it is in the ELR unless it has crashed.
    if r = gone & r = back & isr[r] & nobody_in_sync & !(ELR = 1 & LeavesElr(r, back)) then
      return r;
    end;
  end;
  -- While `gone` only is fenced it is in the ELR still; once it is back the leader was the last known.
  known := last_known_leader;
  if gone != NOBODY then
    if back = NOBODY then known := NOBODY; end;
    if back != NOBODY & isr[gone] & nobody_in_sync then known := leader; end;
  end;
  if LAST_KNOWN_LEADER = 1 & known != NOBODY & nobody_in_sync
      & !(exists r: Replica do elr[r] & r != gone & !LeavesElr(r, back) end) then
    if LAST_KNOWN_LEADER_FENCED = 1 | !Out(known, gone, back) then return known; end;
  end;
  if UNCLEAN = 1 & LONGEST_LOG = 0 then
    for r: Replica do
      if !Out(r, gone, back) then return r; end;
    end;
  end;
  if UNCLEAN = 1 & LONGEST_LOG = 1 then
    best := UNKNOWN;
    for r: Replica do
      if !Out(r, gone, back) & (up[r] | r = back) & leo[r] > best then best := leo[r]; end;
    end;
    for r: Replica do
      if !Out(r, gone, back) & (up[r] | r = back) & leo[r] = best then return r; end;
    end;
  end;
  return NOBODY;
end;

function Candidate(back: MaybeReplica): MaybeReplica;
begin
  return CandidateIf(NOBODY, back);
end;

-- Does taking r out of the ISR raise the epoch?
function StartsEpoch(r: Replica): boolean;
begin
  if COORDINATOR = 1 then return isr[r] & leader = r; end;
  return isr[r]
    & (KRAFT = 0 | leader = r | (SHRINK_RAISES_EPOCH = 1 & Size(isr) > 1));
end;

-- Is it said to a replica that nobody leads?
function NobodyIsNews(): boolean;
begin
  return STEPS_DOWN = 1 | COORDINATOR = 1;
end;

-- Can a replica that is down register before it was fenced?
function MayGoUnnoticed(r: Replica): boolean;
begin
  if stopping[r] then return false; end;
  if KRAFT = 1 | COORDINATOR = 1 then return UNFENCED_REGISTRATION = 1; end;
  return RESTART_DETECTION = DETECTION_ANY
    | (RESTART_DETECTION = DETECTION_FOLLOWER & leader != r);
end;

-- Does a notice of the controller's reach r? Fluss leaves out who is about to stop.
function IsNotified(r: Replica): boolean;
begin
  if COORDINATOR = 1 & stopping[r] then return false; end;
  return up[r] & (KRAFT = 1 | !fenced[r]);
end;

-- Has r anything of a replica, in memory or on disk?
function HasReplica(r: Replica): boolean;
begin
  return known_epoch[r] != NO_EPOCH | leo[r] > 0 | checkpoint[r] > 0;
end;

-- Does the shutdown of r take it out of the ISR and of leadership?
function Departs(r: Replica): boolean;
begin
  return KRAFT = 1 | (exists x: Replica do isr[x] & x != r & !Unavailable(x) end);
end;

-------------------------------------------------------------------------------------------------
-- What the controller would write: PartitionChangeBuilder.build. Sets are numbers here. An asked
-- `wanted` ISR is what is left before a reassignment ends; `outs` are not to be in the ELR.

function AsCode(s: ReplicaSet): Code;
var c: Code;
begin
  c := 0;
  for r: Replica do
    if s[r] then c := c + (1 << r); end;
  end;
  return c;
end;

-- (Rumur reads & between two names as a conjunction.)
function Common(a: Code; b: Code): Code;
begin
  return (a + 0) & (b + 0);
end;

function Less(a: Code; b: Code): Code;
begin
  return a - Common(a, b);
end;

function Both(a: Code; b: Code): Code;
begin
  return a + Less(b, a);
end;

function Within(a: Code; b: Code): boolean;
begin
  return Common(a, b) = a;
end;

function SizeOf(c: Code): MaybeReplica;
var n: MaybeReplica;
begin
  n := 0;
  for r: Replica do
    if CodeHas(c, r) then n := n + 1; end;
  end;
  return n;
end;

function FirstOf(c: Code): MaybeReplica;
begin
  for r: Replica do
    if CodeHas(c, r) then return r; end;
  end;
  return NOBODY;
end;

-- Does a reassignment end with this ISR?
function Ends(wanted: Code; replicas: Code; add: Code; remove: Code): boolean;
var s: Code;
var t: Code;
begin
  if add = 0 & remove = 0 then return false; end;
  s := Less(wanted, remove);
  t := Less(replicas, remove);
  if remove != 0 & (s = 0 | t = 0) then return false; end;
  if COMPLETES_WHEN_ADDED = 0 then return Within(t, s); end;
  if !Within(add, s) then return false; end;
  return SHRINK_WAITS_FOR_TARGETS = 0 | SizeOf(add) >= SizeOf(remove) | Within(t, s);
end;

-- What is left of a set when the reassignment ends, if it does.
function Left(c: Code; wanted: Code; replicas: Code; add: Code; remove: Code): Code;
begin
  if Ends(wanted, replicas, add, remove) then return Less(c, remove); end;
  return c;
end;

-- The ELR beside ISR s of these replicas.
function ElrBeside(s: Code; replicas: Code; outs: Code): Code;
var e: Code;
begin
  if ELR = 0 | SizeOf(s) >= ControllerMinIsr() then return 0; end;
  e := Less(Less(Both(AsCode(elr), AsCode(isr)), s), outs);
  if ELR_ONLY_REPLICAS = 1 then return Common(e, replicas); end;
  return e;
end;

-- May r be elected, if it is assigned, beside ISR s and ELR e?
function Valid(r: Replica; s: Code; e: Code): boolean;
begin
  return !Unavailable(r) & (CodeHas(s, r) | (s = 0 & CodeHas(e, r)));
end;

-- The first of these replicas that would be elected.
function FirstValid(s: Code; e: Code; replicas: Code): MaybeReplica;
begin
  for r: Replica do
    if CodeHas(replicas, r) & Valid(r, s, e) then return r; end;
  end;
  return NOBODY;
end;

-- Who leads then. An operator's request elects nobody uncleanly.
function Winner(s: Code; e: Code; replicas: Code; may_be_unclean: boolean): MaybeReplica;
var best: MaybeOffset;
begin
  if leader != NOBODY then
    if Valid(leader, s, e) then return leader; end;
  end;
  if FirstValid(s, e, replicas) != NOBODY then return FirstValid(s, e, replicas); end;
  if LAST_KNOWN_LEADER = 1 & s = 0 & e = 0 & last_known_leader != NOBODY then
    if LAST_KNOWN_LEADER_FENCED = 1 | !Unavailable(last_known_leader) then
      return last_known_leader;
    end;
  end;
  if UNCLEAN = 0 | !may_be_unclean then return NOBODY; end;
  best := UNKNOWN;
  for r: Replica do
    if CodeHas(replicas, r) & !Unavailable(r) & up[r] & leo[r] > best then best := leo[r]; end;
  end;
  for r: Replica do
    if CodeHas(replicas, r) & !Unavailable(r)
        & (LONGEST_LOG = 0 | (up[r] & leo[r] = best)) then
      return r;
    end;
  end;
  return NOBODY;
end;

-- Who leads after a change, and its ISR and ELR.
function LeaderAfter(wanted: Code; replicas: Code; add: Code; remove: Code; outs: Code;
                     may_be_unclean: boolean): MaybeReplica;
var s: Code;
var t: Code;
begin
  s := Left(wanted, wanted, replicas, add, remove);
  t := Left(replicas, wanted, replicas, add, remove);
  return Winner(s, ElrBeside(s, t, outs), t, may_be_unclean);
end;

function IsrAfter(wanted: Code; replicas: Code; add: Code; remove: Code; outs: Code;
                  may_be_unclean: boolean): Code;
var s: Code;
var w: MaybeReplica;
begin
  s := Left(wanted, wanted, replicas, add, remove);
  w := LeaderAfter(wanted, replicas, add, remove, outs, may_be_unclean);
  if w != NOBODY then
    if !CodeHas(s, w) then return 1 << w; end;
  end;
  if s = 0 & ELR = 0 then return AsCode(isr); end;
  return s;
end;

function ElrAfter(wanted: Code; replicas: Code; add: Code; remove: Code; outs: Code;
                  may_be_unclean: boolean): Code;
var s: Code;
var e: Code;
var w: MaybeReplica;
begin
  s := Left(wanted, wanted, replicas, add, remove);
  e := ElrBeside(s, Left(replicas, wanted, replicas, add, remove), outs);
  w := LeaderAfter(wanted, replicas, add, remove, outs, may_be_unclean);
  if w != NOBODY then
    if !CodeHas(s, w) then
      if CodeHas(e, w) then return Less(e, 1 << w); end;
      return 0;
    end;
  end;
  return e;
end;

-- Does a change raise the epoch?
function ChangeStartsEpoch(wanted: Code; replicas: Code; add: Code; remove: Code; outs: Code;
                           may_be_unclean: boolean): boolean;
begin
  return LeaderAfter(wanted, replicas, add, remove, outs, may_be_unclean) != leader
    | !Within(AsCode(assigned), Left(replicas, wanted, replicas, add, remove))
    | (SHRINK_RAISES_EPOCH = 1
       & !Within(AsCode(isr), IsrAfter(wanted, replicas, add, remove, outs, may_be_unclean)));
end;

-- What a request for the replicas c sets: replicas, those to add and those to remove.
function Requested(c: Code): Code;
begin
  return Both(c, AsCode(assigned));
end;

function ToAdd(c: Code): Code;
begin
  if Within(c, AsCode(assigned)) then return AsCode(adding); end;
  return Less(c, AsCode(assigned));
end;

function ToRemove(c: Code): Code;
begin
  if Within(AsCode(assigned), c) then return AsCode(removing); end;
  return Less(AsCode(assigned), c);
end;

function RequestStartsEpoch(c: Code): boolean;
begin
  return ChangeStartsEpoch(AsCode(isr), Requested(c), ToAdd(c), ToRemove(c), 0, false);
end;

-- Is there anything to write for a request?
function RequestChanges(c: Code): boolean;
var s: Code;
begin
  s := AsCode(isr);
  if RequestStartsEpoch(c) then return true; end;
  if Ends(s, Requested(c), ToAdd(c), ToRemove(c)) then return true; end;
  return Requested(c) != AsCode(assigned) | ToAdd(c) != AsCode(adding)
    | ToRemove(c) != AsCode(removing)
    | ElrAfter(s, Requested(c), ToAdd(c), ToRemove(c), 0, false) != AsCode(elr);
end;

-- Does the controller fail over a request, since the first whom it could elect has no replica yet?
function RequestFails(c: Code): boolean;
var s: Code;
var t: Code;
var e: Code;
begin
  s := Left(AsCode(isr), AsCode(isr), Requested(c), ToAdd(c), ToRemove(c));
  t := Left(Requested(c), AsCode(isr), Requested(c), ToAdd(c), ToRemove(c));
  e := ElrBeside(s, t, 0);
  if leader != NOBODY then
    if Valid(leader, s, e) then return false; end;
  end;
  if FirstValid(s, e, t) = NOBODY then return false; end;
  return !assigned[FirstValid(s, e, t)];
end;

-- The replicas and the ISR that a cancellation goes back to.
function Former(): Code;
begin
  return Less(AsCode(assigned), AsCode(adding));
end;

function FormerIsr(): Code;
begin
  if Within(AsCode(isr), AsCode(adding)) then return 1 << FirstOf(Former()); end;
  return Less(AsCode(isr), AsCode(adding));
end;

-- Does a registration while nobody leads end the reassignment?
function EndsNow(): boolean;
begin
  return EVERY_CHANGE_ENDS = 1 & Ends(AsCode(isr), AsCode(assigned), AsCode(adding), AsCode(removing));
end;

-- Does the registration of r, which leaves the ELR for that, write more than the ELR?
function ReturnChanges(r: Replica): boolean;
begin
  return EVERY_CHANGE_ENDS = 1 & REASSIGNMENTS > 0 & elr[r] & (unclean[r] | (taken[r] & LOST_DIRECTORY_IS_UNCLEAN = 1));
end;

function ReturnStartsEpoch(r: Replica): boolean;
begin
  return ReturnChanges(r)
    & ChangeStartsEpoch(AsCode(isr), AsCode(assigned), AsCode(adding), AsCode(removing), 1 << r,
                        true);
end;

-------------------------------------------------------------------------------------------------

function RegisterIsCut(r: Replica): boolean;
begin
  return leader = NOBODY & epoch = EPOCHS & (Candidate(r) != NOBODY | EndsNow());
end;

-- Does the controller take r out of the ISR, or of leadership, when it registers?
function RegistrationRemoves(r: Replica): boolean;
begin
  return REGISTRATION_REMOVES = 1 & isr[r]
    & (leader = r | ELR = 1 | (exists x: Replica do isr[x] & x != r end));
end;

-- Would a restart exceed the epochs? One that removes r may raise the epoch twice.
function RestartIsCut(r: Replica): boolean;
var led: boolean;
begin
  if !RegistrationRemoves(r) & ReturnStartsEpoch(r) & epoch = EPOCHS then return true; end;
  if !RegistrationRemoves(r) then return RegisterIsCut(r); end;
  led := leader != NOBODY & leader != r;
  if leader = r then led := CandidateIf(r, NOBODY) != NOBODY; end;
  if StartsEpoch(r) & epoch = EPOCHS then return true; end;
  if led | CandidateIf(r, r) = NOBODY then return false; end;
  return epoch = EPOCHS | (StartsEpoch(r) & epoch + 1 = EPOCHS);
end;

-- Would the controller grant what l, which knows the partition, has asked for?
function Granted(l: Replica): boolean;
begin
  if BROKER_EPOCH = 1 & pending_stale[l] then return false; end;
  return FENCED_CHECK = 0 | !(exists r: Replica do pending_isr[l][r] & Unavailable(r) end);
end;

-- Would that end a reassignment?
function EndsWith(l: Replica): boolean;
begin
  return Ends(AsCode(pending_isr[l]), AsCode(assigned), AsCode(adding), AsCode(removing));
end;

function Raising(l: Replica): boolean;
begin
  if EndsWith(l) then
    return ChangeStartsEpoch(AsCode(pending_isr[l]), AsCode(assigned), AsCode(adding),
                             AsCode(removing), 0, true);
  end;
  return SHRINK_RAISES_EPOCH = 1 & exists r: Replica do isr[r] & !pending_isr[l][r] end;
end;

-- Does a record live in a log or in an answer under way?
function Lives(i: Id): boolean;
begin
  for r: Replica do
    for o: Place do
      if log[r][o] = i | slot_ids[r][o] = i then return true; end;
    end;
  end;
  return false;
end;

---------------------------------------------------------------------------------------------------
-- Small changes
---------------------------------------------------------------------------------------------------

-- To be called after anything was removed from a log or a slot.
procedure ForgetEpochs();
begin
  if FORGET_EPOCHS = 1 then
    for i: Id do
      if record_epoch[i] != NO_EPOCH & !Lives(i) then record_epoch[i] := NO_EPOCH; end;
    end;
  end;
end;

procedure EmptySlot(f: Replica);
begin
  slot[f] := EMPTY;
  for o: Place do slot_ids[f][o] := NO_RECORD; end;
  slot_count[f] := 0;
  slot_value[f] := 0;
  ForgetEpochs();
end;

procedure EmptyStray();
begin
  stray_from := NOBODY;
  stray_to := NOBODY;
  stray_offset := 0;
  stray_epoch := NO_EPOCH;
  stray_last := NO_EPOCH;
  stray_stale := false;
end;

procedure EmptyPending(l: Replica);
begin
  for r: Replica do pending_isr[l][r] := false; end;
  pending_stale[l] := false;
  answer[l] := NO_ANSWER;
end;

procedure Truncate(r: Replica; length: Offset);
var before: Offset;
begin
  before := leo[r];
  for o: Place do
    if o >= length then log[r][o] := NO_RECORD; end;
  end;
  leo[r] := Least(before, length);
  if TRUNCATION_LOWERS_HW = 1 then hw[r] := Least(hw[r], leo[r]); end;
  durable[r] := Least(durable[r], length);
  if TRUNCATION_CLEARS_EPOCHS = 1 | length < before then cached_epoch[r] := NO_EPOCH; end;
  ForgetEpochs();
end;

-- A follower gives its fetch up.
procedure Abandon(f: Replica);
begin
  if REQUESTS_SURVIVE = 1 & slot[f] = REQUEST & stray_from = NOBODY then
    if up[known_leader[f]] then
      stray_from := f;
      stray_to := known_leader[f];
      stray_offset := leo[f];
      stray_epoch := known_epoch[f];
      stray_last := Latest(f);
      stray_stale := false;
    end;
  end;
  EmptySlot(f);
end;

-- Take away everything that belongs to a role. The caller then says which role comes next.
procedure LayDown(r: Replica);
begin
  if IsFollower(r) then Abandon(r); end;
  role[r] := NOTHING;
  for x: Replica do
    known_isr[r][x] := false;
    remote_leo[r][x] := UNKNOWN;
    caught_up[r][x] := false;
    seen_unavailable[r][x] := false;
    known_replicas[r][x] := false;
    read[r][x] := false;
    since[r][x] := false;
    matches[r][x] := false;
  end;
  for i: Id do unanswered[r][i] := false; end;
  EmptyPending(r);
  outdated[r] := false;
  known_leader[r] := NOBODY;
  cached_epoch[r] := NO_EPOCH;
end;

-- What a process exit does, whatever the reason. Whoever follows r loses what it had under way.
procedure StopProcess(r: Replica);
begin
  LayDown(r);
  up[r] := false;
  hw[r] := 0;
  known_epoch[r] := NO_EPOCH;
  for f: Replica do
    if known_leader[f] = r & slot[f] != EMPTY then EmptySlot(f); end;
  end;
  if stray_to = r then EmptyStray(); end;
end;

procedure Die(r: Replica);
begin
  StopProcess(r);
  if ELR = 1 then unclean[r] := true; end;
end;

procedure AnswerData(f: Replica; l: Replica; watermark: Offset);
begin
  slot[f] := DATA;
  slot_count[f] := leo[l] - leo[f];
  for o: Place do
    if o >= leo[f] & o < leo[l] then slot_ids[f][o - leo[f]] := log[l][o]; end;
  end;
  slot_value[f] := watermark;
end;

procedure AnswerOutOfRange(f: Replica; l: Replica);
begin
  slot[f] := OUT_OF_RANGE;
  slot_value[f] := leo[l];
end;

procedure AnswerDiverging(f: Replica; l: Replica; last: MaybeEpoch);
begin
  slot[f] := DIVERGING;
  slot_value[f] := Cut(f, EndEpoch(l, last), EndOffset(l, last));
end;

-- Does the leader's log by now have another record than the answer to f, at an offset of the answer?
function ReadsOtherwise(f: Replica): boolean;
begin
  if !up[known_leader[f]] then return false; end;
  for o: Place do
    if o < slot_count[f] & leo[f] + o < leo[known_leader[f]] then
      if slot_ids[f][o] != log[known_leader[f]][leo[f] + o] then return true; end;
    end;
  end;
  return false;
end;

-- How many records of its answer f appends.
function Appended(f: Replica): Offset;
begin
  if APPEND_CHECKS_EPOCH = 1 then
    for o: Place do
      if o < slot_count[f] then
        if record_epoch[slot_ids[f][o]] > known_epoch[f] then return o; end;
      end;
    end;
  end;
  return slot_count[f];
end;

-- Extend what readers were shown by l's log, up to (not including) offset m.
procedure Expose(l: Replica; m: Offset);
begin
  for o: Place do
    if o >= exposed_count & o < m then exposed[o] := log[l][o]; end;
  end;
  if m > exposed_count then exposed_count := m; end;
end;

-- Answer the produce requests of l whose records lie below m.
procedure AnswerProducers(l: Replica; m: Offset);
begin
  for o: Place do
    if o < m then
      if unanswered[l][log[l][o]] then
        unanswered[l][log[l][o]] := false;
        if CountedSize(l) >= LeaderMinIsr(l) then acked[log[l][o]] := true; end;
      end;
    end;
  end;
end;

procedure IncHW(l: Replica);
var m: Offset;
begin
  if HW_NEEDS_MIN_ISR = 1 & Size(known_isr[l]) < LeaderMinIsr(l) then return; end;
  m := leo[l];
  for f: Replica do
    if f != l & (Counts(l, f) | WaitsFor(l, f)) then
      if remote_leo[l][f] = UNKNOWN then return; end;
      m := Least(m, remote_leo[l][f]);
    end;
  end;
  if m > hw[l] then
    Expose(l, m);
    hw[l] := m;
    AnswerProducers(l, m);
  end;
end;

---------------------------------------------------------------------------------------------------
-- Changes of the controller's
---------------------------------------------------------------------------------------------------

procedure WriteIsr(s: ReplicaSet);
begin
  if ELR = 1 then
    for x: Replica do
      elr[x] := Size(s) < ControllerMinIsr() & (elr[x] | isr[x]) & !s[x]
        & (ELR_ONLY_REPLICAS = 0 | assigned[x]);
    end;
  end;
  for x: Replica do isr[x] := s[x]; end;
  if LAST_KNOWN_LEADER = 1 & Size(s) = 0 then last_known_leader := leader; end;
end;

procedure AddToIsr(r: Replica);
var s: ReplicaSet;
begin
  s := isr;
  s[r] := true;
  WriteIsr(s);
end;

procedure DropFromIsr(r: Replica);
var s: ReplicaSet;
begin
  s := isr;
  s[r] := false;
  WriteIsr(s);
end;

procedure BeginEpoch();
begin
  if LATE_METADATA = 1 then
    decided_leader[epoch] := leader;
    decided_isr[epoch] := isr;
  end;
  epoch := epoch + 1;
  for l: Replica do outdated[l] := false; end;
end;

procedure OutdateLeader();
begin
  for l: Replica do
    if role[l] = LEADER & known_epoch[l] = epoch then outdated[l] := true; end;
  end;
end;

procedure RemoveFromIsr(r: Replica);
begin
  if StartsEpoch(r) then
    BeginEpoch();
  elsif isr[r] then
    OutdateLeader();
  end;
  if isr[r] & (Size(isr) > 1 | ELR = 1) then DropFromIsr(r); end;
end;

-- Make w the leader in the controller's eyes; the epoch is the caller's business.
procedure Elect(w: Replica);
var eligible: boolean;
begin
  leader := w;
  last_known_leader := NOBODY;
  if !isr[w] then
    eligible := elr[w];
    for x: Replica do
      isr[x] := x = w;
      elr[x] := elr[x] & eligible & x != w;
    end;
  end;
end;

-- Take r, which is unavailable by now, out of the ISR and of leadership.
procedure Depose(r: Replica);
var led: boolean;
var winner: MaybeReplica;
begin
  led := leader = r;
  RemoveFromIsr(r);
  if led then
    winner := Candidate(NOBODY);
    if winner = NOBODY then leader := NOBODY; else Elect(winner); end;
  end;
end;

-- Write a change of the controller's, and begin an epoch if it raises it.
procedure Change(wanted: Code; replicas: Code; add: Code; remove: Code; outs: Code;
                 may_be_unclean: boolean);
var w: MaybeReplica;
var s: Code;
var e: Code;
var t: Code;
var ends: boolean;
begin
  w := LeaderAfter(wanted, replicas, add, remove, outs, may_be_unclean);
  s := IsrAfter(wanted, replicas, add, remove, outs, may_be_unclean);
  e := ElrAfter(wanted, replicas, add, remove, outs, may_be_unclean);
  t := Left(replicas, wanted, replicas, add, remove);
  ends := Ends(wanted, replicas, add, remove);
  if ChangeStartsEpoch(wanted, replicas, add, remove, outs, may_be_unclean) then
    BeginEpoch();
  else
    OutdateLeader();
  end;
  leader := w;
  if w != NOBODY then last_known_leader := NOBODY; end;
  for r: Replica do
    isr[r] := CodeHas(s, r);
    elr[r] := CodeHas(e, r);
    assigned[r] := CodeHas(t, r);
    adding[r] := !ends & CodeHas(add, r);
    removing[r] := !ends & CodeHas(remove, r);
  end;
end;

-- A change of the ISR or the ELR alone, which may end a reassignment.
procedure ChangeIsr(wanted: Code; outs: Code);
begin
  Change(wanted, AsCode(assigned), AsCode(adding), AsCode(removing), outs, true);
end;

-- r is fenced, whether it is down or not.
procedure TakeForDown(r: Replica);
begin
  fenced[r] := true;
  stopping[r] := false;
  Depose(r);
end;

procedure Register(r: Replica);
var winner: MaybeReplica;
begin
  fenced[r] := false;
  if leader = NOBODY & EndsNow() then
    ChangeIsr(AsCode(isr), 0);
  elsif leader = NOBODY then
    winner := Candidate(NOBODY);
    if winner != NOBODY then
      BeginEpoch();
      Elect(winner);
    end;
  end;
end;

---------------------------------------------------------------------------------------------------
-- Changes of a broker's
---------------------------------------------------------------------------------------------------

procedure ExpandIsr(l: Replica; f: Replica; stale: boolean);
begin
  if known_isr[l][f] | remote_leo[l][f] < hw[l] then return; end;
  if ISR_FROM_EPOCH_START = 1 & remote_leo[l][f] < EpochStart(l) then return; end;
  if CAUGHT_UP_WAIT = 1 & FENCED_CHECK = 1 & !Eligible(l, f) then return; end;
  if ALTER_PARTITION = 0 then
    if Current(l) then
      AddToIsr(f);
      known_isr[l] := isr;
    end;
  elsif !Pending(l) then
    pending_isr[l] := known_isr[l];
    pending_isr[l][f] := true;
    pending_stale[l] := stale;
  end;
end;

-- Leader l learns from a fetch how far f is.
procedure Observe(l: Replica; f: Replica; offset: Offset; stale: boolean);
var news: boolean;
begin
  news := remote_leo[l][f] != offset;
  remote_leo[l][f] := offset;
  if CAUGHT_UP_WAIT = 1 & offset = leo[l] then caught_up[l][f] := true; end;
  if KeepsBrokerEpochs() then
    since[l][f] := !stale;
    matches[l][f] := read[l][f] = !stale;
  end;
  ExpandIsr(l, f, stale);
  if MOVED_FETCH_TRIES_HW = 0 | news then IncHW(l); end;
end;

-- l hears the answer to its request for another ISR.
procedure HearAnswer(l: Replica);
var granted: boolean;
begin
  granted := answer[l] = GRANTED;
  if granted then known_isr[l] := pending_isr[l]; end;
  EmptyPending(l);
  if granted | REFUSAL_TRIES_HW = 1 then IncHW(l); end;
end;

procedure ReadBrokers(l: Replica);
begin
  for r: Replica do
    seen_unavailable[l][r] := Unavailable(r);
    if KeepsBrokerEpochs() then
      read[l][r] := r != l;
      matches[l][r] := since[l][r];
    end;
  end;
end;

-- Leader r has objects for the replicas of now, and for no others.
procedure LearnReplicas(r: Replica);
begin
  if REASSIGNMENTS > 0 then
    for x: Replica do
      known_replicas[r][x] := assigned[x];
      if !assigned[x] then
        remote_leo[r][x] := UNKNOWN;
        caught_up[r][x] := false;
        since[r][x] := false;
        matches[r][x] := false;
      end;
    end;
  end;
end;

-- r learns that it is no replica any more.
procedure DeleteReplica(r: Replica);
begin
  LayDown(r);
  known_epoch[r] := NO_EPOCH;
  Truncate(r, 0);
  hw[r] := 0;
  checkpoint[r] := 0;
end;

-- The ways to take up a leader, an epoch and an ISR, all by value.
procedure BecomeLeader(r: Replica; e: Epoch; s: ReplicaSet);
begin
  if role[r] != LEADER then
    LayDown(r);
    role[r] := LEADER;
    if hw[r] > leo[r] then hw[r] := 0; end;
  elsif FRESH_ON_EVERY_NOTICE = 1
      | (FRESH_REMOTE_LEO = 1 & e > known_epoch[r])
      | (FRESH_REMOTE_LEO_AFTER_GAP = 1 & e > known_epoch[r] + 1) then
    for x: Replica do
      remote_leo[r][x] := UNKNOWN;
      since[r][x] := false;
      matches[r][x] := false;
    end;
  end;
  if CAUGHT_UP_WAIT = 1 then
    if e > known_epoch[r] then
      for x: Replica do caught_up[r][x] := s[x] & x != r; end;
    end;
    if FRESH_ON_EVERY_NOTICE = 1 then
      for x: Replica do caught_up[r][x] := false; end;
    end;
    ReadBrokers(r);
  end;
  LearnReplicas(r);
  for x: Replica do known_isr[r][x] := s[x]; end;
  EmptyPending(r);
  outdated[r] := false;
  known_epoch[r] := e;
  if FOLLOWER_HW_AT_END = 1 then Expose(r, hw[r]); end;
  IncHW(r);
end;

procedure BecomeFollower(r: Replica; l: Replica; e: Epoch);
var u: MaybeEpoch;
begin
  u := NO_EPOCH;
  if TRUNCATION != BY_HW then u := Unwritten(r); end;
  LayDown(r);
  known_epoch[r] := e;
  if TRUNCATION = BY_HW then
    Truncate(r, hw[r]);
    role[r] := FETCHING;
  else
    role[r] := TRUNCATING;
  end;
  known_leader[r] := l;
  cached_epoch[r] := u;
end;

-- r learns that nobody leads: it follows nobody.
procedure StepDown(r: Replica; e: Epoch);
var u: MaybeEpoch;
begin
  u := NO_EPOCH;
  if TRUNCATION != BY_HW then u := Unwritten(r); end;
  LayDown(r);
  known_epoch[r] := e;
  if TRUNCATE_LEADERLESS = 1 then Truncate(r, hw[r]); end;
  role[r] := TRUNCATING;
  cached_epoch[r] := u;
end;

-- Fluss tells who comes back what it knows of the bucket, and only then elects.
procedure HearOnReturn(r: Replica);
begin
  if COORDINATOR = 1 & leader = NOBODY & known_epoch[r] < epoch then StepDown(r, epoch); end;
end;

procedure TakeUp(r: Replica; l: MaybeReplica; e: Epoch; s: ReplicaSet);
begin
  if l = NOBODY then
    StepDown(r, e);
  elsif l = r then
    BecomeLeader(r, e, s);
  elsif TRUNCATE_EVERY_EPOCH = 0 & IsFollower(r) & known_leader[r] = l
      & !(TRUNCATE_AFTER_GAP = 1 & e > known_epoch[r] + 1) then
    if FencesFetches() then Abandon(r); end;
    known_epoch[r] := e;
  else
    BecomeFollower(r, l, e);
  end;
end;

---------------------------------------------------------------------------------------------------
-- The start
---------------------------------------------------------------------------------------------------

startstate "everybody up, replica 0 leads at epoch 0"
begin
  leader := 0;
  last_known_leader := NOBODY;
  epoch := 0;
  for r: Replica do
    assigned[r] := ASSIGNED = 0 | r < ASSIGNED;
    adding[r] := false;
    removing[r] := false;
    isr[r] := assigned[r];
    fenced[r] := false;
    elr[r] := false;
    stopping[r] := false;
    up[r] := true;
    for o: Place do log[r][o] := NO_RECORD; end;
    leo[r] := 0;
    hw[r] := 0;
    checkpoint[r] := 0;
    durable[r] := 0;
    if assigned[r] then known_epoch[r] := 0; else known_epoch[r] := NO_EPOCH; end;
    unclean[r] := false;
    taken[r] := false;
    slot[r] := EMPTY;
    for o: Place do slot_ids[r][o] := NO_RECORD; end;
    slot_count[r] := 0;
    slot_value[r] := 0;
    for i: Id do unanswered[r][i] := false; end;
    outdated[r] := false;
    cached_epoch[r] := NO_EPOCH;
    role[r] := NOTHING;
    if r = 0 then role[r] := LEADER; end;
    if r != 0 & assigned[r] then role[r] := FETCHING; end;
    if role[r] = FETCHING then known_leader[r] := 0; else known_leader[r] := NOBODY; end;
    for x: Replica do
      known_isr[r][x] := r = 0 & (ASSIGNED = 0 | x < ASSIGNED);
      known_replicas[r][x] := REASSIGNMENTS > 0 & known_isr[r][x];
      caught_up[r][x] := CAUGHT_UP_WAIT = 1 & known_isr[r][x] & x != 0;
      seen_unavailable[r][x] := false;
      read[r][x] := KeepsBrokerEpochs() & r = 0 & x != 0;
      since[r][x] := KeepsBrokerEpochs() & r = 0 & x != 0;
      matches[r][x] := KeepsBrokerEpochs() & r = 0 & x != 0;
      pending_isr[r][x] := false;
      remote_leo[r][x] := UNKNOWN;
      if known_isr[r][x] & x != 0 then remote_leo[r][x] := 0; end;
    end;
    pending_stale[r] := false;
    answer[r] := NO_ANSWER;
  end;
  EmptyStray();
  for e: Epoch do
    decided_leader[e] := NOBODY;
    for r: Replica do decided_isr[e][r] := false; end;
  end;
  consumed := 0;
  last_consumed := NO_RECORD;
  misread := false;
  for i: Id do
    record_epoch[i] := NO_EPOCH;
    acked[i] := false;
  end;
  for o: Place do exposed[o] := NO_RECORD; end;
  exposed_count := 0;
  produced := 0;
  restarts_used := 0;
  moves_used := 0;
  power_losses_used := 0;
  lost_disks_used := 0;
  lost_checkpoints_used := 0;
  session_expiries_used := 0;
  shutdowns_used := 0;
  taken_directories_used := 0;
  reassignments_used := 0;
end;

---------------------------------------------------------------------------------------------------
-- Records and fetches
---------------------------------------------------------------------------------------------------

ruleset l: Replica do
  rule "Produce"
    role[l] = LEADER & produced < RECORDS
    & (ACKS != ACKS_ALL | Size(known_isr[l]) >= LeaderMinIsr(l))
  ==>
  begin
    produced := produced + 1;
    record_epoch[produced] := known_epoch[l];
    log[l][leo[l]] := produced;
    leo[l] := leo[l] + 1;
    if ACKS = ACKS_ONE then acked[produced] := true; end;
    if ACKS = ACKS_ALL then unanswered[l][produced] := true; end;
    IncHW(l);
  end;

  rule "Consume"
    CONSUMER = 1 & role[l] = LEADER & consumed < hw[l] & !misread
  ==>
  var parted: boolean;
  begin
    parted := false;
    if consumed > 0 then parted := log[l][consumed - 1] != last_consumed; end;
    if !parted then
      last_consumed := log[l][consumed];
      consumed := consumed + 1;
    elsif CONSUMER_VALIDATION = 1 then
      consumed := 0;
      last_consumed := NO_RECORD;
    else
      misread := true;
    end;
  end;
end;

ruleset f: Replica do
  rule "SendFetch"
    MayFetch(f) & slot[f] = EMPTY & (KRAFT = 1 | !stopping[f])
  ==>
  begin
    slot[f] := REQUEST;
  end;

  rule "LeaderFetch"
    MayFetch(f) & slot[f] = REQUEST
  ==>
  var l: Replica;
  var before: Offset;
  var last: MaybeEpoch;
  begin
    l := known_leader[f];
    last := Latest(f);
    if !Accepts(l, f, known_epoch[f]) then
      if Leads(l) & REFUSAL_TELLS_NOTHING = 0 then remote_leo[l][f] := UNKNOWN; end;
      EmptySlot(f);
    elsif Diverges(l, leo[f], last) then
      if DIVERGING_GUARD = 0 then Observe(l, f, leo[f], false); end;
      AnswerDiverging(f, l, last);
    elsif OutOfRange(l, leo[f], last) then
      if REFUSAL_TELLS_NOTHING = 0 then remote_leo[l][f] := UNKNOWN; end;
      AnswerOutOfRange(f, l);
    else
      before := hw[l];
      Observe(l, f, leo[f], false);
      if PARKED = 1 & leo[f] = leo[l] then
        slot[f] := WAITING;
      elsif HW_AFTER_FETCH = 1 then
        AnswerData(f, l, hw[l]);
      else
        AnswerData(f, l, before);
      end;
    end;
  end;

  rule "WakeParked"
    MayFetch(f) & slot[f] = WAITING
  ==>
  var l: Replica;
  var last: MaybeEpoch;
  begin
    l := known_leader[f];
    last := Latest(f);
    if !Accepts(l, f, known_epoch[f]) then
      EmptySlot(f);
    elsif Diverges(l, leo[f], last) then
      AnswerDiverging(f, l, last);
    elsif OutOfRange(l, leo[f], last) then
      AnswerOutOfRange(f, l);
    else
      AnswerData(f, l, hw[l]);
    end;
  end;

  rule "ReadLate"
    LATE_READS = 1 & MayFetch(f) & slot[f] = DATA & ReadsOtherwise(f)
  ==>
  var l: Replica;
  begin
    l := known_leader[f];
    slot_count[f] := Least(slot_count[f], leo[l] - leo[f]);
    for o: Place do
      if o < slot_count[f] then
        slot_ids[f][o] := log[l][leo[f] + o];
      else
        slot_ids[f][o] := NO_RECORD;
      end;
    end;
    ForgetEpochs();
  end;

  rule "RecvFetch"
    MayFetch(f) & slot[f] = DATA
  ==>
  var count: Offset;
  begin
    count := Appended(f);
    for o: Place do
      if o < count then log[f][leo[f] + o] := slot_ids[f][o]; end;
    end;
    leo[f] := leo[f] + count;
    if FOLLOWER_HW_AT_END = 1 then
      hw[f] := leo[f];
    else
      hw[f] := Least(leo[f], slot_value[f]);
    end;
    if count > 0 then cached_epoch[f] := NO_EPOCH; end;
    role[f] := FETCHING;
    EmptySlot(f);
  end;

  rule "RecvDiverging"
    MayFetch(f) & slot[f] = DIVERGING
  ==>
  begin
    Truncate(f, slot_value[f]);
    EmptySlot(f);
  end;

  rule "RecvOutOfRange"
    MayFetch(f) & slot[f] = OUT_OF_RANGE
  ==>
  begin
    if UNCLEAN = 1 | TRUNCATE_OUT_OF_RANGE = 1 then
      if slot_value[f] < leo[f] then Truncate(f, slot_value[f]); end;
      EmptySlot(f);
    else
      Die(f);
    end;
  end;

  rule "StrayFetch"
    stray_from = f
    & Accepts(stray_to, f, stray_epoch)
    & (Diverges(stray_to, stray_offset, stray_last)
       ? DIVERGING_GUARD = 0
       : !OutOfRange(stray_to, stray_offset, stray_last))
    & !(STALE_FETCH_CHECK = 1 & stray_stale & !outdated[stray_to]
        & (known_isr[stray_to][f] | pending_isr[stray_to][f]))
  ==>
  begin
    Observe(stray_to, f, stray_offset, stray_stale);
    EmptyStray();
  end;

  rule "OffsetForLeaderEpoch"
    MayAsk(f)
  ==>
  var e: MaybeEpoch;
  var x: MaybeOffset;
  var done: boolean;
  begin
    e := EndEpoch(known_leader[f], Latest(f));
    x := EndOffset(known_leader[f], Latest(f));
    done := Done(f, e, x);
    Truncate(f, Cut(f, e, x));
    if done then role[f] := FETCHING; end;
  end;
end;

rule "LoseStray"
  stray_from != NOBODY
==>
begin
  EmptyStray();
end;

ruleset l: Replica do ruleset f: Replica do
  rule "ShrinkIsr"
    MayShrink(l, f)
  ==>
  begin
    if ALTER_PARTITION = 0 then
      DropFromIsr(f);
      known_isr[l] := isr;
      IncHW(l);
    else
      pending_isr[l] := known_isr[l];
      pending_isr[l][f] := false;
    end;
  end;

  rule "LagTimePasses"
    CAUGHT_UP_WAIT = 1 & role[l] = LEADER & f != l & caught_up[l][f] & remote_leo[l][f] != leo[l]
  ==>
  begin
    caught_up[l][f] := false;
    if DEPARTURE_TRIES_HW = 1 then IncHW(l); end;
  end;
end; end;

ruleset l: Replica do
  ruleset c: Code do
    rule "ShrinkTogether"
      ALTER_PARTITION = 1 & REPLICAS > 2 & MayShrinkTogether(l, c)
    ==>
    begin
      for f: Replica do pending_isr[l][f] := known_isr[l][f] & !CodeHas(c, f); end;
    end;
  end;

  rule "LearnBrokers"
    CAUGHT_UP_WAIT = 1 & role[l] = LEADER & BrokersChanged(l)
  ==>
  begin
    ReadBrokers(l);
    if DEPARTURE_TRIES_HW = 1 then IncHW(l); end;
  end;
end;

---------------------------------------------------------------------------------------------------
-- Processes
---------------------------------------------------------------------------------------------------

ruleset r: Replica do
  rule "Checkpoint"
    up[r] & checkpoint[r] != hw[r]
  ==>
  begin
    checkpoint[r] := hw[r];
  end;

  rule "Crash"
    up[r] & restarts_used < RESTARTS
  ==>
  begin
    restarts_used := restarts_used + 1;
    Die(r);
  end;

  ruleset x: Place do
    rule "PowerLoss"
      up[r] & durable[r] <= x & x < leo[r] & power_losses_used < POWER_LOSSES
    ==>
    begin
      power_losses_used := power_losses_used + 1;
      Die(r);
      Truncate(r, x);
      durable[r] := x;
    end;
  end;

  rule "DiskLoss"
    up[r] & (leo[r] > 0 | checkpoint[r] > 0) & (DISK_LOSS = 0 | !isr[r])
    & lost_disks_used < LOST_DISKS
  ==>
  begin
    lost_disks_used := lost_disks_used + 1;
    Die(r);
    Truncate(r, 0);
    checkpoint[r] := 0;
  end;

  rule "DirectoryTaken"
    !up[r] & !unclean[r] & !taken[r] & (leo[r] > 0 | checkpoint[r] > 0)
    & taken_directories_used < TAKEN_DIRECTORIES
  ==>
  begin
    taken_directories_used := taken_directories_used + 1;
    Truncate(r, 0);
    checkpoint[r] := 0;
    if ELR = 1 then taken[r] := true; end;
  end;

  rule "CheckpointLoss"
    !up[r] & checkpoint[r] > 0 & lost_checkpoints_used < LOST_CHECKPOINTS
  ==>
  begin
    lost_checkpoints_used := lost_checkpoints_used + 1;
    checkpoint[r] := 0;
  end;

  rule "BeginShutdown"
    up[r] & !Unavailable(r) & shutdowns_used < SHUTDOWNS
    & !(Departs(r) & epoch = EPOCHS & StartsEpoch(r))
  ==>
  var departs: boolean;
  begin
    shutdowns_used := shutdowns_used + 1;
    departs := Departs(r);
    stopping[r] := true;
    if departs then Depose(r); end;
  end;

  rule "Stop"
    up[r] & stopping[r]
  ==>
  begin
    checkpoint[r] := hw[r];
    durable[r] := leo[r];
    StopProcess(r);
  end;

  rule "Restart"
    !up[r]
    & (fenced[r] | MayGoUnnoticed(r))
    & !RestartIsCut(r)
  ==>
  begin
    if RegistrationRemoves(r) then TakeForDown(r); end;
    up[r] := true;
    hw[r] := Least(checkpoint[r], leo[r]);
    if ReturnChanges(r) then
      ChangeIsr(AsCode(isr), 1 << r);
    elsif exists x: Replica do elr[x] & LeavesElr(x, r) end then
      for x: Replica do elr[x] := elr[x] & !LeavesElr(x, r); end;
      OutdateLeader();
    end;
    unclean[r] := false;
    taken[r] := false;
    if BROKER_EPOCH = 1 then
      if stray_from = r then stray_stale := true; end;
      for l: Replica do
        if pending_isr[l][r] & !known_isr[l][r] & answer[l] = NO_ANSWER then
          pending_stale[l] := true;
        end;
        -- Where nothing is kept these are false anyway.
        read[l][r] := false;
        since[l][r] := false;
      end;
    end;
    HearOnReturn(r);
    Register(r);
  end;

  rule "MarkClean"
    ELR = 1 & UNCLEAN_MARK_KEPT = 0 & !up[r] & unclean[r]
  ==>
  begin
    unclean[r] := false;
  end;

-------------------------------------------------------------------------------------------------
-- Controller
-------------------------------------------------------------------------------------------------

  rule "AlterPartition"
    Current(r) & Pending(r) & answer[r] = NO_ANSWER
    & !(epoch = EPOCHS & Granted(r) & Raising(r))
  ==>
  var s: ReplicaSet;
  var granted: boolean;
  var raising: boolean;
  begin
    s := pending_isr[r];
    granted := Granted(r);
    raising := Raising(r);
    if granted & raising & EndsWith(r) then
      ChangeIsr(AsCode(s), 0);
      pending_stale[r] := false;
    elsif granted & raising then
      EmptyPending(r);
      BeginEpoch();
      WriteIsr(s);
    else
      if granted & EndsWith(r) then
        for x: Replica do
          adding[x] := false;
          removing[x] := false;
        end;
      end;
      if granted then WriteIsr(s); end;
      pending_stale[r] := false;
      if granted then answer[r] := GRANTED; else answer[r] := REFUSED; end;
      if LATE_ANSWERS = 0 then HearAnswer(r); end;
    end;
  end;

  rule "HearAnswer"
    LATE_ANSWERS = 1 & answer[r] != NO_ANSWER
  ==>
  begin
    HearAnswer(r);
  end;

  rule "Fence"
    !up[r] & !fenced[r] & !(epoch = EPOCHS & StartsEpoch(r))
  ==>
  begin
    TakeForDown(r);
  end;

  rule "SessionExpiry"
    up[r] & !Unavailable(r) & session_expiries_used < SESSION_EXPIRIES
    & !(epoch = EPOCHS & StartsEpoch(r))
  ==>
  begin
    session_expiries_used := session_expiries_used + 1;
    TakeForDown(r);
  end;

  rule "Register"
    SESSION_EXPIRIES > 0 & up[r] & fenced[r] & !RegisterIsCut(r)
  ==>
  begin
    HearOnReturn(r);
    Register(r);
  end;

  rule "Move"
    leader != NOBODY & leader != r & isr[r] & !Unavailable(r)
    & moves_used < MOVES & epoch < EPOCHS
  ==>
  begin
    BeginEpoch();
    moves_used := moves_used + 1;
    leader := r;
  end;

  rule "Learn"
    IsNotified(r)
    & (assigned[r]
       ? (leader != NOBODY | NobodyIsNews())
         & (known_epoch[r] < epoch
            | (leader != NOBODY & role[r] = LEADER
               & (outdated[r] | (KRAFT = 1 & answer[r] = GRANTED))))
       : HasReplica(r))
  ==>
  begin
    if assigned[r] then TakeUp(r, leader, epoch, isr); else DeleteReplica(r); end;
  end;

  ruleset e: Epoch do
    rule "LearnLate"
      LATE_METADATA = 1 & up[r] & known_epoch[r] != NO_EPOCH & known_epoch[r] < e & e < epoch
      & (decided_leader[e] != NOBODY | NobodyIsNews())
    ==>
    begin
      TakeUp(r, decided_leader[e], e, decided_isr[e]);
    end;
  end;
end;

ruleset c: Code do
  rule "Reassign"
    c != 0 & c != AsCode(assigned) & reassignments_used < REASSIGNMENTS & !RequestFails(c)
    & !(epoch = EPOCHS & RequestStartsEpoch(c))
  ==>
  begin
    reassignments_used := reassignments_used + 1;
    Change(AsCode(isr), Requested(c), ToAdd(c), ToRemove(c), 0, false);
  end;
end;

rule "CancelReassignment"
  (AsCode(adding) != 0 | AsCode(removing) != 0)
  & (UNCLEAN = 1 | !Within(AsCode(isr), AsCode(adding)))
  & !(epoch = EPOCHS & ChangeStartsEpoch(FormerIsr(), Former(), 0, 0, 0, true))
==>
begin
  Change(FormerIsr(), Former(), 0, 0, 0, true);
end;

---------------------------------------------------------------------------------------------------
-- Claims
---------------------------------------------------------------------------------------------------

-- The acting leader: the controller's, up, in that role and aware of the controller's epoch.
function Act(): MaybeReplica;
begin
  if Leads(leader) then
    if known_epoch[leader] = epoch then return leader; end;
  end;
  return NOBODY;
end;

function Has(r: Replica; i: Id): boolean;
begin
  return exists o: Place do log[r][o] = i end;
end;

-- Behind its end a log reads NO_RECORD, so a log that is too short differs as well.
function Complete(r: Replica): boolean;
begin
  return forall o: Place do o < exposed_count -> log[r][o] = exposed[o] end;
end;

function KeepsExposed(): boolean;
begin
  if Act() = NOBODY then return true; end;
  return Complete(Act());
end;

function KeepsAcked(): boolean;
begin
  if Act() = NOBODY then return true; end;
  return forall i: Id do acked[i] -> Has(Act(), i) end;
end;

function Agrees(a: Replica; b: Replica): boolean;
begin
  return forall o: Place do
    (o < hw[a] & o < hw[b] & o < leo[a] & o < leo[b]) -> log[a][o] = log[b][o]
  end;
end;

function FollowersAgree(): boolean;
begin
  if Act() = NOBODY then return true; end;
  return forall b: Replica do
    (up[b] & role[b] = FETCHING & known_epoch[b] = known_epoch[Act()]) -> Agrees(Act(), b)
  end;
end;

function ReadsAgree(): boolean;
begin
  return forall r: Replica do
    (up[r] & role[r] = LEADER) -> forall o: Place do o < hw[r] -> log[r][o] = exposed[o] end
  end;
end;

function CandidatesComplete(): boolean;
begin
  return forall r: Replica do (up[r] & assigned[r] & (isr[r] | elr[r])) -> Complete(r) end;
end;

-- Behind b's end its log reads NO_RECORD, and the leader's has a record there.
function Honest(a: Replica; b: Replica): boolean;
begin
  return forall o: Place do (o < remote_leo[a][b] & o < leo[a]) -> log[a][o] = log[b][o] end;
end;

function RemoteLeoHonest(): boolean;
begin
  if Act() = NOBODY then return true; end;
  return forall b: Replica do
    (role[b] = FETCHING & known_leader[b] = Act() & known_epoch[b] = known_epoch[Act()])
      -> Honest(Act(), b)
  end;
end;

function LogsMatch(): boolean;
begin
  return forall a: Replica do forall b: Replica do
    (up[a] & up[b]) -> Agrees(a, b)
  end end;
end;

function LogsMatchByEpoch(): boolean;
begin
  if TRUNCATION = BY_HW then return true; end;
  for a: Replica do for b: Replica do for o: Place do
    if a < b & o < leo[a] & o < leo[b] then
      if record_epoch[log[a][o]] = record_epoch[log[b][o]] then
        for p: Place do
          if p <= o & log[a][p] != log[b][p] then return false; end;
        end;
      end;
    end;
  end; end; end;
  return true;
end;

-- Would f, if it asked now, be where it was, and have to ask again?
function AsksInVain(f: Replica): boolean;
var e: MaybeEpoch;
var x: MaybeOffset;
begin
  if !MayAsk(f) then return false; end;
  e := EndEpoch(known_leader[f], Latest(f));
  x := EndOffset(known_leader[f], Latest(f));
  return !Done(f, e, x) & Cut(f, e, x) >= leo[f]
    & (TRUNCATION_CLEARS_EPOCHS = 0 | cached_epoch[f] = NO_EPOCH);
end;

function QuestionsEnd(): boolean;
begin
  return forall f: Replica do !AsksInVain(f) end;
end;

-- Whatever is not asked for holds trivially. How often each is violated is counted anyway.
invariant "no_committed_loss" CLAIM != 1 | KeepsExposed();
invariant "acknowledged_durable" CLAIM != 2 | KeepsAcked();
invariant "no_divergence_below_hw" CLAIM != 3 | FollowersAgree();
invariant "consistent_read" CLAIM != 4 | ReadsAgree();
invariant "candidates_complete" CLAIM != 5 | CandidatesComplete();
invariant "remote_leo_honest" CLAIM != 6 | RemoteLeoHonest();
invariant "log_matching" CLAIM != 7 | LogsMatch();
invariant "log_matching_by_epoch" CLAIM != 8 | LogsMatchByEpoch();
invariant "no_endless_question" CLAIM != 9 | QuestionsEnd();

cover "no_committed_loss" !KeepsExposed();
cover "acknowledged_durable" !KeepsAcked();
cover "no_divergence_below_hw" !FollowersAgree();
cover "consistent_read" !ReadsAgree();
cover "candidates_complete" !CandidatesComplete();
cover "remote_leo_honest" !RemoteLeoHonest();
cover "log_matching" !LogsMatch();
cover "log_matching_by_epoch" !LogsMatchByEpoch();
cover "no_endless_question" !QuestionsEnd();
