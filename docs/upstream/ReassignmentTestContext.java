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
package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AssignReplicasToDirsRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.metadata.FinalizedControllerFeatures;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.Replicas;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ConfigSynonym;

import static org.apache.kafka.common.config.ConfigDef.Importance.HIGH;
import static org.apache.kafka.common.config.ConfigDef.Type.BOOLEAN;
import static org.apache.kafka.common.config.ConfigDef.Type.INT;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * A controller with ELR, min.insync.replicas=2 and one topic. Each request is carried out as QuorumController does
 * it: the records are replayed as soon as they are made.
 *
 * It stands in for the context of ReplicationControlManagerTest, which is private to that class.
 */
class ReassignmentTestContext {

    private static final String TOPIC = "foo";
    private static final String CLUSTER_ID = "cluster";
    private static final String MIN_ISR = "min.insync.replicas";
    private static final String UNCLEAN = "unclean.leader.election.enable";

    private final Uuid topicId = Uuid.randomUuid();
    private final FeatureControlManager featureControl;
    private final ClusterControlManager clusterControl;
    private final ReplicationControlManager replicationControl;
    private long nextBrokerEpoch = 100;

    /** A topic with a partition for each list of replicas. Every broker is registered and unfenced. */
    ReassignmentTestContext(int brokers, List<List<Integer>> partitions) {
        featureControl = new FeatureControlManager.Builder().
            setQuorumFeatures(new QuorumFeatures(0, QuorumFeatures.defaultSupportedFeatureMap(true), List.of(0))).
            build();
        setFeature(MetadataVersion.FEATURE_NAME, MetadataVersion.latestProduction().featureLevel());
        setFeature(EligibleLeaderReplicasVersion.FEATURE_NAME, EligibleLeaderReplicasVersion.ELRV_1.featureLevel());
        ConfigDef configs = new ConfigDef().
            define(MIN_ISR, INT, "1", HIGH, "").
            define(UNCLEAN, BOOLEAN, "false", HIGH, "");
        ConfigurationControlManager configurationControl = new ConfigurationControlManager.Builder().
            setFeatureControl(featureControl).
            setStaticConfig(Map.of(MIN_ISR, "2")).
            setKafkaConfigSchema(new KafkaConfigSchema(
                Map.of(ConfigResource.Type.BROKER, configs, ConfigResource.Type.TOPIC, configs),
                Map.of(MIN_ISR, List.of(new ConfigSynonym(MIN_ISR)), UNCLEAN, List.of(new ConfigSynonym(UNCLEAN))))).
            build();
        clusterControl = new ClusterControlManager.Builder().
            setClusterId(CLUSTER_ID).
            setFeatureControlManager(featureControl).
            setBrokerShutdownHandler(this::handleBrokerShutdown).
            build();
        replicationControl = new ReplicationControlManager.Builder().
            setConfigurationControl(configurationControl).
            setClusterControl(clusterControl).
            setFeatureControl(featureControl).
            build();
        clusterControl.activate();
        for (int broker = 0; broker < brokers; broker++) {
            register(broker, -1, List.of(directory(broker, 0), directory(broker, 1)));
            unfence(broker);
        }
        replay(new TopicRecord().setName(TOPIC).setTopicId(topicId));
        for (int index = 0; index < partitions.size(); index++) {
            createPartition(index, partitions.get(index), List.of());
        }
    }

    /** One of the two log directories of a broker. */
    static Uuid directory(int broker, int index) {
        return new Uuid(1000 + broker, index);
    }

    /** A partition whose replicas are in sync, in the first directories of their brokers; those of `elr` are no replicas. */
    void createPartition(int index, List<Integer> replicas, List<Integer> elr) {
        List<Integer> isr = elr.isEmpty() ? replicas : replicas.subList(0, 1);
        replay(new PartitionRecord().
            setTopicId(topicId).
            setPartitionId(index).
            setReplicas(replicas).
            setIsr(isr).
            setEligibleLeaderReplicas(elr).
            setDirectories(replicas.stream().map(broker -> directory(broker, 0)).toList()).
            setLeader(replicas.get(0)).
            setLeaderEpoch(0).
            setPartitionEpoch(0));
    }

    PartitionRegistration partition(int index) {
        return replicationControl.getPartition(topicId, index);
    }

    List<Integer> replicas(int index) {
        return Replicas.toList(partition(index).replicas);
    }

    List<Integer> eligible(int index) {
        return Arrays.stream(partition(index).elr).sorted().boxed().toList();
    }

    /** Asks for other replicas, as kafka-reassign-partitions does. */
    Errors reassign(int index, Integer... replicas) {
        return alterReassignment(new ReassignablePartition().setPartitionIndex(index).setReplicas(List.of(replicas)));
    }

    Errors cancel(int index) {
        return alterReassignment(new ReassignablePartition().setPartitionIndex(index).setReplicas(null));
    }

