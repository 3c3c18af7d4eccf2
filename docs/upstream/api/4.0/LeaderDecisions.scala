package kafka.cluster

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.requests.LeaderAndIsrRequest

/** A decision of the controller, as a broker takes it up: in 4.0 and 4.1 still the state of LeaderAndIsr. */
trait LeaderDecisions { this: AbstractPartitionTest =>

  def lead(epoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit =
    partition.makeLeader(decided(brokerId, epoch, partitionEpoch, isr), offsetCheckpoints, None)

  def follow(leader: Int, epoch: Int, partitionEpoch: Int, isr: Seq[Int]): Unit =
    partition.makeFollower(decided(leader, epoch, partitionEpoch, isr), offsetCheckpoints, None)

  private def decided(leader: Int, epoch: Int, partitionEpoch: Int, isr: Seq[Int]) =
    new LeaderAndIsrRequest.PartitionState()
      .setControllerEpoch(0)
      .setLeader(leader)
      .setLeaderEpoch(epoch)
      .setPartitionEpoch(partitionEpoch)
      .setIsr(isr.map(Int.box).asJava)
      .setReplicas(Seq(brokerId, brokerId + 1, brokerId + 2).map(Int.box).asJava)
      .setIsNew(epoch == 0)
}
