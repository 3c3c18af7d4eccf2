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
import org.apache.kafka.common.record.internal.{BaseRecords, MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.{ByteBufferChannel, FetchRequest}
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}
import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.Test

import scala.jdk.CollectionConverters._

/**
 * A fetch response whose bytes are read from the log after the log was truncated and appended to.
 *
 * KAFKA-18723 lets a follower skip such records if their epoch is above its own. Records of an epoch
 * below the last one in its log pass.
 */
class StaleEpochAppendTest extends AbstractPartitionTest {

  private val replicas = Array(brokerId, remoteReplicaId)

  /** Fails: the record of epoch 2 is appended behind that of epoch 3, and epoch 3 is forgotten. */
  @Test
  def testFollowerDoesNotAppendRecordOfOlderEpochThanItsLast(): Unit = {
    follow(epoch = 3)
    append(record(epoch = 1, offset = 0L), leaderEpoch = 3)
    append(record(epoch = 3, offset = 1L), leaderEpoch = 3)
    assertEquals((3, 2L), endOfEpoch(3))

    append(record(epoch = 2, offset = 2L), leaderEpoch = 3)

    assertEquals((3, 2L), endOfEpoch(3), "Unexpected end of epoch 3")
    assertEquals((1, 1L), endOfEpoch(1))
    assertEquals(2L, partition.localLogOrException.logEndOffset)
  }

  /** Passes: KAFKA-18723. */
  @Test
  def testFollowerDoesNotAppendRecordOfLaterEpochThanItsOwn(): Unit = {
    follow(epoch = 3)
    append(record(epoch = 1, offset = 0L), leaderEpoch = 3)
    append(record(epoch = 3, offset = 1L), leaderEpoch = 3)

    append(record(epoch = 4, offset = 2L), leaderEpoch = 3)

    assertEquals((3, 2L), endOfEpoch(3), "Unexpected end of epoch 3")
    assertEquals(2L, partition.localLogOrException.logEndOffset)
  }

  /**
   * Passes: how such a record comes to a follower. A leader of epoch 3 reads for a fetch. It follows in
   * epoch 4, truncates, and appends a record of epoch 2, which the leader of epoch 4 has. Then it sends.
   */
  @Test
  def testFetchResponseSentAfterTruncationHasOtherRecords(): Unit = {
    val response = readRecordOfEpoch3AsLeader()

    truncateAndAppendRecordOfEpoch2()

    assertEquals(Seq(2), epochsSent(response))
  }

  /** Passes: the response is sent first. */
  @Test
  def testFetchResponseSentBeforeTruncationHasTheRecordsThatWereRead(): Unit = {
    val response = readRecordOfEpoch3AsLeader()

    val sent = epochsSent(response)
    truncateAndAppendRecordOfEpoch2()

    assertEquals(Seq(3), sent)
  }

  /**
   * Passes: what follows from it. The leader of epoch 3 has two records of epoch 1. The follower has one of
   * epoch 2 and one of epoch 1 behind it. It is told to truncate if it says 2, and not if it says 1.
   */
  @Test
  def testLeaderFindsDivergenceByTheLastEpochOfTheFollower(): Unit = {
    follow(epoch = 1)
    append(record(epoch = 1, offset = 0L), leaderEpoch = 1)
    append(record(epoch = 1, offset = 1L), leaderEpoch = 1)
    lead(epoch = 3)

    assertFalse(fetchAsFollower(offset = 2L, lastFetchedEpoch = Optional.of(Int.box(2))).divergingEpoch.isEmpty)
    assertTrue(fetchAsFollower(offset = 2L, lastFetchedEpoch = Optional.of(Int.box(1))).divergingEpoch.isEmpty)
  }

  private def readRecordOfEpoch3AsLeader() = {
    lead(epoch = 3)
    partition.localLogOrException.appendAsLeader(record(epoch = 3, offset = 0L), 3)
    fetchAsFollower(offset = 0L, lastFetchedEpoch = Optional.empty[Integer]).fetchedData.records
  }

  private def fetchAsFollower(offset: Long, lastFetchedEpoch: Optional[Integer]) =
    partition.fetchRecords(
      PartitionTest.followerFetchParams(remoteReplicaId, replicaEpoch = defaultBrokerEpoch(remoteReplicaId)),
      new FetchRequest.PartitionData(
        Uuid.ZERO_UUID, offset, 0L, Int.MaxValue, Optional.of(Int.box(3)), lastFetchedEpoch),
      time.milliseconds(),
      Int.MaxValue,
      minOneMessage = true,
      updateFetchState = true)

  private def truncateAndAppendRecordOfEpoch2(): Unit = {
    follow(epoch = 4)
    partition.truncateTo(0L, isFuture = false)
    append(record(epoch = 2, offset = 0L), leaderEpoch = 4)
  }

  /** Writes a response as the network layer does, and reads the epochs of what was written. */
  private def epochsSent(response: BaseRecords): Seq[Int] = {
    val channel = new ByteBufferChannel(response.sizeInBytes)
    response.toSend.writeTo(channel)
    channel.close()
    MemoryRecords.readableRecords(channel.buffer).batches.asScala.map(_.partitionLeaderEpoch).toSeq
  }

  private def lead(epoch: Int): Unit = {
    val isNew = true
    partition.makeLeader(registration(brokerId, epoch), isNew, offsetCheckpoints, None)
  }

  private def follow(epoch: Int): Unit = {
    val isNew = false
    partition.makeFollower(registration(remoteReplicaId, epoch), isNew, offsetCheckpoints, None)
  }

  private def registration(leader: Int, epoch: Int): PartitionRegistration =
    new PartitionRegistration.Builder()
      .setLeader(leader)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(epoch)
      .setIsr(replicas)
      .setPartitionEpoch(epoch)
      .setReplicas(replicas)
      .setDirectories(DirectoryId.unassignedArray(replicas.length))
      .build()

  private def record(epoch: Int, offset: Long): MemoryRecords =
    MemoryRecords.withRecords(offset, Compression.NONE, epoch, new SimpleRecord(s"epoch $epoch".getBytes))

  private def append(records: MemoryRecords, leaderEpoch: Int): Unit =
    partition.appendRecordsToFollowerOrFutureReplica(records, isFuture = false, leaderEpoch)

  /** The answer to OffsetsForLeaderEpoch, by which a leader finds where a follower diverges. */
  private def endOfEpoch(epoch: Int): (Int, Long) = {
    val end = partition.lastOffsetForLeaderEpoch(Optional.empty[Integer], epoch, fetchOnlyFromLeader = false)
    (end.leaderEpoch, end.endOffset)
  }
}
