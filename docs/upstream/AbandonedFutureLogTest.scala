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

import java.nio.file.{Files, Path}
import java.util.Properties

import kafka.server.KafkaConfig
import org.apache.kafka.common.{TopicPartition, Uuid}
import org.apache.kafka.common.compress.Compression
import org.apache.kafka.common.record.internal.{MemoryRecords, SimpleRecord}
import org.apache.kafka.storage.internals.log.UnifiedLog
import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.{AfterEach, Test}
import org.junit.jupiter.api.io.TempDir

import scala.annotation.meta.field

/**
 * A broker starts that ended while it moved a log. The controller has assigned the partition to the directory of the
 * future log (KIP-858), and the broker had not replaced its log yet.
 *
 * Records that came to the log after the future log had caught up are in the log alone.
 */
class AbandonedFutureLogTest {

  @(TempDir @field)
  var folder: Path = _

  private val brokerId = 0
  private val topicId = Uuid.randomUuid()
  private val topicPartition = new TopicPartition("foo", 0)
  private val directoryIds = Seq(Uuid.randomUuid(), Uuid.randomUuid())
  private var manager: LogDirectories = _

  @AfterEach
  def close(): Unit = manager.close()

  /** Fails: the future log takes the place of a log that has one record more. */
  @Test
  def testShorterFutureLogDoesNotReplaceTheLog(): Unit = {
    createLogs()
    append(manager.currentLog(topicPartition), "m1")
    restart()
    assertEquals(2L, manager.currentLog(topicPartition).logEndOffset, "Unexpected log end offset")
  }

  /** Fails: the log was truncated and has other records of a later epoch; the future log does not know of that. */
  @Test
  def testFutureLogOfAnotherEpochDoesNotReplaceTheLog(): Unit = {
    createLogs()
    manager.currentLog(topicPartition).truncateTo(0L)
    append(manager.currentLog(topicPartition), "m0 of the next leader", leaderEpoch = 1)
    restart()
    assertEquals(1, manager.currentLog(topicPartition).latestEpoch.get, "Unexpected leader epoch")
  }

  /** Passes: the future log goes on from where it is, as if the assignment had not been made. */
  @Test
  def testShorterFutureLogIsKept(): Unit = {
    createLogs()
    append(manager.currentLog(topicPartition), "m1")
    restart(assignedTo = directoryIds.head)
    assertEquals(2L, manager.currentLog(topicPartition).logEndOffset)
    assertTrue(manager.hasFutureLog(topicPartition))
  }

  /** Passes: both have the same records, as KAFKA-16082 has it. */
  @Test
  def testFutureLogThatHasCaughtUpReplacesTheLog(): Unit = {
    createLogs()
    restart()
    assertEquals(directory(1), manager.currentLog(topicPartition).parentDir)
    assertFalse(manager.hasFutureLog(topicPartition))
  }

  /** A log with a record in the first directory, and a future log with the same record in the second. */
  private def createLogs(): Unit = {
    directoryIds.indices.foreach { index =>
      Files.createDirectories(Path.of(directory(index)))
      Files.writeString(
        Path.of(directory(index), "meta.properties"),
        s"version=1\ncluster.id=cluster\nnode.id=$brokerId\ndirectory.id=${directoryIds(index)}\n")
    }
    manager = open()
    append(manager.createLog(topicPartition, topicId, directoryIds.head), "m0")
    append(manager.createFutureLog(topicPartition, topicId, directory(1)), "m0")
  }

  private def restart(assignedTo: Uuid = directoryIds.last): Unit = {
    manager.close()
    manager = open()
    manager.recoverAbandonedFutureLogs(brokerId, topicPartition, topicId, assignedTo)
  }

  private def append(log: UnifiedLog, value: String, leaderEpoch: Int = 0): Unit =
    log.appendAsLeader(
      MemoryRecords.withRecords(Compression.NONE, new SimpleRecord(value.getBytes)), leaderEpoch)

  private def directory(index: Int): String = folder.resolve(s"d$index").toString

  private def open(): LogDirectories = {
    val properties = new Properties()
    properties.put("process.roles", "broker")
    properties.put("node.id", brokerId.toString)
    properties.put("controller.listener.names", "CONTROLLER")
    properties.put("controller.quorum.voters", "1@localhost:9093")
    properties.put("log.dirs", directoryIds.indices.map(directory).mkString(","))
    new LogDirectories(KafkaConfig.fromProps(properties))
  }
}
