package kafka.cluster

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Optional

import org.apache.kafka.common.Uuid
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.protocol.Errors
import org.apache.kafka.common.record.{MemoryRecords, SimpleRecord}
import org.apache.kafka.common.requests.FetchRequest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/**
 * A leader that is elected again after somebody else has led for an epoch.
 *
 * Replicas are this broker, which leads in epochs 0 and 2, a follower, and a broker that leads in
 * epoch 1. What a follower had in epoch 0 it may have truncated in epoch 1: in epoch 2 that says
 * nothing until it fetches again.
 */
class MissedLeaderEpochTest extends AbstractPartitionTest with LeaderDecisions {

  private val followerId = brokerId + 1
  private val otherLeaderId = brokerId + 2
  private val everybody = Seq(brokerId, followerId, otherLeaderId)

  /** Fails: the high watermark is 1, and a producer that waits for offset 1 has its acknowledgement. */
  @Test
  def testLeaderThatMissedAnEpochForgetsWhatItsFollowersHad(): Unit = {
    appendOneRecordThatOnlyTheFollowerFetches()

    lead(epoch = 2, partitionEpoch = 2, isr = Seq(brokerId, followerId))

    assertNothingIsCommitted()
  }

  /** Passes: the same, but for the broker hearing of epoch 1. */
  @Test
  def testLeaderThatHeardOfEveryEpochForgetsWhatItsFollowersHad(): Unit = {
    appendOneRecordThatOnlyTheFollowerFetches()

    follow(otherLeaderId, epoch = 1, partitionEpoch = 1, isr = everybody)
    lead(epoch = 2, partitionEpoch = 2, isr = Seq(brokerId, followerId))

    assertNothingIsCommitted()
  }

  private def appendOneRecordThatOnlyTheFollowerFetches(): Unit = {
    lead(epoch = 0, partitionEpoch = 0, isr = everybody)
    val record = new SimpleRecord("m1".getBytes(UTF_8))
    partition.localLogOrException.appendAsLeader(MemoryRecords.withRecords(Compression.NONE, record), 0)
    fetchFromFollower(offset = 0L)
    fetchFromFollower(offset = 1L)

    assertEquals(1L, followerLogEndOffset)
    assertNothingIsCommitted() // The third replica, which is in the ISR, has not fetched it.
  }

  private def fetchFromFollower(offset: Long): Unit = {
    partition.fetchRecords(
      PartitionTest.followerFetchParams(followerId, replicaEpoch = defaultBrokerEpoch(followerId)),
      new FetchRequest.PartitionData(
        Uuid.ZERO_UUID, offset, 0L, Int.MaxValue, Optional.of(Int.box(0)), Optional.empty[Integer]),
      time.milliseconds(),
      Int.MaxValue,
      minOneMessage = true,
      updateFetchState = true)
  }

  private def followerLogEndOffset: Long =
    partition.getReplica(followerId).get.stateSnapshot.logEndOffset

  private def assertNothingIsCommitted(): Unit = {
    assertEquals(0L, partition.localLogOrException.highWatermark, "high watermark")
    // What DelayedProduce asks before it answers a request with acks=all.
    assertEquals((false, Errors.NONE), partition.checkEnoughReplicasReachOffset(1L))
  }
}
