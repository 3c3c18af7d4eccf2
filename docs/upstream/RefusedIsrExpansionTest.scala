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
import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.apache.kafka.server.common.RequestLocal
import org.apache.kafka.storage.internals.log.AppendOrigin
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.{BeforeEach, Test}
import org.mockito.Mockito.when

/**
 * A leader, alone in the ISR, that asks to add a follower and appends a record. The follower is fenced.
 *
 * While the leader asks, the high watermark waits for the follower as well (KIP-497). If the controller
 * refuses, the leader alone is in sync again, and every record is committed.
 */
class RefusedIsrExpansionTest extends AbstractPartitionTest {

  private val followerId = remoteReplicaId
  private val replicas = Array(brokerId, followerId)
  private val uuid = Option(Uuid.randomUuid())

  @BeforeEach
  def leadAndAskToAddFollower(): Unit = {
    when(metadataCache.getAliveBrokerEpoch(followerId))
      .thenReturn(Optional.of(Long.box(defaultBrokerEpoch(followerId))))
    lead(partitionEpoch = 0)
    fetchAsFollower(offset = 0L)
    assertEquals(1, alterPartitionManager.isrUpdates.size)
    appendRecord()
    assertEquals(0L, highWatermark)
    when(metadataCache.isBrokerFenced(followerId)).thenReturn(true)
  }

  /** Fails: the high watermark is 0, and stays 0 until a record is appended or a follower fetches. */
  @Test
  def testHighWatermarkAdvancesIfExpansionIsRefused(): Unit = {
    alterPartitionManager.failIsrUpdate(Errors.INELIGIBLE_REPLICA)

    assertEquals(Set(brokerId), partition.inSyncReplicaIds)
    assertEquals(false, partition.partitionState.isInflight)
    assertEquals(1L, highWatermark, "Unexpected high watermark")
  }

  /** Passes: new metadata, of another partition epoch, ends the request. */
  @Test
  def testHighWatermarkAdvancesIfMetadataOverridesExpansion(): Unit = {
    lead(partitionEpoch = 1)

    assertEquals(Set(brokerId), partition.inSyncReplicaIds)
    assertEquals(1L, highWatermark, "Unexpected high watermark")
  }

  private def lead(partitionEpoch: Int): Unit = {
    val registration = new PartitionRegistration.Builder()
      .setLeader(brokerId)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(0)
      .setIsr(Array(brokerId))
      .setPartitionEpoch(partitionEpoch)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()
    val isNew = partitionEpoch == 0
    partition.makeLeader(registration, isNew, offsetCheckpoints, uuid)
  }

  private def highWatermark: Long = partition.localLogOrException.highWatermark

  private def appendRecord(): Unit = {
    val records = MemoryRecords.withRecords(Compression.NONE, new SimpleRecord("m1".getBytes))
    partition.appendRecordsToLeader(
      records, AppendOrigin.CLIENT, requiredAcks = -1, RequestLocal.withThreadConfinedCaching)
  }

  private def fetchAsFollower(offset: Long): Unit =
    partition.fetchRecords(
      PartitionTest.followerFetchParams(followerId, replicaEpoch = defaultBrokerEpoch(followerId)),
      new FetchRequest.PartitionData(
        Uuid.ZERO_UUID, offset, 0L, Int.MaxValue, Optional.of(Int.box(0)), Optional.empty[Integer]),
      time.milliseconds(),
      Int.MaxValue,
      minOneMessage = true,
      updateFetchState = true)
}
