-- Leader election and log replication of Raft, written a second time, in Murphi (for Rumur).
--
-- After figure 2 of Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm"
-- (2014), in its words. What examples/raft.py decides beyond the paper is kept, so that counts can
-- be compared: a request and its answer are one step, AppendEntries carries at most one entry, a
-- leader commits as far as it can at once, and what a server has no use for is forgotten.
--
-- Servers, terms and indices are numbered from 1, as in the paper; 0 is nobody, no term, no entry.
-- A log is as long as it has terms: its length is no part of the state. No scalarset is used, so
-- there is no reduction by symmetry.
--
-- lab/bench/own_peers.py replaces the values of the constants, one constant per line.

const
  SERVERS: 3;
  TERMS: 2;
  ENTRIES: 2;
  VOTERS_COMPARE_LOGS: 1;
  COMMITS_OWN_TERM_ONLY: 1;
  CLAIM: 0;               -- which claim is checked: 0 none, 1 .. 8 as numbered at the end

type
  Server: 1 .. SERVERS;
  Anyone: 0 .. SERVERS;
  Term: 0 .. TERMS;
  Index: 1 .. ENTRIES;
  Length: 0 .. ENTRIES;
  Next: 1 .. ENTRIES + 1;
  State: enum { FOLLOWER, CANDIDATE, LEADER };
  Log: array [Index] of Term;
  States: array [Server] of State;
  Logs: array [Server] of Log;

var
  -- Persistent.
  currentTerm: array [Server] of Term;
  votedFor: array [Server] of Anyone;
  log: Logs;
  -- Volatile.
  state: States;
  commitIndex: array [Server] of Length;
  -- Of candidates; otherwise false.
  granted: array [Server] of array [Server] of boolean;
  -- Of leaders, about the others; otherwise 1 and 0.
  nextIndex: array [Server] of array [Server] of Next;
  matchIndex: array [Server] of array [Server] of Length;

---------------------------------------------------------------------------------------------------
-- Small questions
---------------------------------------------------------------------------------------------------

function LastIndex(s: Server): Length;
var n: Length;
begin
  n := 0;
  while n < ENTRIES & log[s][n = ENTRIES ? n : n + 1] != 0 do
    n := n + 1;
  end;
  return n;
end;

-- The term of an entry; 0 before the first.
function TermAt(s: Server; n: Length): Term;
begin
  if n = 0 then return 0; end;
  return log[s][n];
end;

-- Section 5.4.1: which of two logs is more up-to-date.
function AtLeastAsUpToDate(c: Server; v: Server): boolean;
var mine: Term; theirs: Term;
begin
  mine := TermAt(v, LastIndex(v));
  theirs := TermAt(c, LastIndex(c));
  if theirs > mine then return true; end;
  return theirs = mine & LastIndex(c) >= LastIndex(v);
end;

function Majority(n: Anyone): boolean;
begin
  return n + n > SERVERS;
end;

function Votes(c: Server): Anyone;
var n: Anyone;
begin
  n := 0;
  for v: Server do
    if granted[c][v] then n := n + 1; end;
  end;
  return n;
end;

-- How many servers store leader l's entry n, as far as l knows. It stores it itself.
function Stored(l: Server; n: Index): Anyone;
var count: Anyone;
begin
  count := 1;
  for s: Server do
    if s != l & matchIndex[l][s] >= n then count := count + 1; end;
  end;
  return count;
end;

-- Rules for leaders, the last one. The greatest such N; 0 if there is none.
function Committable(l: Server): Length;
var n: Length;
begin
  n := LastIndex(l);
  while n > 0 do
    if Majority(Stored(l, n)) & (log[l][n] = currentTerm[l] | COMMITS_OWN_TERM_ONLY = 0) then
      return n;
    end;
    n := n - 1;
  end;
  return 0;
end;

---------------------------------------------------------------------------------------------------
-- Effects
---------------------------------------------------------------------------------------------------

procedure Forget(s: Server);
begin
  for other: Server do
    granted[s][other] := false;
    nextIndex[s][other] := 1;
    matchIndex[s][other] := 0;
  end;
end;

