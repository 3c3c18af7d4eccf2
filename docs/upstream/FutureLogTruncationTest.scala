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
package kafka.server

import java.util.Optional

import kafka.cluster.Partition
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset
import org.apache.kafka.server.{LeaderEndPoint, ReplicaState}
import org.apache.kafka.server.common.OffsetAndEpoch
import org.apache.kafka.server.network.BrokerEndPoint
import org.apache.kafka.storage.internals.log.UnifiedLog
import org.apache.kafka.storage.log.metrics.BrokerTopicStats
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.mockito.ArgumentMatchers.{any, anyInt, anyLong}
import org.mockito.Mockito.{doAnswer, mock, verify, when}

/**
 * A follower moves its log to another directory, and its leader has it truncate. The future log has the same records,
 * so it must be told, whichever truncation it is: with truncation on fetch (KIP-595) none need follow.
 *
 * The follower's log: a record of epoch 0, one of epoch 3. The leader never had epoch 3.
 */
class FutureLogTruncationTest {

  private val brokerId = 2
  private val topicPartition = new TopicPartition("foo", 0)
  private val log = mock(classOf[UnifiedLog])
  private val partition = mock(classOf[Partition])
  private val alterLogDirsManager = mock(classOf[ReplicaAlterLogDirsManager])
  private var futureLogTruncations = Seq.empty[Long]

  /** Fails: the leader answers with epoch 2, which the follower does not know, and no further answer follows. */
  @Test
  def testFutureLogIsTruncatedIfFollowerDoesNotKnowTheEpoch(): Unit = {
    truncate(leaderEpoch = 2, endOffset = 2L)
    assertEquals(Seq(1L), futureLogTruncations, "Unexpected truncations of the future log")
  }

  /** Passes: the leader answers with epoch 0, which the follower knows. */
  @Test
  def testFutureLogIsTruncatedIfFollowerKnowsTheEpoch(): Unit = {
    truncate(leaderEpoch = 0, endOffset = 1L)
    assertEquals(Seq(1L), futureLogTruncations, "Unexpected truncations of the future log")
  }

  /** In both cases the follower truncates to offset 1, and fetches from there. */
  private def truncate(leaderEpoch: Int, endOffset: Long): Unit = {
    val fetcher = createFetcher()
    fetcher.addPartitions(Map(topicPartition ->
      InitialFetchState(None, new BrokerEndPoint(0, "localhost", 9092), currentLeaderEpoch = 4, initOffset = 2L)))

    fetcher.truncateOnFetchResponse(Map(topicPartition ->
      new EpochEndOffset().setPartition(topicPartition.partition).setLeaderEpoch(leaderEpoch).setEndOffset(endOffset)))

    verify(partition).truncateTo(1L, isFuture = false)
    val state = fetcher.fetchState(topicPartition).get
    assertEquals(1L, state.fetchOffset)
    assertEquals(ReplicaState.FETCHING, state.state)
  }

  private def createFetcher(): ReplicaFetcherThread = {
    when(log.logEndOffset).thenReturn(2L)
    when(log.latestEpoch).thenReturn(Optional.of(Int.box(3)))
    when(log.endOffsetForEpoch(anyInt)).thenReturn(Optional.of(new OffsetAndEpoch(1L, 0)))
    when(partition.localLogOrException).thenReturn(log)
    doAnswer(call => futureLogTruncations :+= call.getArgument[Long](2))
      .when(alterLogDirsManager).markPartitionsForTruncation(anyInt, any(), anyLong)
    val replicaManager = mock(classOf[ReplicaManager])
    when(replicaManager.brokerTopicStats).thenReturn(mock(classOf[BrokerTopicStats]))
    when(replicaManager.getPartitionOrException(topicPartition)).thenReturn(partition)
    when(replicaManager.localLogOrException(topicPartition)).thenReturn(log)
    when(replicaManager.replicaAlterLogDirsManager).thenReturn(alterLogDirsManager)
    val config = mock(classOf[KafkaConfig])
    when(config.brokerId).thenReturn(brokerId)
    val leader = mock(classOf[LeaderEndPoint])
    when(leader.isTruncationOnFetchSupported).thenReturn(true)
    when(leader.brokerEndPoint).thenReturn(new BrokerEndPoint(0, "localhost", 9092))
    new ReplicaFetcherThread(
      "fetcher", leader, config, new FailedPartitions, replicaManager, quota = null, logPrefix = "")
  }
}
