-- KRaft's own log, written a second time, in Murphi (for Rumur).
--
-- After KIP-595, "A Raft Protocol for the Metadata Quorum", in the words of Kafka's raft module. What
-- examples/kraft_log.py decides beyond it is kept, so that counts can be compared: a request and its
-- answer are one step, a fetch brings one record, its answer may be lost, and what a voter has no use
-- for is forgotten.
--
-- Voters and epochs are numbered from 1, offsets from 0; 0 is nobody, no epoch, no record. A log is
-- as long as it has epochs: its length is no part of the state. No scalarset is used, so there is no
-- reduction by symmetry.
--
-- lab/bench/own_peers.py replaces the values of the constants, one constant per line.

const
  VOTERS: 3;
  EPOCHS: 2;
  RECORDS: 2;
  VOTERS_COMPARE_LOGS: 1;
  WAITS_FOR_OWN_EPOCH: 1;
  CLAIM: 0;               -- which claim is checked: 0 none, 1 .. 8 as numbered at the end

type
  Voter: 1 .. VOTERS;
  Anyone: 0 .. VOTERS;
  Epoch: 0 .. EPOCHS;
  Place: 0 .. RECORDS - 1;      -- an offset that a record can have
  Offset: 0 .. RECORDS;         -- a log end or a high watermark
  MaybeOffset: -1 .. RECORDS;
  State: enum { UNATTACHED, VOTED, FOLLOWER, CANDIDATE, LEADER, RESIGNED };
  Logs: array [Voter] of array [Place] of Epoch;
  Offsets: array [Voter] of Offset;

var
  log: Logs;
  -- The file quorum-state.
  leaderEpoch: array [Voter] of Epoch;
  votedId: array [Voter] of Anyone;
  leaderId: array [Voter] of Anyone;
  -- Lost by a restart; the state follows then from the file.
  state: array [Voter] of State;
  highWatermark: Offsets;
  -- Of candidates; otherwise false.
  granted: array [Voter] of array [Voter] of boolean;
  -- Of leaders, about the others; -1 where they have not fetched, and of those who do not lead.
  fetched: array [Voter] of array [Voter] of MaybeOffset;

---------------------------------------------------------------------------------------------------
-- Small questions
---------------------------------------------------------------------------------------------------

function LogEnd(v: Voter): Offset;
begin
  for o: Place do
    if log[v][o] = 0 then return o; end;
  end;
  return RECORDS;
end;

-- The epoch of the last record below an offset; 0 if there is none.
function EpochBelow(v: Voter; o: Offset): Epoch;
begin
  if o = 0 then return 0; end;
  return log[v][o - 1];
end;

function LastEpoch(v: Voter): Epoch;
begin
  return EpochBelow(v, LogEnd(v));
end;

-- The greatest epoch in the log that is not above e; 0 if there is none.
function EpochUpTo(v: Voter; e: Epoch): Epoch;
var found: Epoch;
begin
  found := 0;
  for o: Place do
    if log[v][o] <= e & log[v][o] > found then found := log[v][o]; end;
  end;
  return found;
end;

-- Where the first record above epoch e is; the log end if there is none.
function EndOf(v: Voter; e: Epoch): Offset;
begin
  for o: Place do
    if log[v][o] > e then return o; end;
  end;
  return LogEnd(v);
end;

function UpToDate(c: Voter; v: Voter): boolean;
begin
  if LastEpoch(c) = LastEpoch(v) then return LogEnd(c) >= LogEnd(v); end;
  return LastEpoch(c) > LastEpoch(v);
end;

function Majority(n: Anyone): boolean;
begin
  return n + n > VOTERS;
end;

function Votes(c: Voter): Anyone;
var n: Anyone;
begin
  n := 0;
  for v: Voter do
    if granted[c][v] then n := n + 1; end;
  end;
  return n;
end;

-- Whom v may give its vote, in its own epoch: nobody while it knows a leader.
function CanGrant(v: Voter; c: Voter): boolean;
begin
  return state[v] = UNATTACHED | (state[v] = VOTED & votedId[v] = c & !granted[c][v]);
end;

-- Whether a fetch of v reaches somebody who takes it.
function CanFetch(v: Voter): boolean;
begin
  if state[v] != FOLLOWER then return false; end;
  return state[leaderId[v]] = LEADER & leaderEpoch[leaderId[v]] = leaderEpoch[v];
end;

-- The leader's answer to (log end, last epoch) of v is a diverging epoch.
function Diverges(l: Voter; v: Voter): boolean;
begin
  return EpochUpTo(l, LastEpoch(v)) != LastEpoch(v) | EndOf(l, LastEpoch(v)) < LogEnd(v);
end;

-- How many voters have leader l's log up to an offset, as far as l knows.
function Have(l: Voter; o: Offset): Anyone;
var n: Anyone;
begin
  n := 0;
  for v: Voter do
    if v = l then
      if LogEnd(l) >= o then n := n + 1; end;
    elsif fetched[l][v] >= o then
      n := n + 1;
    end;
  end;
  return n;
