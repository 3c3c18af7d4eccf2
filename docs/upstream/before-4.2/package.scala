package kafka

import kafka.server.checkpoints.OffsetCheckpoints
import org.apache.kafka.common.Uuid
import org.apache.kafka.metadata.PartitionRegistration

/** Before 4.2 `makeLeader` and `makeFollower` take a LeaderAndIsr state, not a PartitionRegistration. */
package object cluster {

  implicit class PartitionOfPartitionRegistration(partition: Partition) {

    def makeLeader(
      registration: PartitionRegistration,
      isNew: Boolean,
      checkpoints: OffsetCheckpoints,
      topicId: Option[Uuid]
    ): Boolean =
      partition.makeLeader(
        registration.toLeaderAndIsrPartitionState(partition.topicPartition, isNew), checkpoints, topicId)

    def makeFollower(
      registration: PartitionRegistration,
      isNew: Boolean,
      checkpoints: OffsetCheckpoints,
      topicId: Option[Uuid]
    ): Boolean =
      partition.makeFollower(
        registration.toLeaderAndIsrPartitionState(partition.topicPartition, isNew), checkpoints, topicId)
  }
}
