/*
 * Licensed to the Apache Software Foundation (ASF) under one or more
 * contributor license agreements.  See the NOTICE file distributed with
 * this work for additional information regarding copyright ownership.
 * The ASF licenses this file to You under the Apache License, Version 2.0
 * (the "License"); you may not use this file except in compliance with
 * the License.  You may obtain a copy of the License at
 *
 *      http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.apache.kafka.controller;

import java.util.List;

import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import static org.apache.kafka.metadata.LeaderConstants.NO_LEADER;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Replicas that a reassignment takes away delete their logs. They must leave the ELR as well: who is in it may be
 * elected, cleanly, and keeps the last known leader from being elected.
 */
public class RemovedReplicaElrTest {

    private final ReassignmentTestContext context =
        new ReassignmentTestContext(5, List.of(List.of(2, 0, 1), List.of(2, 0, 1)));

    /** Fails: replica 3 was in the ISR, so it is put into the ELR although it is no replica any more. */
    @Test
    public void testReplicaOfCancelledReassignmentIsNotEligible() {
        cancelReassignment();
        assertEquals(List.of(), context.eligible(0), "Unexpected ELR");
    }

    /** Fails from 4.3.0 on (KAFKA-19975); before, the reassignment does not end here: replica 2 is put into the ELR. */
    @Test
    public void testReplicaOfCompletedReassignmentIsNotEligible() {
        context.fence(0);
        context.fence(1);
        context.reassign(0, 3, 0, 1);
        context.alterIsr(0, 2, 3);
        List<Integer> replicas = context.replicas(0);
        assertEquals(
            List.of(),
            context.eligible(0).stream().filter(member -> !replicas.contains(member)).toList(),
            "Unexpected ELR members");
    }

    /** Fails: nobody is down. The smallest ISR of partition 1 goes by the replicas of partition 0. */
    @Test
    public void testReplicasTakenAwayByALowerReplicationFactorAreNotEligible() {
        context.reassign(1, 2);
        assertEquals(List.of(2), context.replicas(1));
        assertEquals(List.of(), context.eligible(1), "Unexpected ELR");
    }

    /** Fails: replica 0 is elected from the ELR, and has nothing but what it has copied since it was added again. */
    @Test
    public void testReplicaAddedAgainIsNotElected() {
        context.reassign(1, 2);
        context.reassign(1, 2, 0, 1);
        context.fence(2);
        assertEquals(NO_LEADER, context.partition(1).leader, "Unexpected leader");
    }

    /** Fails: the last leader is back with every record, and replica 3, which is in the ELR, is no replica. */
    @Test
    public void testLastKnownLeaderIsElectedAfterCancelledReassignment() {
        cancelReassignment();
        context.fence(2);
        context.restartUncleanly(2);
        assertEquals(2, context.partition(0).leader, "Unexpected leader");
    }

    /** Fails: the election asks for the directory of replica 3, and an exception is the answer. */
    @Test
    public void testReplicaCanBeAddedAgainWhileThereIsNoLeader() {
        cancelReassignment();
        context.fence(2);
        assertEquals(Errors.NONE, context.reassign(0, 2, 3, 4), "Unexpected error");
    }

    /** Fails: a release without the change has left replica 3 in the ELR, and it is added again. */
    @Test
    public void testReplicaThatWasLeftInTheElrIsNotEligibleOnceItIsAdded() {
        context.createPartition(2, List.of(2, 0, 1), List.of(3));
        context.reassign(2, 2, 0, 1, 3);
        assertEquals(List.of(), context.eligible(2), "Unexpected ELR");
    }

    /** Passes: a replica that leaves the ISR and stays a replica is eligible, as KIP-966 has it. */
    @Test
    public void testReplicaThatLeavesTheIsrIsEligible() {
        context.fence(0);
        context.fence(1);
        assertEquals(List.of(1), context.eligible(0), "Unexpected ELR");
    }

    /** Passes: a replica that is to be removed has its log until the reassignment ends. */
    @Test
    public void testReplicaIsEligibleUntilTheReassignmentEnds() {
        context.fence(0);
        context.fence(1);
        context.reassign(0, 2, 0, 3);
        assertEquals(List.of(1), context.eligible(0), "Unexpected ELR");
    }

    /** Brokers 0 and 1 are down; 3 is in the ISR, 4 is not yet. */
    private void cancelReassignment() {
        context.fence(0);
        context.fence(1);
        context.reassign(0, 2, 3, 4);
        context.alterIsr(0, 2, 3);
        context.cancel(0);
        assertEquals(List.of(2, 0, 1), context.replicas(0));
    }
}
