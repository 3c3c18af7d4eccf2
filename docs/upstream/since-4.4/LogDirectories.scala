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
package kafka.log

import java.util
import java.util.{Optional, Properties}

import kafka.server.KafkaConfig
import org.apache.kafka.common.{TopicPartition, Uuid}
import org.apache.kafka.common.utils.Time
import org.apache.kafka.server.util.KafkaScheduler
import org.apache.kafka.storage.internals.log.{LogDirFailureChannel, UnifiedLog}
import org.apache.kafka.storage.log.metrics.BrokerTopicStats

/** The LogManager of a broker that starts with these directories. */
class LogDirectories(config: KafkaConfig) {

  private val scheduler = new KafkaScheduler(1)
  scheduler.startup()
  private val manager = LogManager(
    config, util.Set.of(), _ => new Properties(), scheduler, Time.SYSTEM, new BrokerTopicStats,
    new LogDirFailureChannel(2))
  manager.startup(util.Set.of())

  def currentLog(topicPartition: TopicPartition): UnifiedLog = manager.getLog(topicPartition).get

  def hasFutureLog(topicPartition: TopicPartition): Boolean = manager.getLog(topicPartition, true).isPresent

  def createLog(topicPartition: TopicPartition, topicId: Uuid, directoryId: Uuid): UnifiedLog =
    manager.getOrCreateLog(topicPartition, true, false, Optional.of(topicId), Optional.of(directoryId))

  def createFutureLog(topicPartition: TopicPartition, topicId: Uuid, directory: String): UnifiedLog = {
    manager.maybeUpdatePreferredLogDir(topicPartition, directory)
    manager.getOrCreateLog(topicPartition, false, true, Optional.of(topicId))
  }

  def recoverAbandonedFutureLogs(
    brokerId: Int,
    topicPartition: TopicPartition,
    topicId: Uuid,
    assignedTo: Uuid
  ): Unit =
    manager.recoverAbandonedFutureLogs(brokerId, (_: Uuid, _: Int, _: Int) => assignedTo)

  def close(): Unit = {
    manager.shutdown()
    scheduler.shutdown()
  }
}
