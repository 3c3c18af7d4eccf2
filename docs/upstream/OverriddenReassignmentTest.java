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

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/**
 * A reassignment is overridden before it has ended (KIP-455). What is being added and removed must be what the later
 * request asks for, also where that is nothing.
 */
public class OverriddenReassignmentTest {

    private final ReassignmentTestContext context = new ReassignmentTestContext(5, List.of(List.of(0, 1, 2)));

    /** Fails from 4.3.0 on (KAFKA-19975): replica 3 is still being added, and is being removed. */
    @Test
    public void testOverrideWithTheFormerReplicasEnds() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 2);
        assertFalse(PartitionReassignmentReplicas.isReassignmentInProgress(context.partition(0)), "Unexpected reassignment");
        assertEquals(List.of(0, 1, 2), context.replicas(0), "Unexpected replicas");
    }

    /** Fails: replica 2 is still being removed. */
    @Test
    public void testOverrideThatKeepsEveryReplicaRemovesNone() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 2, 3);
        context.alterIsr(0, 0, 1, 2, 3);
        assertEquals(List.of(0, 1, 2, 3), context.replicas(0), "Unexpected replicas");
    }

    /** Fails: replica 3 does not count as added any more, so that the cancellation leaves it. */
    @Test
    public void testCancellationAfterOverrideRemovesWhatWasAdded() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 3, 4);
        context.cancel(0);
        assertEquals(List.of(0, 1, 2), sorted(context.replicas(0)), "Unexpected replicas");
    }

    /** Fails from 4.3.0 on (KAFKA-19975): replica 3 does not count as added any more, and is not waited for. */
    @Test
    public void testOverrideWaitsForReplicaThatWasBeingAdded() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 3, 4);
        context.alterIsr(0, 0, 1, 2, 4);
        assertEquals(List.of(0, 1, 2, 3, 4), sorted(context.replicas(0)), "Unexpected replicas");
    }

    /** Passes: the same request twice. */
    @Test
    public void testCancellationAfterRepetitionRemovesWhatWasAdded() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 3);
        context.cancel(0);
        assertEquals(List.of(0, 1, 2), sorted(context.replicas(0)), "Unexpected replicas");
    }

    /** Passes: something is added and something is removed. */
    @Test
    public void testOverrideWithAnotherReplicaEnds() {
        context.reassign(0, 0, 1, 3);
        context.reassign(0, 0, 1, 4);
        context.alterIsr(0, 0, 1, 2, 4);
        assertEquals(List.of(0, 1, 4), context.replicas(0), "Unexpected replicas");
    }

    /** Passes: nothing is overridden. */
    @Test
    public void testCancelledReassignmentEnds() {
        context.reassign(0, 0, 1, 3);
        context.cancel(0);
        assertEquals(List.of(0, 1, 2), context.replicas(0), "Unexpected replicas");
    }

    private static List<Integer> sorted(List<Integer> replicas) {
        return replicas.stream().sorted().toList();
    }
}
