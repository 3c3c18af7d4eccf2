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

import static org.apache.kafka.metadata.LeaderConstants.NO_LEADER;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * A broker with two log directories shuts down properly and comes back. A replica whose directory is gone must not
 * stay in the ELR: its log is a new one.
 */
public class TakenDirectoryElrTest {

    private final ReassignmentTestContext context = new ReassignmentTestContext(2, List.of(List.of(1, 0)));

    /** Fails from 4.3.0 on: broker 0 has the partition anew in its other directory, and is elected. */
    @Test
    public void testReplicaOfTakenDirectoryIsNotElected() {
        context.fence(0);
        context.register(0, List.of(ReassignmentTestContext.directory(0, 1)));
        context.assignToDirectory(0, 0, ReassignmentTestContext.directory(0, 1));
        context.unfence(0);
        context.fence(1);
        assertEquals(NO_LEADER, context.partition(0).leader, "Unexpected leader");
    }

    /** Fails from 4.3.0 on: as above, and the registration was refused at first, because the session had not ended. */
    @Test
    public void testReplicaThatIsAssignedBeforeTheRegistrationIsNotElected() {
        context.fence(0);
        context.assignToDirectory(0, 0, ReassignmentTestContext.directory(0, 1));
        context.register(0, List.of(ReassignmentTestContext.directory(0, 1)));
        context.unfence(0);
        context.fence(1);
        assertEquals(NO_LEADER, context.partition(0).leader, "Unexpected leader");
    }

    /** Fails from 4.3.0 on: the directory failed while the broker ran, and was taken out. */
    @Test
    public void testReplicaOfFailedDirectoryIsNotElected() {
        context.failDirectory(0, ReassignmentTestContext.directory(0, 0));
        context.fence(0);
        context.register(0, List.of(ReassignmentTestContext.directory(0, 1)));
        context.assignToDirectory(0, 0, ReassignmentTestContext.directory(0, 1));
        context.unfence(0);
        context.fence(1);
        assertEquals(NO_LEADER, context.partition(0).leader, "Unexpected leader");
    }

    /** Passes: until the broker has said where its new log is, its replica is in no directory that is online. */
    @Test
    public void testReplicaOfTakenDirectoryIsNotElectedBeforeItIsAssigned() {
        context.fence(0);
        context.register(0, List.of(ReassignmentTestContext.directory(0, 1)));
        context.unfence(0);
        context.fence(1);
        assertEquals(NO_LEADER, context.partition(0).leader, "Unexpected leader");
    }

    /** Passes: the replica is where it was. */
    @Test
    public void testReplicaIsElectedIfItsDirectoryIsThere() {
        restartAndElect();
    }

    /** Fails before 4.3.0, where the assignment empties the ELR: a replica moved between two directories is complete. */
    @Test
    public void testReplicaThatMovedBetweenDirectoriesIsElected() {
        context.alterIsr(0, 1);
        context.assignToDirectory(0, 0, ReassignmentTestContext.directory(0, 1));
        restartAndElect();
    }

    private void restartAndElect() {
        context.fence(0);
        context.register(0, List.of(ReassignmentTestContext.directory(0, 0), ReassignmentTestContext.directory(0, 1)));
        context.unfence(0);
        context.fence(1);
        assertEquals(0, context.partition(0).leader, "Unexpected leader");
    }
}
