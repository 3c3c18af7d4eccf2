-- Message grain of Kafka partition replication, written a second time, in Murphi (for Rumur).
--
-- The meaning of every rule is in SEMANTICS.md next to this file; the comments here say only how it
-- is put into Murphi. message_peer.py replaces the values of the constants in the first block, one
-- constant per line; the values below are the defaults.
--
-- Two habits keep "distinct" the same as "different in meaning":
--   * nothing is ever left undefined: what is not alive is written back to one fixed value;
--   * no scalarset is used, so the checker does no symmetry reduction.

const
  REPLICAS: 2;            -- replicas are 0 .. REPLICAS - 1
  RECORDS: 2;             -- at most so many records are ever produced
  EPOCHS: 2;              -- greatest leader epoch
  RESTARTS: 2;            -- budget of process crashes
  MOVES: 0;               -- budget of leader moves
  UNCLEAN: 0;             -- 1: a replica outside the ISR may be elected
  ACKS: 2;                -- 0, 1, or 2 for acks=all
  MIN_ISR: 1;
  RESTART_DETECTION: 1;   -- whose restart may go unnoticed: 0 nobody's, 1 a follower's, 2 anybody's
  HW_AFTER_FETCH: 1;      -- 1: an answer carries the HW after the fetch was handled, 0: before
  TRUNCATE_BY_EPOCH: 0;   -- 0: a new follower cuts its log to its HW, 1: it asks the leader
  PARKED: 0;              -- 1: a fetch that finds nothing new is parked
  FORGET_EPOCHS: 1;       -- 1: the epoch of a record in no log and no answer is not state, 0: it is
  CLAIM: 0;               -- which claim is checked: 0 none, 1 .. 4 in the order of the sheet

const
  ACKS_ONE: 1;
  ACKS_ALL: 2;
  DETECTION_FOLLOWER: 1;
  DETECTION_ANY: 2;
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
  Epoch: 0 .. EPOCHS;
  MaybeEpoch: -1 .. EPOCHS;
  Sequence: array [Place] of MaybeId;   -- filled from the left, NO_RECORD behind the end
  ReplicaSet: array [Replica] of boolean;
  IdSet: array [Id] of boolean;
  Role: enum { NOTHING, LEADER, TRUNCATING, FETCHING };
  Slot: enum { EMPTY, REQUEST, WAITING, DATA, OUT_OF_RANGE };

var
  -- The controller.
  leader: MaybeReplica;
  epoch: Epoch;
  isr: ReplicaSet;
  fenced: ReplicaSet;

  -- Every replica.
  up: array [Replica] of boolean;
  log: array [Replica] of Sequence;
  leo: array [Replica] of Offset;
  hw: array [Replica] of Offset;              -- 0 while down
  checkpoint: array [Replica] of Offset;
  role: array [Replica] of Role;              -- NOTHING while down
  known_epoch: array [Replica] of MaybeEpoch; -- NO_EPOCH while down

  -- Alive only at a leader; otherwise all false, or UNKNOWN.
  known_isr: array [Replica] of ReplicaSet;
  remote_leo: array [Replica] of array [Replica] of MaybeOffset;
  unanswered: array [Replica] of IdSet;

  -- Alive only at a follower; otherwise NOBODY and EMPTY.
  known_leader: array [Replica] of MaybeReplica;
  slot: array [Replica] of Slot;
  slot_ids: array [Replica] of Sequence;      -- only with DATA
  slot_count: array [Replica] of Offset;      -- only with DATA
  slot_value: array [Replica] of Offset;      -- HW with DATA, the leader's LEO with OUT_OF_RANGE

  -- The epoch each record was written in; NO_EPOCH if not produced yet (or forgotten, see above).
  record_epoch: array [Id] of MaybeEpoch;

  -- Ghosts.
  produced: Offset;
  acked: IdSet;
  exposed: Sequence;
  exposed_count: Offset;
  restarts_used: 0 .. RESTARTS;
  moves_used: 0 .. MOVES;

---------------------------------------------------------------------------------------------------
-- Small questions
---------------------------------------------------------------------------------------------------

function Least(a: Offset; b: Offset): Offset;
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

-- Does l act as leader, as far as a request that reaches it can tell?
function Leads(l: MaybeReplica): boolean;
begin
  if l = NOBODY then return false; end;
  return up[l] & role[l] = LEADER;
end;

-- May l change the ISR? Only when the controller sees the same leader and epoch as l does.
function Current(l: Replica): boolean;
begin
  return leader = l & epoch = known_epoch[l];
end;

function IsFollower(r: Replica): boolean;
begin
  return role[r] = TRUNCATING | role[r] = FETCHING;
end;

-- The greatest epoch in r's epoch cache, that is, among the records of its log.
function LastEpoch(r: Replica): MaybeEpoch;
var e: MaybeEpoch;
begin
  e := NO_EPOCH;
  for o: Place do
    if o < leo[r] then
      if record_epoch[log[r][o]] > e then e := record_epoch[log[r][o]]; end;
    end;
  end;
  return e;
end;