procedure ConvertToFollower(s: Server);
begin
  state[s] := FOLLOWER;
  Forget(s);
end;

-- Rules for all servers: a greater term is taken over, in which no vote is given yet.
procedure TakeTerm(s: Server; t: Term);
begin
  if t > currentTerm[s] then
    currentTerm[s] := t;
    votedFor[s] := 0;
    ConvertToFollower(s);
  end;
end;

---------------------------------------------------------------------------------------------------
-- Claims about steps: looked at after rules that write logs. No other rule can break them.
---------------------------------------------------------------------------------------------------

-- Whoever led before, and does now, has every entry it had.
function LeadersOnlyAppended(was: States; had: Logs): boolean;
begin
  for s: Server do
    for i: Index do
      if was[s] = LEADER & state[s] = LEADER & had[s][i] != 0 & log[s][i] != had[s][i] then
        return false;
      end;
    end;
  end;
  return true;
end;

-- An entry that there was is gone, or another one is in its place.
function Deleted(had: Logs): boolean;
begin
  for s: Server do
    for i: Index do
      if had[s][i] != 0 & had[s][i] != log[s][i] then return true; end;
    end;
  end;
  return false;
end;

---------------------------------------------------------------------------------------------------
-- Rules
---------------------------------------------------------------------------------------------------

startstate
begin
  for s: Server do
    currentTerm[s] := 0;
    votedFor[s] := 0;
    commitIndex[s] := 0;
    ConvertToFollower(s);
    for i: Index do
      log[s][i] := 0;
    end;
  end;
end;

ruleset s: Server do

  rule "an election timeout elapses"
    state[s] != LEADER & currentTerm[s] < TERMS
  ==>
  begin
    TakeTerm(s, currentTerm[s] + 1);
    state[s] := CANDIDATE;
    votedFor[s] := s;
    granted[s][s] := true;
  end;

  rule "a candidate has votes from a majority"
    state[s] = CANDIDATE & Majority(Votes(s))
  ==>
  begin
    Forget(s);
    state[s] := LEADER;
    for other: Server do
      if other != s then
        nextIndex[s][other] := LastIndex(s) + 1;
      end;
    end;
  end;

  rule "a leader has a command from a client"
    state[s] = LEADER & LastIndex(s) < ENTRIES
  ==>
  var was: States; had: Logs;
  begin
    was := state;
    had := log;
    log[s][LastIndex(s) + 1] := currentTerm[s];
    assert "leaders_only_append" CLAIM != 5 | LeadersOnlyAppended(was, had);
    assert "cuts_its_log" CLAIM != 8 | !Deleted(had);
  end;

  rule "a leader commits"
    state[s] = LEADER & Committable(s) > commitIndex[s]
  ==>
  begin
    commitIndex[s] := Committable(s);
  end;

  rule "a server restarts with its persistent state"
    true
  ==>
  begin
    ConvertToFollower(s);
    commitIndex[s] := 0;
  end;

end;

-- RequestVote. A voter that refuses and takes the term is the rule after the next.
ruleset v: Server; c: Server do

  rule "a server grants its vote"
    state[c] = CANDIDATE & currentTerm[c] >= currentTerm[v]
    & (currentTerm[c] > currentTerm[v] | votedFor[v] = 0 | (votedFor[v] = c & !granted[c][v]))
    & (AtLeastAsUpToDate(c, v) | VOTERS_COMPARE_LOGS = 0)
  ==>
  begin
    TakeTerm(v, currentTerm[c]);
    votedFor[v] := c;
    granted[c][v] := true;
  end;

end;

