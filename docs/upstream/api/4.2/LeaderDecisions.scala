package kafka.cluster

import org.apache.kafka.common.DirectoryId
import org.apache.kafka.metadata.{LeaderRecoveryState, PartitionRegistration}

/** A decision of the controller, as a broker takes it up: from 4.2 on a PartitionRegistration. */
trait LeaderDecisions { this: AbstractPartitionTest =>

  def lead(epoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit =
    partition.makeLeader(
      decided(brokerId, epoch, partitionEpoch, isr), isNew = epoch == 0, offsetCheckpoints, None)

  def follow(leader: Int, epoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit =
    partition.makeFollower(
      decided(leader, epoch, partitionEpoch, isr), isNew = false, offsetCheckpoints, None)

  private def decided(leader: Int, epoch: Int, partitionEpoch: Int, isr: Seq[Int]) =
    new PartitionRegistration.Builder()
      .setLeader(leader)
      .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
      .setLeaderEpoch(epoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr.toArray)
      .setReplicas(Array(brokerId, brokerId + 1, brokerId + 2))
      .setDirectories(DirectoryId.unassignedArray(3))
      .build()
}
