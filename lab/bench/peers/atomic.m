-- The atomic grain with truncation to the high watermark, for Rumur (or another Murphi checker).
--
-- One partition. Every decision of the controller takes the next leader epoch and leaves behind one
-- LeaderAndIsr request, on which every replica may act once, late or never, if it is newer than
-- what the replica knows. Brokers read each other's state directly.
--
-- Brokers are numbered from 1, epochs too; 0 is nobody, and no epoch. Whoever does not lead has an
-- empty in-sync set, slots above a log's end are 0: equal situations are equal states.

const
  REPLICAS: 3;
  LOG_SIZE: 2;
  RECORDS: 2;
  EPOCHS: 2;

type
  Broker: 1..REPLICAS;
  Anyone: 0..REPLICAS;
  Offset: 0..LOG_SIZE - 1;
  Length: 0..LOG_SIZE;
  Count: 0..RECORDS;
  Request: 1..EPOCHS + 1;
  Epoch: 0..EPOCHS + 1;
  -- A record's number and the epoch it was written in, as one number.
  Entry: 0..RECORDS * (EPOCHS + 1);
  Members: array [Broker] of boolean;

var
  leo: array [Broker] of Length;
  hw: array [Broker] of Length;
  known: array [Broker] of Epoch;
  follows: array [Broker] of Anyone;
  isr: array [Broker] of Members;
  log: array [Broker] of array [Offset] of Entry;
  wanted: array [Request] of Anyone;
  members: array [Request] of Members;
  issued: Epoch;
  produced: Count;
  true_leader: Anyone;
  true_isr: Members;

function truly_leads(b: Broker): boolean;
begin
  return follows[b] = b & known[b] = issued;
end;

function everybody_has_next(l: Broker): boolean;
begin
  for f: Broker do
    if isr[l][f] & (follows[f] != l | leo[f] <= hw[l]) then
      return false;
    end;
  end;
  return true;
end;

procedure send();
begin
  issued := issued + 1;
  wanted[issued] := true_leader;
  members[issued] := true_isr;
end;

startstate
begin
  clear leo;
  clear hw;
  clear known;
  clear follows;
  clear isr;
  clear log;
  clear wanted;
  clear members;
  issued := 0;
  produced := 0;
  true_leader := 0;
  for b: Broker do
    true_isr[b] := true;
  end;
end;

ruleset b: Broker do

  rule "the controller elects a member of the ISR"
    issued <= EPOCHS & true_isr[b] & true_leader != b
  ==>
  begin
    true_leader := b;
    send();
  end;

  rule "the controller takes a broker for failed"
    issued <= EPOCHS & (true_leader = b | true_isr[b])
  ==>
  var others: boolean;
  begin
    if true_leader = b then
      true_leader := 0;
      others := false;
      for other: Broker do
        others := others | (other != b & true_isr[other]);
      end;
      if others then
        true_isr[b] := false;
      end;
    else
      true_isr[b] := false;
    end;
    send();
  end;

  rule "a leader appends a record"
    follows[b] = b & produced < RECORDS & leo[b] < LOG_SIZE
  ==>
  begin
    log[b][leo[b]] := produced * (EPOCHS + 1) + known[b];
    leo[b] := leo[b] + 1;
    produced := produced + 1;
  end;

  rule "a leader's high watermark advances"
    follows[b] = b & leo[b] > hw[b] & everybody_has_next(b)
  ==>
  begin
    hw[b] := hw[b] + 1;
  end;

  rule "a follower fetches a record"
    follows[b] != 0 & follows[follows[b]] = follows[b] & leo[b] < leo[follows[b]]
  ==>
  begin
    log[b][leo[b]] := log[follows[b]][leo[b]];
    leo[b] := leo[b] + 1;
    hw[b] := hw[follows[b]] < leo[b] ? hw[follows[b]] : leo[b];
  end;

end;

ruleset e: Request do

  rule "a replica becomes the leader of an epoch"
    wanted[e] != 0 & e > known[wanted[e]]
  ==>
  begin
    known[wanted[e]] := e;
    follows[wanted[e]] := wanted[e];
    isr[wanted[e]] := members[e];
  end;

end;

ruleset b: Broker; e: Request do

  rule "a replica becomes a follower and truncates to its high watermark"
    wanted[e] != 0 & wanted[e] != b & e > known[b]
  ==>
  begin
    known[b] := e;
    follows[b] := wanted[e];
    clear isr[b];
    for o: Offset do
      if o >= hw[b] then
        log[b][o] := 0;
      end;
    end;
    leo[b] := hw[b];
  end;

end;

ruleset l: Broker; f: Broker do

  rule "the leader adds a follower to the ISR"
    truly_leads(l) & !isr[l][f] & follows[f] = l & leo[f] >= hw[l]
  ==>
  begin
    isr[l][f] := true;
    true_isr := isr[l];
  end;

  rule "the leader removes a follower from the ISR"
    truly_leads(l) & isr[l][f] & (follows[f] != l | leo[f] < leo[l])
  ==>
  begin
    isr[l][f] := false;
    true_isr := isr[l];
  end;

end;