end;

-- Up to where a majority has leader l's log.
function MajorityEnd(l: Voter): Offset;
var end_: Offset;
begin
  end_ := LogEnd(l);
  while end_ > 0 & !Majority(Have(l, end_)) do
    end_ := end_ - 1;
  end;
  return end_;
end;

-- Where the leader's epoch starts: it has written at least one record.
function EpochStart(l: Voter): Offset;
begin
  return EndOf(l, leaderEpoch[l] - 1);
end;

---------------------------------------------------------------------------------------------------
-- Effects
---------------------------------------------------------------------------------------------------

procedure ForgetOthers(v: Voter);
begin
  for other: Voter do
    granted[v][other] := false;
    fetched[v][other] := -1;
  end;
end;

-- To unattached, in the same or in a later epoch, in which it has not voted yet.
procedure Unattach(v: Voter; e: Epoch);
begin
  if e != leaderEpoch[v] then votedId[v] := 0; end;
  leaderEpoch[v] := e;
  leaderId[v] := 0;
  state[v] := UNATTACHED;
  ForgetOthers(v);
end;

procedure AdvanceHighWatermark(l: Voter);
begin
  if MajorityEnd(l) > highWatermark[l]
     & (MajorityEnd(l) > EpochStart(l) | WAITS_FOR_OWN_EPOCH = 0) then
    highWatermark[l] := MajorityEnd(l);
  end;
end;

procedure NoteFetch(l: Voter; v: Voter);
begin
  fetched[l][v] := LogEnd(v);
  AdvanceHighWatermark(l);
end;

procedure Append(l: Voter);
begin
  log[l][LogEnd(l)] := leaderEpoch[l];
  AdvanceHighWatermark(l);
end;

-- v was told that the leader's epoch e ends at an offset.
procedure TruncateTo(v: Voter; e: Epoch; end_: Offset);
var keep: Offset;
begin
  keep := EndOf(v, e);
  if EpochUpTo(v, e) = e & end_ < keep then keep := end_; end;
  for o: Place do
    if o >= keep then log[v][o] := 0; end;
  end;
end;

---------------------------------------------------------------------------------------------------
-- Claims about steps: looked at after fetches, which alone truncate.
---------------------------------------------------------------------------------------------------

-- hw and had are from before.
function NothingCommittedIsTruncated(hw: Offsets): boolean;
begin
  return forall v: Voter do LogEnd(v) >= hw[v] end;
end;

function Truncated(had: Offsets): boolean;
begin
  return exists v: Voter do LogEnd(v) < had[v] end;
end;

---------------------------------------------------------------------------------------------------
-- Rules
---------------------------------------------------------------------------------------------------

startstate
begin
  for v: Voter do
    votedId[v] := 0;
    highWatermark[v] := 0;
    leaderEpoch[v] := 0;
    Unattach(v, 0);
    for o: Place do
      log[v][o] := 0;
    end;
  end;
end;

ruleset v: Voter do

  rule "a voter becomes a candidate"
    state[v] != LEADER & leaderEpoch[v] < EPOCHS
  ==>
  begin
    Unattach(v, leaderEpoch[v] + 1);
    state[v] := CANDIDATE;
    votedId[v] := v;
    granted[v][v] := true;
  end;

  rule "a candidate becomes the leader and appends LeaderChange"
    state[v] = CANDIDATE & Majority(Votes(v)) & LogEnd(v) < RECORDS
  ==>
  begin
    state[v] := LEADER;
    leaderId[v] := v;
    ForgetOthers(v);
    Append(v);
  end;

  rule "a leader appends"
    state[v] = LEADER & LogEnd(v) < RECORDS
  ==>
  begin
    Append(v);
  end;

  rule "a voter fetches"
    CanFetch(v)
  ==>
  var hw: Offsets; had: Offsets; asked: Epoch;
  begin
    hw := highWatermark;
    for other: Voter do
      had[other] := LogEnd(other);
    end;
    alias l: leaderId[v] do
      if Diverges(l, v) then
        asked := LastEpoch(v);
        TruncateTo(v, EpochUpTo(l, asked), EndOf(l, asked));
      else
        NoteFetch(l, v);
        if LogEnd(v) < LogEnd(l) then
          log[v][LogEnd(v)] := log[l][LogEnd(v)];
        end;
        if highWatermark[l] >= LogEnd(v) then
          if LogEnd(v) > highWatermark[v] then highWatermark[v] := LogEnd(v); end;
        elsif highWatermark[l] > highWatermark[v] then
          highWatermark[v] := highWatermark[l];
        end;
      end;
    end;
    assert "nothing_committed_is_truncated" CLAIM != 5 | NothingCommittedIsTruncated(hw);
    assert "truncates" CLAIM != 8 | !Truncated(had);
  end;

  -- A diverging epoch that is lost changes nothing.
  rule "a voter fetches, and the answer is lost"
    CanFetch(v) & !Diverges(leaderId[v], v)
  ==>
  begin
    NoteFetch(leaderId[v], v);
  end;

  rule "a voter restarts with its log and quorum-state"
    true
  ==>
  begin
    highWatermark[v] := 0;
    ForgetOthers(v);
    if leaderId[v] = v then
      state[v] := RESIGNED;
    elsif leaderId[v] != 0 then
      state[v] := FOLLOWER;
    elsif votedId[v] = v then
      state[v] := CANDIDATE;
      granted[v][v] := true;
    elsif votedId[v] != 0 then
      state[v] := VOTED;
    else
      state[v] := UNATTACHED;
    end;
  end;

