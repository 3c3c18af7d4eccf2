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
import org.apache.kafka.server.common.RequestLocal
import org.apache.kafka.storage.internals.log.AppendOrigin
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.Mockito.when

/**
 * A leader hears of an ISR that it has asked for by the response, and then by the metadata log. In between it
 * asks to add a follower.
 *
 * The controller may accept the second request, so the high watermark must wait for the follower (KIP-497).
 */
class ReplayedIsrChangeTest extends AbstractPartitionTest {

  private val followerId = remoteReplicaId
  private val replicas = Array(brokerId, followerId)
  private val uuid = Option(Uuid.randomUuid())

  @BeforeEach
  def removeFollower(): Unit = {
    when(metadataCache.getAliveBrokerEpoch(followerId))
      .thenReturn(Optional.of(Long.box(defaultBrokerEpoch(followerId))))
    lead(partitionEpoch = 0, isr = replicas)
    exceedLagTime()
    partition.maybeShrinkIsr()
    alterPartitionManager.completeIsrUpdate(newPartitionEpoch = 1)
    assertEquals(Set(brokerId), partition.inSyncReplicaIds)
  }

  /** Fails: the leader forgets whom it has asked to add, and commits the record alone. */
  @Test
  def testExpansionIsPendingAfterRecordOfKnownPartitionEpoch(): Unit = {
    askToAddFollower()
    lead(partitionEpoch = 1, isr = Array(brokerId))
    assertExpansionIsPending()
  }

  /** Passes: since KAFKA-13790 the leader skips it. */
  @Test
  def testExpansionIsPendingAfterRecordOfOlderPartitionEpoch(): Unit = {
    askToAddFollower()
    lead(partitionEpoch = 0, isr = replicas)
    assertExpansionIsPending()
  }

  /** Passes: the record comes before the request. */
  @Test
  def testExpansionIsPendingIfRecordCameBefore(): Unit = {
    lead(partitionEpoch = 1, isr = Array(brokerId))
    askToAddFollower()
    assertExpansionIsPending()
  }

  /** Passes: a record of a later partition epoch ends the request. */
  @Test
  def testExpansionIsOverAfterRecordOfLaterPartitionEpoch(): Unit = {
    askToAddFollower()
    lead(partitionEpoch = 2, isr = Array(brokerId))
    exceedLagTime()
    appendRecord()

    assertEquals(false, partition.partitionState.isInflight)
    assertEquals(1L, highWatermark, "Unexpected high watermark")
  }

  /** The high watermark waits for the follower, which is in the ISR once the controller has accepted. */
  private def assertExpansionIsPending(): Unit = {
    exceedLagTime()
    appendRecord()
    assertEquals(0L, highWatermark, "Unexpected high watermark")
    alterPartitionManager.completeIsrUpdate(newPartitionEpoch = 2)
    assertEquals(Set(brokerId, followerId), partition.inSyncReplicaIds)
  }

  private def lead(partitionEpoch: Int, isr: Array[Int]): Unit = {
    val registration = new PartitionRegistration.Builder()
      .setLeader(brokerId)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(0)
      .setIsr(isr)
      .setPartitionEpoch(partitionEpoch)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()
    partition.makeLeader(registration, partitionEpoch == 0, offsetCheckpoints, uuid)
  }

  private def highWatermark: Long = partition.localLogOrException.highWatermark

  /** After this the high watermark waits for nobody outside the maximal ISR. */
  private def exceedLagTime(): Unit = time.sleep(partition.replicaLagTimeMaxMs + 1)

  private def appendRecord(): Unit = {
    val records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord("m1".getBytes))
    partition.appendRecordsToLeader(
      records, AppendOrigin.CLIENT, requiredAcks = -1, RequestLocal.withThreadConfinedCaching)
  }

  private def askToAddFollower(): Unit = {
    partition.fetchRecords(
      PartitionTest.followerFetchParams(followerId, replicaEpoch = defaultBrokerEpoch(followerId)),
      new FetchRequest.PartitionData(
        Uuid.ZERO_UUID, 0L, 0L, Int.MaxValue, Optional.of(Int.box(0)), Optional.empty[Integer]),
      time.milliseconds(),
      Int.MaxValue,
      minOneMessage = true,
      updateFetchState = true)
    assertEquals(1, alterPartitionManager.isrUpdates.size, "Unexpected AlterPartition requests")
  }
}
