package kafka

import org.apache.kafka.common.Uuid
import org.apache.kafka.metadata.PartitionRegistration
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints

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