    /** The leader asks for another ISR. */
    void alterIsr(int index, Integer... isr) {
        PartitionRegistration partition = partition(index);
        var states = Arrays.stream(isr).map(broker -> new AlterPartitionRequestData.BrokerState().
            setBrokerId(broker).setBrokerEpoch(epoch(broker))).toList();
        var data = new AlterPartitionRequestData.PartitionData().
            setPartitionIndex(index).
            setPartitionEpoch(partition.partitionEpoch).
            setLeaderEpoch(partition.leaderEpoch).
            setLeaderRecoveryState(partition.leaderRecoveryState.value()).
            setNewIsrWithEpochs(states);
        var header = new RequestHeaderData().
            setRequestApiKey(ApiKeys.ALTER_PARTITION.id).
            setRequestApiVersion(ApiKeys.ALTER_PARTITION.latestVersion());
        replay(replicationControl.alterPartition(
            new ControllerRequestContext(header, KafkaPrincipal.ANONYMOUS, OptionalLong.empty()),
            new AlterPartitionRequestData().
                setBrokerId(partition.leader).
                setBrokerEpoch(epoch(partition.leader)).
                setTopics(List.of(new AlterPartitionRequestData.TopicData().
                    setTopicId(topicId).
                    setPartitions(List.of(data))))).records());
    }

    /** The broker has shut down, or its session has expired. */
    void fence(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replicationControl.handleBrokerFenced(broker, records);
        replay(records);
    }

    void unfence(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replicationControl.handleBrokerUnfenced(broker, epoch(broker), records);
        replay(records);
    }

    /** The broker comes back after a crash. */
    void restartUncleanly(int broker) {
        register(broker, -1, clusterControl.brokerRegistrations().get(broker).directories());
        unfence(broker);
    }

    /** The broker comes back after a proper shutdown, with these log directories. It is not unfenced yet. */
    void register(int broker, List<Uuid> directories) {
        register(broker, epoch(broker), directories);
    }

    /** The broker has a log of the partition in this directory, and says so. */
    void assignToDirectory(int broker, int index, Uuid directory) {
        replay(replicationControl.handleAssignReplicasToDirs(new AssignReplicasToDirsRequestData().
            setBrokerId(broker).
            setBrokerEpoch(epoch(broker)).
            setDirectories(List.of(new AssignReplicasToDirsRequestData.DirectoryData().
                setId(directory).
                setTopics(List.of(new AssignReplicasToDirsRequestData.TopicData().
                    setTopicId(topicId).
                    setPartitions(List.of(new AssignReplicasToDirsRequestData.PartitionData().
                        setPartitionIndex(index)))))))).records());
    }

    /** A heartbeat of the broker says that the directory has failed. */
    void failDirectory(int broker, Uuid directory) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replicationControl.handleDirectoriesOffline(broker, epoch(broker), List.of(directory), records);
        replay(records);
    }

    private void setFeature(String name, short level) {
        featureControl.replay(new FeatureLevelRecord().setName(name).setFeatureLevel(level));
    }

    private long epoch(int broker) {
        return clusterControl.brokerRegistrations().get(broker).epoch();
    }

    private void register(int broker, long previousBrokerEpoch, List<Uuid> directories) {
        var features = new BrokerRegistrationRequestData.FeatureCollection();
        featureControl.finalizedFeatures(Long.MAX_VALUE).featureMap().forEach((name, level) ->
            features.add(new BrokerRegistrationRequestData.Feature().
                setName(name).setMinSupportedVersion(level).setMaxSupportedVersion(level)));
        replay(clusterControl.registerBroker(
            new BrokerRegistrationRequestData().
                setBrokerId(broker).
                setClusterId(CLUSTER_ID).
                setIncarnationId(Uuid.randomUuid()).
                setFeatures(features).
                setLogDirs(directories).
                setPreviousBrokerEpoch(previousBrokerEpoch),
            nextBrokerEpoch++,
            new FinalizedControllerFeatures(featureControl.finalizedFeatures(Long.MAX_VALUE).featureMap(), 0),
            true).records());
    }

    private void handleBrokerShutdown(int broker, boolean isClean, List<ApiMessageAndVersion> records) {
        replicationControl.handleBrokerShutdown(broker, isClean, records);
    }

    private Errors alterReassignment(ReassignablePartition partition) {
        var result = replicationControl.alterPartitionReassignments(
            new AlterPartitionReassignmentsRequestData().setTopics(List.of(
                new ReassignableTopic().setName(TOPIC).setPartitions(List.of(partition)))));
        replay(result.records());
        assertEquals(1, result.response().responses().get(0).partitions().size());
        return Errors.forCode(result.response().responses().get(0).partitions().get(0).errorCode());
    }

    private void replay(List<ApiMessageAndVersion> records) {
        records.forEach(record -> replay(record.message()));
    }

    private void replay(ApiMessage record) {
        if (record instanceof TopicRecord topic) replicationControl.replay(topic);
        else if (record instanceof PartitionRecord partition) replicationControl.replay(partition);
        else if (record instanceof PartitionChangeRecord change) replicationControl.replay(change);
        else if (record instanceof RegisterBrokerRecord registration) clusterControl.replay(registration, 0);
        else if (record instanceof BrokerRegistrationChangeRecord change) clusterControl.replay(change);
        else throw new IllegalStateException("Unexpected record " + record);
    }
}
