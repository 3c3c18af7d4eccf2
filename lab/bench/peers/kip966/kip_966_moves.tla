------------------------------ MODULE kip_966_moves ------------------------------
(* Jack Vanlightly's specification of KIP-966, with moves of leadership.

   The specification elects where the leader is fenced or ends. It has no preferred leader
   election (KIP-460's ElectLeaders, or auto.leader.rebalance.enable), by which a broker leads
   while the former leader stays in the ISR. README.md says what TLC finds with it. *)
EXTENDS kafka_replication_kip_966

CONSTANTS EpochsOfMoves, (* leader epochs in which the controller may move leadership *)
          MessagesMax    (* in flight; for a smaller space *)

(* The controller elects another member of the ISR: as PartitionChangeBuilder does for ElectLeaders,
   but any member may be preferred. ISR and ELR stay, both epochs grow. *)
MoveLeadership ==
    LET now == con_partition_metadata IN
    /\ now.leader # NoLeader
    /\ now.leader_epoch \in EpochsOfMoves
    /\ \E elected \in now.isr \ {now.leader} :
        ApplyPartitionChange(now.replicas, elected, now.isr, now.elr,
                             now.leader_epoch + 1, now.partition_epoch + 1,
                             now.adding, now.removing)
    /\ UNCHANGED <<con_broker_vars, broker_vars, part_vars, NetworkVars, inv_vars, aux_vars>>

NextWithMoves == Next \/ MoveLeadership

(* A part of the space: few messages, and broker 3 fetches nothing. What is violated in it is
   violated in the whole space; what holds in it is not said to hold in the whole. *)
SmallSpace ==
    /\ Cardinality(messages) <= MessagesMax
    /\ \A message \in messages : ~(message.type = FetchRequest /\ message.source = 3)
=================================================================================