-- Leader l's answer to "where does epoch q end?", UNKNOWN for undefined. The cache holds running
-- maxima, so the start of its least epoch above q is the first offset whose record is above q.
function EndOffset(l: Replica; q: MaybeEpoch): MaybeOffset;
begin
  if q = LastEpoch(l) then return leo[l]; end;
  if LastEpoch(l) <= q then return UNKNOWN; end;
  if q < record_epoch[log[l][0]] then return UNKNOWN; end;
  for o: Place do
    if o < leo[l] then
      if record_epoch[log[l][o]] > q then return o; end;
    end;
  end;
  error "an epoch above q must have been found";
end;

-- Whom would the controller elect now, if `back` counted as not fenced?
function Candidate(back: MaybeReplica): MaybeReplica;
begin
  for r: Replica do
    if isr[r] & (!fenced[r] | r = back) then return r; end;
  end;
  if UNCLEAN = 1 then
    for r: Replica do
      if !fenced[r] | r = back then return r; end;
    end;
  end;
  return NOBODY;
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

procedure Truncate(r: Replica; length: Offset);
begin
  for o: Place do
    if o >= length then log[r][o] := NO_RECORD; end;
  end;
  leo[r] := length;
  ForgetEpochs();
end;

-- Take away everything that belongs to a role. The caller then says which role comes next.
procedure LeaveRole(r: Replica);
begin
  role[r] := NOTHING;
  for x: Replica do
    known_isr[r][x] := false;
    remote_leo[r][x] := UNKNOWN;
  end;
  for i: Id do unanswered[r][i] := false; end;
  known_leader[r] := NOBODY;
  EmptySlot(r);
end;

-- What a process exit does, whatever the reason. Whoever follows r loses what it had under way.
procedure GoDown(r: Replica);
begin
  up[r] := false;
  hw[r] := 0;
  known_epoch[r] := NO_EPOCH;
  LeaveRole(r);
  for f: Replica do
    if known_leader[f] = r & slot[f] != EMPTY then EmptySlot(f); end;
  end;
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
        if Size(known_isr[l]) >= MIN_ISR then acked[log[l][o]] := true; end;
      end;
    end;
  end;
end;

procedure IncHW(l: Replica);
var m: Offset;
begin
  m := leo[l];
  for f: Replica do
    if f != l & known_isr[l][f] then
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

procedure MaybeExpand(l: Replica; f: Replica);
begin
  if !known_isr[l][f] & remote_leo[l][f] >= hw[l] & Current(l) then
    isr[f] := true;
    known_isr[l] := isr;
  end;
end;

-- Make r the leader in the controller's eyes; the epoch is the caller's business.
procedure Install(r: Replica);
begin
  if !isr[r] then
    for x: Replica do isr[x] := x = r; end;
  end;
  leader := r;
end;

-- The two ways to take up a new leader and epoch.
procedure BecomeLeader(r: Replica);
begin
  if role[r] != LEADER then
    LeaveRole(r);
    role[r] := LEADER;
  end;
  known_isr[r] := isr;
  known_epoch[r] := epoch;
  IncHW(r);
end;

procedure BecomeFollower(r: Replica);
begin
  if IsFollower(r) & known_leader[r] = leader then
    known_epoch[r] := epoch;
  else
    LeaveRole(r);
    known_leader[r] := leader;
    known_epoch[r] := epoch;
    if TRUNCATE_BY_EPOCH = 1 then
      role[r] := TRUNCATING;
    else
      Truncate(r, hw[r]);
      role[r] := FETCHING;
    end;
  end;
end;

---------------------------------------------------------------------------------------------------
-- The start
---------------------------------------------------------------------------------------------------

startstate "everybody up, replica 0 leads at epoch 0"
begin
  leader := 0;
  epoch := 0;
  for r: Replica do
    isr[r] := true;
    fenced[r] := false;
    up[r] := true;
    for o: Place do log[r][o] := NO_RECORD; end;
    leo[r] := 0;
    hw[r] := 0;
    checkpoint[r] := 0;
    known_epoch[r] := 0;
    slot[r] := EMPTY;
    for o: Place do slot_ids[r][o] := NO_RECORD; end;
    slot_count[r] := 0;
    slot_value[r] := 0;
    for i: Id do unanswered[r][i] := false; end;
    if r = 0 then role[r] := LEADER; else role[r] := FETCHING; end;
    if r = 0 then known_leader[r] := NOBODY; else known_leader[r] := 0; end;
    for x: Replica do
      known_isr[r][x] := r = 0;
      if r = 0 & x != 0 then remote_leo[r][x] := 0; else remote_leo[r][x] := UNKNOWN; end;
    end;
  end;
  for i: Id do
    record_epoch[i] := NO_EPOCH;
    acked[i] := false;
  end;
  for o: Place do exposed[o] := NO_RECORD; end;
  exposed_count := 0;
  produced := 0;
  restarts_used := 0;
  moves_used := 0;
end;

---------------------------------------------------------------------------------------------------
-- Records and fetches
---------------------------------------------------------------------------------------------------

