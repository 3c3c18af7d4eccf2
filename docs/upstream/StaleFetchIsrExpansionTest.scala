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
package kafka.cluster

import java.util.Optional

import org.apache.kafka.common.{DirectoryId, Uuid}
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.Mockito.when

/**
 * A fetch that a leader validates in epoch 0 and records in epoch 2. In epoch 1 it has followed.
 *
 * `fetchRecords` validates and reads under one lock, and records the offset under another.
 */
class StaleFetchIsrExpansionTest extends AbstractPartitionTest {

  private val followerId = remoteReplicaId
  private val otherLeaderId = brokerId + 2
  private val replicas = Array(brokerId, followerId, otherLeaderId)
  private val uuid = Option(Uuid.randomUuid())

  @BeforeEach
  def knowFollower(): Unit = {
    when(metadataCache.getAliveBrokerEpoch(followerId))
      .thenReturn(Optional.of(Long.box(defaultBrokerEpoch(followerId))))
  }

  /** Fails: the leader asks to add the follower, whose log is empty, to the ISR. */
  @Test
  def testFetchOfFormerEpochDoesNotExpandIsr(): Unit = {
    lead(epoch = 0, isr = replicas)
    val records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord("m1".getBytes))
    partition.localLogOrException.appendAsLeader(records, 0)
    fetchAsFollower(epoch = 0, offset = 0L)
    val replica = partition.getReplica(followerId).get
    val read = fetchAsFollower(epoch = 0, offset = 1L, updateFetchState = false)

    follow(epoch = 1) // The follower truncates.
    lead(epoch = 2, isr = Array(brokerId))
    fetchAsFollower(epoch = 2, offset = 0L)
    assertEquals(0, alterPartitionManager.isrUpdates.size)
    partition.updateFollowerFetchState(
      replica,
      followerFetchOffsetMetadata = read.fetchedData.fetchOffsetMetadata,
      followerStartOffset = 0L,
      followerFetchTimeMs = time.milliseconds(),
      leaderEndOffset = read.logEndOffset,
      brokerEpoch = defaultBrokerEpoch(followerId))

    assertEquals(0, alterPartitionManager.isrUpdates.size, "Unexpected AlterPartition requests")
  }

  /** Passes: a fetch of epoch 2 from the same offset. */
  @Test
  def testFetchOfCurrentEpochExpandsIsr(): Unit = {
    lead(epoch = 2, isr = Array(brokerId))
    assertEquals(0, alterPartitionManager.isrUpdates.size)

    fetchAsFollower(epoch = 2, offset = 0L)

    assertEquals(1, alterPartitionManager.isrUpdates.size, "Unexpected AlterPartition requests")
  }

  private def registration(leader: Int, epoch: Int, isr: Array[Int]): PartitionRegistration =
    new PartitionRegistration.Builder()
      .setLeader(leader)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(epoch)
      .setIsr(isr)
      .setPartitionEpoch(epoch)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()

  private def lead(epoch: Int, isr: Array[Int]): Unit = {
    val isNew = epoch == 0
    partition.makeLeader(registration(brokerId, epoch, isr), isNew, offsetCheckpoints, uuid)
  }

  private def follow(epoch: Int): Unit = {
    val isNew = false
    partition.makeFollower(registration(otherLeaderId, epoch, replicas), isNew, offsetCheckpoints, uuid)
  }

  private def fetchAsFollower(epoch: Int, offset: Long, updateFetchState: Boolean = true) =
    partition.fetchRecords(
      PartitionTest.followerFetchParams(followerId, replicaEpoch = defaultBrokerEpoch(followerId)),
      new FetchRequest.PartitionData(
        Uuid.ZERO_UUID, offset, 0L, Int.MaxValue, Optional.of(Int.box(epoch)), Optional.empty[Integer]),
      time.milliseconds(),
      Int.MaxValue,
      minOneMessage = true,
      updateFetchState)
}