-- AppendEntries, with the entry at nextIndex if the leader has one.
ruleset l: Server; f: Server do

  rule "a leader replicates its log"
    l != f & state[l] = LEADER & currentTerm[l] >= currentTerm[f]
  ==>
  var prevLogIndex: Length; lastNew: Length; was: States; had: Logs;
  begin
    was := state;
    had := log;
    TakeTerm(f, currentTerm[l]);
    ConvertToFollower(f);
    prevLogIndex := nextIndex[l][f] - 1;
    if prevLogIndex <= LastIndex(f) & TermAt(f, prevLogIndex) = TermAt(l, prevLogIndex) then
      lastNew := prevLogIndex;
      if prevLogIndex < LastIndex(l) then
        lastNew := prevLogIndex + 1;
        if lastNew <= LastIndex(f) & log[f][lastNew] != log[l][lastNew] then
          for i: Index do
            if i >= lastNew then log[f][i] := 0; end;
          end;
        end;
        log[f][lastNew] := log[l][lastNew];
      end;
      if commitIndex[l] > commitIndex[f] & lastNew > commitIndex[f] then
        commitIndex[f] := commitIndex[l] < lastNew ? commitIndex[l] : lastNew;
      end;
      nextIndex[l][f] := lastNew + 1;
      matchIndex[l][f] := lastNew;
    else
      nextIndex[l][f] := nextIndex[l][f] - 1;
    end;
    assert "leaders_only_append" CLAIM != 5 | LeadersOnlyAppended(was, had);
    assert "cuts_its_log" CLAIM != 8 | !Deleted(had);
  end;

end;

-- Any message of any kind may bring a greater term.
ruleset s: Server; other: Server do

  rule "a server hears of a greater term"
    currentTerm[other] > currentTerm[s]
  ==>
  begin
    TakeTerm(s, currentTerm[other]);
  end;

end;

---------------------------------------------------------------------------------------------------
-- Claims about states
---------------------------------------------------------------------------------------------------

function SameUpTo(a: Server; b: Server; n: Length): boolean;
begin
  for i: Index do
    if i <= n & log[a][i] != log[b][i] then return false; end;
  end;
  return true;
end;

function OneLeaderATerm(): boolean;
begin
  return forall a: Server do forall b: Server do
    (a < b & state[a] = LEADER & state[b] = LEADER) -> currentTerm[a] != currentTerm[b]
  end end;
end;

-- Log Matching.
function LogsMatch(): boolean;
begin
  return forall a: Server do forall b: Server do forall i: Index do
    (log[a][i] != 0 & log[a][i] = log[b][i]) -> SameUpTo(a, b, i)
  end end end;
end;

-- State Machine Safety, of what servers know now.
function CommittedEntriesAgree(): boolean;
begin
  return forall a: Server do forall b: Server do
    commitIndex[a] <= commitIndex[b] -> SameUpTo(a, b, commitIndex[a])
  end end;
end;

-- Leader Completeness, of what servers of no later term know now.
function LeadersHaveWhatIsCommitted(): boolean;
begin
  return forall l: Server do forall s: Server do
    (state[l] = LEADER & currentTerm[s] <= currentTerm[l]) -> SameUpTo(l, s, commitIndex[s])
  end end;
end;

function Commits(): boolean;
begin
  return exists s: Server do commitIndex[s] != 0 end;
end;

-- Two entries follow each other that are committed, and of two terms.
function CommitsInTwoTerms(): boolean;
begin
  for s: Server do
    if ENTRIES > 1 & commitIndex[s] > 1 then
      if TermAt(s, 1) != TermAt(s, ENTRIES > 1 ? 2 : 1) then return true; end;
    end;
  end;
  return false;
end;

-- What is not asked for holds trivially. The last of these, and 8, are to happen.
invariant "one_leader_a_term" CLAIM != 1 | OneLeaderATerm();
invariant "logs_match" CLAIM != 2 | LogsMatch();
invariant "committed_entries_agree" CLAIM != 3 | CommittedEntriesAgree();
invariant "leaders_have_what_is_committed" CLAIM != 4 | LeadersHaveWhatIsCommitted();
invariant "commits" CLAIM != 6 | !Commits();
invariant "commits_in_two_terms" CLAIM != 7 | !CommitsInTwoTerms();

-- In how many states each is otherwise is counted anyway.
cover "one_leader_a_term" !OneLeaderATerm();
cover "logs_match" !LogsMatch();
cover "committed_entries_agree" !CommittedEntriesAgree();
cover "leaders_have_what_is_committed" !LeadersHaveWhatIsCommitted();
cover "commits" Commits();
cover "commits_in_two_terms" CommitsInTwoTerms();