end;

-- Vote. A voter that refuses and takes the epoch is the last rule.
ruleset v: Voter; c: Voter do

  rule "a voter grants its vote"
    state[c] = CANDIDATE & leaderEpoch[v] <= leaderEpoch[c]
    & (leaderEpoch[v] < leaderEpoch[c] | CanGrant(v, c))
    & (UpToDate(c, v) | VOTERS_COMPARE_LOGS = 0)
  ==>
  begin
    Unattach(v, leaderEpoch[c]);
    state[v] := VOTED;
    votedId[v] := c;
    granted[c][v] := true;
  end;

end;

-- BeginQuorumEpoch.
ruleset v: Voter; l: Voter do

  rule "a leader makes itself known"
    v != l & state[l] = LEADER
    & (leaderEpoch[v] < leaderEpoch[l] | (leaderEpoch[v] = leaderEpoch[l] & leaderId[v] = 0))
  ==>
  begin
    Unattach(v, leaderEpoch[l]);
    state[v] := FOLLOWER;
    leaderId[v] := l;
  end;

end;

-- Any message of any kind may bring a later epoch.
ruleset v: Voter; other: Voter do

  rule "a voter hears of a later epoch"
    leaderEpoch[v] < leaderEpoch[other]
  ==>
  begin
    Unattach(v, leaderEpoch[other]);
  end;

end;

---------------------------------------------------------------------------------------------------
-- Claims about states
---------------------------------------------------------------------------------------------------

function SameBelow(a: Voter; b: Voter; end_: Offset): boolean;
begin
  for o: Place do
    if o < end_ & log[a][o] != log[b][o] then return false; end;
  end;
  return true;
end;

function OneLeaderAnEpoch(): boolean;
begin
  return forall a: Voter do forall b: Voter do
    (a < b & state[a] = LEADER & state[b] = LEADER) -> leaderEpoch[a] != leaderEpoch[b]
  end end;
end;

function LogsMatch(): boolean;
begin
  return forall a: Voter do forall b: Voter do forall o: Place do
    (log[a][o] != 0 & log[a][o] = log[b][o]) -> SameBelow(a, b, o + 1)
  end end end;
end;

function CommittedRecordsAgree(): boolean;
begin
  return forall a: Voter do forall b: Voter do
    highWatermark[a] <= highWatermark[b] -> SameBelow(a, b, highWatermark[a])
  end end;
end;

function LeadersHaveWhatIsCommitted(): boolean;
begin
  return forall l: Voter do forall v: Voter do
    (state[l] = LEADER & leaderEpoch[v] <= leaderEpoch[l]) -> SameBelow(l, v, highWatermark[v])
  end end;
end;

function Commits(): boolean;
begin
  return exists v: Voter do highWatermark[v] != 0 end;
end;

-- Two records follow each other that are committed, and of two epochs.
function CommitsInTwoEpochs(): boolean;
begin
  for v: Voter do
    if highWatermark[v] > 1 then
      if EpochBelow(v, 1) != EpochBelow(v, RECORDS > 1 ? 2 : 1) then return true; end;
    end;
  end;
  return false;
end;

-- What is not asked for holds trivially. The last of these, and 8, are to happen.
invariant "one_leader_an_epoch" CLAIM != 1 | OneLeaderAnEpoch();
invariant "logs_match" CLAIM != 2 | LogsMatch();
invariant "committed_records_agree" CLAIM != 3 | CommittedRecordsAgree();
invariant "leaders_have_what_is_committed" CLAIM != 4 | LeadersHaveWhatIsCommitted();
invariant "commits" CLAIM != 6 | !Commits();
invariant "commits_in_two_epochs" CLAIM != 7 | !CommitsInTwoEpochs();

-- In how many states each is otherwise is counted anyway.
cover "one_leader_an_epoch" !OneLeaderAnEpoch();
cover "logs_match" !LogsMatch();
cover "committed_records_agree" !CommittedRecordsAgree();
cover "leaders_have_what_is_committed" !LeadersHaveWhatIsCommitted();
cover "commits" Commits();
cover "commits_in_two_epochs" CommitsInTwoEpochs();