ruleset l: Replica do
  rule "Produce"
    up[l] & role[l] = LEADER & produced < RECORDS
    & (ACKS != ACKS_ALL | Size(known_isr[l]) >= MIN_ISR)
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
end;

ruleset f: Replica do
  rule "SendFetch"
    up[f] & role[f] = FETCHING & slot[f] = EMPTY
  ==>
  begin
    slot[f] := REQUEST;
  end;

  rule "LeaderFetch"
    slot[f] = REQUEST
  ==>
  var l: Replica;
  var before: Offset;
  begin
    l := known_leader[f];
    if !Leads(l) then
      EmptySlot(f);
    elsif leo[f] > leo[l] then
      AnswerOutOfRange(f, l);
    else
      before := hw[l];
      remote_leo[l][f] := leo[f];
      MaybeExpand(l, f);
      IncHW(l);
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
    slot[f] = WAITING
  ==>
  var l: Replica;
  begin
    l := known_leader[f];
    if !Leads(l) then
      EmptySlot(f);
    elsif leo[f] > leo[l] then
      AnswerOutOfRange(f, l);
    else
      AnswerData(f, l, hw[l]);
    end;
  end;

  rule "ReceiveFetch"
    slot[f] = DATA
  ==>
  begin
    for o: Place do
      if o < slot_count[f] then log[f][leo[f] + o] := slot_ids[f][o]; end;
    end;
    leo[f] := leo[f] + slot_count[f];
    hw[f] := Least(leo[f], slot_value[f]);
    EmptySlot(f);
  end;

  rule "ReceiveOutOfRange"
    slot[f] = OUT_OF_RANGE
  ==>
  begin
    if UNCLEAN = 1 then
      Truncate(f, Least(leo[f], slot_value[f]));
      hw[f] := Least(hw[f], leo[f]);
      EmptySlot(f);
    else
      GoDown(f);
    end;
  end;

  rule "OffsetForLeaderEpoch"
    up[f] & role[f] = TRUNCATING & Leads(known_leader[f])
  ==>
  var answer: MaybeOffset;
  begin
    answer := EndOffset(known_leader[f], LastEpoch(f));
    if answer = UNKNOWN then
      Truncate(f, hw[f]);
    else
      Truncate(f, Least(answer, leo[f]));
    end;
    hw[f] := Least(hw[f], leo[f]);
    role[f] := FETCHING;
  end;
end;

ruleset l: Replica do ruleset f: Replica do
  rule "ShrinkIsr"
    up[l] & role[l] = LEADER & f != l & known_isr[l][f]
    & (remote_leo[l][f] = UNKNOWN | remote_leo[l][f] < leo[l] | !up[f])
    & Current(l)
  ==>
  begin
    isr[f] := false;
    known_isr[l] := isr;
    IncHW(l);
  end;
end; end;

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
    GoDown(r);
  end;

  -- The last line of the guard is the cut: an election with no epoch left for it.
  rule "Restart"
    !up[r]
    & (fenced[r] | RESTART_DETECTION = DETECTION_ANY
       | (RESTART_DETECTION = DETECTION_FOLLOWER & leader != r))
    & !(leader = NOBODY & epoch = EPOCHS & Candidate(r) != NOBODY)
  ==>
  var winner: MaybeReplica;
  begin
    up[r] := true;
    hw[r] := Least(checkpoint[r], leo[r]);
    fenced[r] := false;
    if leader = NOBODY then
      winner := Candidate(NOBODY);
      if winner != NOBODY then
        Install(winner);
        epoch := epoch + 1;
      end;
    end;
  end;

-------------------------------------------------------------------------------------------------
-- Controller
-------------------------------------------------------------------------------------------------

  rule "Fence"
    !up[r] & !fenced[r] & !(isr[r] & epoch = EPOCHS)
  ==>
  var winner: MaybeReplica;
  begin
    fenced[r] := true;
    if isr[r] then
      if Size(isr) > 1 then isr[r] := false; end;
      epoch := epoch + 1;
    end;
    if leader = r then
      leader := NOBODY;
      winner := Candidate(NOBODY);
      if winner != NOBODY then Install(winner); end;
    end;
  end;

  rule "Move"
    leader != NOBODY & leader != r & isr[r] & !fenced[r]
    & moves_used < MOVES & epoch < EPOCHS
  ==>
  begin
    moves_used := moves_used + 1;
    epoch := epoch + 1;
    leader := r;
  end;

  rule "Learn"
    up[r] & known_epoch[r] < epoch & leader != NOBODY
  ==>
  begin
    if leader = r then BecomeLeader(r); else BecomeFollower(r); end;
  end;
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
function KeepsExposed(): boolean;
begin
  if Act() = NOBODY then return true; end;
  return forall o: Place do o < exposed_count -> log[Act()][o] = exposed[o] end;
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

-- Whatever is not asked for holds trivially.
invariant "committed-record-lost" CLAIM != 1 | KeepsExposed();
invariant "acknowledged-durable" CLAIM != 2 | KeepsAcked();
invariant "divergence-below-hw" CLAIM != 3 | FollowersAgree();
invariant "inconsistent-read" CLAIM != 4 | ReadsAgree();
