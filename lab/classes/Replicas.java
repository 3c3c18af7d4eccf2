// Replicas of one partition, made of a released Kafka's own classes, in one process and without a network.
//
// A broker is a ReplicaManager with its LogManager, and its fetcher threads, which are not started: each step that
// the harness names is taken when it is named. The harness is the controller. A line of standard input is a path,
// a line of standard output what was seen before its first step and after each. A line that ends in a comment with a
// release is compiled for that release alone; imports are as 4.4 has them (jvm.py has the names of 3.9).

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kafka.cluster.Partition;
import kafka.log.LogManager; // 3.9
import kafka.server.BlockingSend;
import kafka.server.DelayedFetch;
import kafka.server.KafkaConfig;
import kafka.server.RemoteLeaderEndPoint;
import kafka.server.ReplicaFetcherManager;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.FetchSessionHandler;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.InvalidUpdateVersionException;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.server.common.DirectoryEventHandler;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.network.BrokerEndPoint;
import org.apache.kafka.server.partition.AlterPartitionManager;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;
import org.apache.kafka.server.quota.QuotaFactory;
import org.apache.kafka.server.quota.ReplicationQuotaManager;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.FileLock;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager; // 4.4
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

public final class Replicas {
    static final TopicPartition PARTITION = new TopicPartition("t", 0);
    static final Uuid TOPIC_ID = new Uuid(1, 1);
    static final TopicIdPartition WITH_ID = new TopicIdPartition(TOPIC_ID, PARTITION);
    static final int LAG_MS = 10_000;
    static final int NOBODY = -1;
    static final MetadataVersion METADATA = MetadataVersion.fromVersionString("3.6-IV2", true); // 4.4
    static final MetadataVersion METADATA = MetadataVersion.fromVersionString("3.6-IV2"); // 3.9
    static final ObjectMapper JSON = new ObjectMapper();

    // As numbers that the model has for roles and for requests of a follower.
    static final int NO_ROLE = 0, LEADS = 1, TRUNCATES = 2, FETCHES = 3;
    static final int IDLE = 0, REQUESTED = 1, ANSWERED = 2;

    final File folder;
    final int replicas;
    /** True if a fetch waits for more than there is, and is answered when its time is over. */
    final boolean waits;

    final Metrics metrics = new Metrics();
    final BrokerTopicStats stats = new BrokerTopicStats(); // 4.4
    final BrokerTopicStats stats = new BrokerTopicStats(false); // 3.9
    final Map<Integer, KafkaConfig> configs = new HashMap<>();
    final Map<Integer, Pump> pumps = new HashMap<>();
    QuotaFactory.QuotaManagers quotas;

    // Of one path.
    Clock clock;
    Controller controller;
    Broker[] brokers;
    TreeSet<Integer> acknowledged;
    int produced;

    Replicas(File folder, int replicas, Set<String> options) {
        this.folder = folder;
        this.replicas = replicas;
        this.waits = options.contains("waits");
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
        System.setOut(System.err);
        Replicas replicas =
            new Replicas(new File(arguments[0]), Integer.parseInt(arguments[1]), Set.of(arguments[2].split(",")));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int code = 1;
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(JSON.writeValueAsString(replicas.replay(JSON.readTree(line))));
                out.flush();
            }
            code = 0;
        } catch (Throwable failure) {
            failure.printStackTrace();
        } finally {
            Runtime.getRuntime().halt(code);
        }
    }

    // --- a path ------------------------------------------------------------------------------------

    ArrayNode replay(JsonNode path) throws Exception {
        clock = new Clock();
        controller = new Controller();
        controller.follow(path.get("controller"));
        brokers = new Broker[replicas];
        acknowledged = new TreeSet<>();
        produced = 0;
        ArrayNode seen = JSON.createArrayNode();
        try {
            for (int id = 0; id < replicas; id++) {
                clear(new File(folder, "broker" + id).toPath());
                brokers[id] = new Broker(id);
            }
            for (Broker broker : brokers) broker.learn();
            for (Broker broker : brokers) settle(broker);
            seen.add(observe(""));
            for (JsonNode step : path.get("steps")) {
                String problem = "";
                try {
                    take(step);
                } catch (Exception | AssertionError failure) {
                    problem = String.valueOf(failure);
                }
                clock.sleep(LAG_MS + 1);
                ObjectNode found = observe(problem);
                seen.add(found);
                if (!problem.isEmpty()) break;
            }
        } finally {
            for (Broker broker : brokers) if (broker != null) broker.end();
        }
        return seen;
    }

    /** A follower of the first state has asked its questions, and fetched once. */
    void settle(Broker broker) throws Exception {
        if (broker.id == controller.leader) return;
        broker.work();
        broker.send();
        broker.carry();
        broker.receive();
    }

    void take(JsonNode step) throws Exception {
        String action = step.get("action").asText();
        if (step.has("controller")) controller.follow(step.get("controller"));
        Broker broker = step.has("broker") ? brokers[step.get("broker").asInt()] : null;
        switch (action) {
            case "Produce" -> broker.produce(++produced);
            case "Learn" -> broker.learn();
            case "OffsetForLeaderEpoch" -> broker.work();
            case "SendFetch" -> broker.send();
            case "LeaderFetch" -> broker.carry();
            case "RecvFetch" -> broker.receive();
            case "ShrinkIsr" -> broker.partition().maybeShrinkIsr();
            case "Checkpoint" -> broker.manager.checkpointHighWatermarks();
            case "Crash" -> crash(broker);
            case "Restart" -> brokers[step.get("replica").asInt()] = new Broker(step.get("replica").asInt());
            case "Fence", "Move" -> { }
            default -> throw new IllegalArgumentException("no such step: " + action);
        }
        for (Broker each : brokers) if (each != null) each.manager.tryCompleteActions();
    }

    void crash(Broker broker) throws Exception {
        brokers[broker.id] = null;
        broker.end();
        for (Broker each : brokers) if (each != null && each.followed() == broker.id) each.disconnect();
    }

    static void clear(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path each : files.sorted((a, b) -> b.compareTo(a)).collect(Collectors.toList())) Files.delete(each);
            }
        }
        Files.createDirectories(folder);
    }

    ObjectNode observe(String problem) throws Exception {
        ObjectNode found = JSON.createObjectNode();
        if (!problem.isEmpty()) found.put("problem", problem);
        ArrayNode isr = found.putArray("isr");
        controller.isr.forEach(isr::add);
        ArrayNode acked = found.putArray("acked");
        acknowledged.forEach(acked::add);
        ArrayNode each = found.putArray("brokers");
        for (Broker broker : brokers) {
            if (broker == null) each.addNull();
            else each.add(broker.observe());
        }
        return found;
    }

    // --- the controller ----------------------------------------------------------------------------

    final class Controller {
        int leader, epoch, partitionEpoch = -1;
        List<Integer> isr = List.of();

        /** Decides as the model's controller does. */
        void follow(JsonNode decided) {
            leader = decided.get("leader").asInt();
            epoch = decided.get("epoch").asInt();
            isr = ints(decided.get("isr"));
            partitionEpoch++;
        }

        /** A leader asks for another ISR, which is granted unless the leader is outdated. */
        CompletableFuture<LeaderAndIsr> ask(LeaderAndIsr wanted) {
            if (wanted.leader() != leader || wanted.leaderEpoch() != epoch || wanted.partitionEpoch() != partitionEpoch) {
                return CompletableFuture.failedFuture(new InvalidUpdateVersionException("outdated"));
            }
            isr = members(wanted);
            partitionEpoch++;
            return CompletableFuture.completedFuture(wanted.withPartitionEpoch(partitionEpoch));
        }

        MetadataImage image(MetadataImage before) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(before).build();
            replay(delta);
            return delta.apply(new MetadataProvenance(partitionEpoch, epoch, 0, true)); // 4.4
            return delta.apply(new MetadataProvenance(partitionEpoch, epoch, 0)); // 3.9
        }

        void replay(MetadataDelta delta) {
            if (delta.image().isEmpty()) {
                delta.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(METADATA.featureLevel()));
                delta.replay(new TopicRecord().setName(PARTITION.topic()).setTopicId(TOPIC_ID));
            }
            for (int id = 0; id < replicas; id++) {
                RegisterBrokerRecord.BrokerEndpointCollection ends = new RegisterBrokerRecord.BrokerEndpointCollection();
                ends.add(new RegisterBrokerRecord.BrokerEndpoint().setName("PLAINTEXT").setHost("localhost")
                    .setPort(9000 + id).setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
                delta.replay(new RegisterBrokerRecord().setBrokerId(id).setEndPoints(ends).setFenced(false));
            }
            List<Integer> all = new ArrayList<>();
            for (int id = 0; id < replicas; id++) all.add(id);
            delta.replay(new PartitionRecord().setTopicId(TOPIC_ID).setPartitionId(0).setReplicas(all).setIsr(isr)
                .setLeader(leader).setLeaderEpoch(epoch).setPartitionEpoch(partitionEpoch));
        }
    }

    static List<Integer> ints(JsonNode found) {
        List<Integer> numbers = new ArrayList<>();
        found.forEach(each -> numbers.add(each.asInt()));
        return numbers;
    }

    static List<Integer> members(LeaderAndIsr wanted) {
        return new TreeSet<>(wanted.isr()).stream().collect(Collectors.toList()); // 4.4
        TreeSet<Integer> found = new TreeSet<>(); // 3.9
        wanted.isr().foreach(each -> found.add((Integer) each)); // 3.9
        return new ArrayList<>(found); // 3.9
    }

    // --- a broker ----------------------------------------------------------------------------------

    final class Broker {
        final int id;
        final KRaftMetadataCache cache;
        final LogManager logs;
        final ReplicaManager manager;
        final Pump pump;
        final File directory;
        MetadataImage image = MetadataImage.EMPTY;
        int fetch = IDLE;
        Errors refusal = Errors.NONE;

        /** Starts from what is in its folder. */
        Broker(int id) throws Exception {
            this.id = id;
            directory = new File(folder, "broker" + id);
            KafkaConfig config = configs.computeIfAbsent(id, Replicas.this::config);
            if (quotas == null) quotas = QuotaFactory.instantiate(config, metrics, clock, "", "broker"); // 4.4
            if (quotas == null) quotas = QuotaFactory.instantiate(config, metrics, clock, ""); // 3.9
            pump = pumps.computeIfAbsent(id, Pump::new);
            cache = new KRaftMetadataCache(id, () -> KRaftVersion.KRAFT_VERSION_0);
            LogDirFailureChannel failures = new LogDirFailureChannel(1);
            Now scheduler = new Now();
            logs = kafka.log.LogManager.apply(config, Set.of(), cache, scheduler, clock, stats, failures); // 4.4
            logs.loadLogs(logs.currentDefaultConfig(), Map.of(), each -> false); // 4.4
            logs = LogManager.apply(config, scala(new ArrayList<String>()), cache, scheduler, clock, stats, failures, true); // 3.9
            logs.loadLogs(logs.currentDefaultConfig(), scala(Map.of()), each -> false); // 3.9
            AlterPartitionManager alter = new Asking();
            making.set(this);
            manager = new Manager(this, config, scheduler, failures, alter);
            making.set(null);
        }

        Partition partition() {
            return manager.getPartitionOrException(PARTITION);
        }

        boolean hosts() {
            return manager.onlinePartition(PARTITION).isDefined();
        }

        int followed() {
            return hosts() && !partition().isLeader() ? leaderOf(partition()) : NOBODY;
        }

        /** The newest metadata arrives. An answer that is on its way comes after it, a request is lost. */
        void learn() throws Exception {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
            controller.replay(delta);
            image = controller.image(image);
            cache.setImage(image);
            manager.applyDelta(delta.topicsDelta(), image);
            if (fetch == IDLE || pump.answer == null) disconnect();
            else receive();
        }

        void produce(int record) {
            SimpleRecord value = new SimpleRecord(clock.milliseconds(), null, String.valueOf(record).getBytes(StandardCharsets.UTF_8));
            MemoryRecords batch = MemoryRecords.withRecords(Compression.NONE, value);
            manager.appendRecords(LAG_MS, (short) -1, false, AppendOrigin.CLIENT, // 4.4
                scala(Map.of(WITH_ID, batch)), each -> acknowledge(record, each.get(WITH_ID)), // 4.4
                each -> BoxedUnit.UNIT, RequestLocal.noCaching(), scala(Map.of()), (short) 0); // 4.4
            manager.appendRecords(LAG_MS, (short) -1, false, AppendOrigin.CLIENT, // 3.9
                scala(Map.of(PARTITION, batch)), each -> acknowledge(record, each.apply(PARTITION)), Option.empty(), // 3.9
                each -> BoxedUnit.UNIT, RequestLocal.NoCaching(), new kafka.server.DelayedActionQueue(), scala(Map.of())); // 3.9
        }

        BoxedUnit acknowledge(int record, ProduceResponse.PartitionResponse answer) {
            if (answer.error == Errors.NONE) acknowledged.add(record);
            return BoxedUnit.UNIT;
        }

        // The fetcher: its thread runs up to the request, and on with the answer.

        Fetcher fetcher() {
            Option<ReplicaFetcherThread> found = manager.replicaFetcherManager().getFetcher(PARTITION);
            return found.isDefined() ? (Fetcher) found.get() : null;
        }

        /** One round of the fetcher, up to the request to fetch, which is not sent yet. */
        void work() throws Exception {
            Fetcher fetcher = fetcher();
            if (fetcher != null && !pump.isHeld()) pump.run(fetcher::doWork);
        }

        void send() throws Exception {
            if (!pump.isHeld()) work();
            refusal = Errors.NONE;
            if (pump.isHeld()) fetch = REQUESTED;
        }

        /** The request reaches its leader. The answer is kept, but an error arrives at once. */
        void carry() throws Exception {
            if (fetch != REQUESTED) return;
            Broker leader = brokers[pump.to];
            if (leader == null) {
                disconnect();
                return;
            }
            FetchResponseData.PartitionData answer = leader.fetched(this, (FetchRequest) pump.request);
            pump.answer = response(answer);
            Errors error = Errors.forCode(answer.errorCode());
            if (error == Errors.NONE) {
                fetch = ANSWERED;
            } else {
                refusal = error;
                receive();
            }
        }

        void receive() throws Exception {
            if (!pump.isHeld()) return;
            AbstractResponse answer = pump.answer;
            fetch = IDLE;
            pump.resume(answer);
        }

        void disconnect() throws Exception {
            fetch = IDLE;
            if (pump.isHeld()) pump.resume(null);
        }

        // The leader's side.

        FetchResponseData.PartitionData fetched(Broker follower, FetchRequest request) throws Exception {
            var asked = request.fetchData(Map.of(TOPIC_ID, PARTITION.topic()));
            List<Tuple2<TopicIdPartition, FetchRequest.PartitionData>> wanted = new ArrayList<>();
            asked.forEach((each, data) -> wanted.add(new Tuple2<>(each, data)));
            AtomicReference<FetchPartitionData> found = new AtomicReference<>();
            int bytesMin = waits ? Integer.MAX_VALUE : 0;
            FetchParams how = new FetchParams( // 4.4
            FetchParams how = new FetchParams(request.version(), // 3.9
                follower.id, -1, waits ? 1 : 0, bytesMin, Integer.MAX_VALUE,
                FetchIsolation.LOG_END, Optional.empty());
            manager.fetchMessages(how, scala(wanted).toSeq(), QuotaFactory.UNBOUNDED_QUOTA, each -> { // 4.4
            manager.fetchMessages(how, scala(wanted).toSeq(), QuotaFactory.UnboundedQuota$.MODULE$, each -> { // 3.9
                found.set(each.head()._2());
                return BoxedUnit.UNIT;
            });
            manager.tryCompleteActions();
            expiring.runAll();
            FetchPartitionData data = found.get();
            FetchResponseData.PartitionData answer = new FetchResponseData.PartitionData()
                .setPartitionIndex(0).setErrorCode(data.error.code()).setHighWatermark(data.highWatermark)
                .setLastStableOffset(data.lastStableOffset.orElse(-1)).setLogStartOffset(data.logStartOffset)
                .setRecords(inMemory(data.records));
            data.divergingEpoch.ifPresent(answer::setDivergingEpoch);
            return answer;
        }

        AbstractResponse asked(AbstractRequest request) {
            OffsetsForLeaderEpochRequest question = (OffsetsForLeaderEpochRequest) request;
            var answers = manager.lastOffsetForLeaderEpoch(scala(new ArrayList<>(question.data().topics())).toSeq());
            var topics = new OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResultCollection();
            CollectionConverters.asJava(answers).forEach(topics::add);
            return new OffsetsForLeaderEpochResponse(new OffsetForLeaderEpochResponseData().setTopics(topics));
        }

        // What can be seen.

        UnifiedLog log() {
            return hosts() ? partition().localLogOrException() : logs.getLog(PARTITION, false).orElse(null); // 4.4
            return hosts() ? partition().localLogOrException() : (UnifiedLog) logs.getLog(PARTITION, false).getOrElse(() -> null); // 3.9
        }

        LeaderEpochFileCache epochs() {
            return log().leaderEpochCache(); // 4.4
            return log().leaderEpochCache().get(); // 3.9
        }

        ObjectNode observe() throws Exception {
            ObjectNode found = JSON.createObjectNode();
            UnifiedLog log = log();
            found.put("leo", log.logEndOffset());
            ArrayNode records = found.putArray("log");
            Records read = (Records) log.read(0, Integer.MAX_VALUE, FetchIsolation.LOG_END, true).records;
            for (RecordBatch batch : read.batches()) {
                for (Record record : batch) {
                    ObjectNode each = records.addObject();
                    each.put("offset", record.offset());
                    each.put("epoch", batch.partitionLeaderEpoch());
                    each.put("record", Integer.parseInt(StandardCharsets.UTF_8.decode(record.value()).toString()));
                }
            }
            ArrayNode cached = found.putArray("epochs");
            epochs().epochEntries().forEach(each -> cached.addArray().add(each.epoch).add(each.startOffset)); // 3.9
            epochs().epochEntries().forEach(each -> cached.addArray().add(each.epoch()).add(each.startOffset())); // 4.4
            found.put("checkpoint", checkpoint());
            found.put("fetch", fetch);
            found.put("role", NO_ROLE);
            if (hosts()) observePartition(found);
            return found;
        }

        void observePartition(ObjectNode found) {
            Partition partition = partition();
            found.put("known_epoch", partition.getLeaderEpoch());
            found.put("hw", partition.localLogOrException().highWatermark());
            if (partition.isLeader()) {
                found.put("role", LEADS);
                ArrayNode isr = found.putArray("known_isr");
                sorted(partition.partitionState().isr()).forEach(isr::add);
                ArrayNode most = found.putArray("maximal_isr");
                sorted(partition.partitionState().maximalIsr()).forEach(most::add);
                ObjectNode ends = found.putObject("remote_leo");
                for (int follower = 0; follower < replicas; follower++) {
                    if (follower != id) ends.put(String.valueOf(follower), partition.getReplica(follower).get().stateSnapshot().logEndOffset());
                }
                return;
            }
            found.put("known_leader", leaderOf(partition));
            Fetcher fetcher = fetcher();
            found.put("refusal", refusal.name());
            if (fetcher != null) found.put("role", fetcher.fetchState(PARTITION).get().isTruncating() ? TRUNCATES : FETCHES);
        }

        long checkpoint() throws IOException {
            Long written = new OffsetCheckpointFile(new File(directory, "replication-offset-checkpoint"), null).read().get(PARTITION); // 4.4
            var all = new kafka.server.checkpoints.OffsetCheckpointFile(new File(directory, "replication-offset-checkpoint"), null).read(); // 3.9
            Long written = (Long) all.getOrElse(PARTITION, () -> null); // 3.9
            return written == null ? 0 : written;
        }

        /** The process is gone: its memory and connections, and no file says that it ended well. */
        void end() throws Exception {
            disconnect();
            if (log() != null) log().close();
            Field locks = logs.getClass().getDeclaredField("dirLocks");
            locks.setAccessible(true);
            for (FileLock lock : (List<FileLock>) locks.get(logs)) lock.destroy(); // 4.4
            for (FileLock lock : CollectionConverters.asJava((scala.collection.Seq<FileLock>) locks.get(logs))) lock.destroy(); // 3.9
        }
    }

    static final ThreadLocal<Broker> making = new ThreadLocal<>();
    final Expiring expiring = new Expiring();

    static int leaderOf(Partition partition) {
        return partition.leaderReplicaIdOpt().isDefined() ? (Integer) partition.leaderReplicaIdOpt().get() : NOBODY;
    }

    static TreeSet<Integer> sorted(Set<Integer> members) { // 4.4
        return new TreeSet<>(members); // 4.4
    } // 4.4
    static TreeSet<Integer> sorted(scala.collection.immutable.Set<Object> members) { // 3.9
        TreeSet<Integer> found = new TreeSet<>(); // 3.9
        members.foreach(each -> found.add((Integer) each)); // 3.9
        return found; // 3.9
    } // 3.9

    static MemoryRecords inMemory(org.apache.kafka.common.record.internal.BaseRecords records) throws IOException {
        if (!(records instanceof FileRecords)) return (MemoryRecords) records;
        ByteBuffer bytes = ByteBuffer.allocate(records.sizeInBytes());
        ((FileRecords) records).readInto(bytes, 0);
        return MemoryRecords.readableRecords(bytes);
    }

    static FetchResponse response(FetchResponseData.PartitionData answer) {
        return FetchResponse.of(Errors.NONE, 0, 0, new LinkedHashMap<>(Map.of(WITH_ID, answer)), List.of());
    }

    KafkaConfig config(int id) {
        Properties properties = new Properties();
        properties.put("process.roles", "broker");
        properties.put("node.id", String.valueOf(id));
        properties.put("controller.quorum.voters", "100@localhost:8999");
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listeners", "PLAINTEXT://localhost:" + (9000 + id));
        properties.put("log.dirs", new File(folder, "broker" + id).getPath());
        properties.put("log.cleaner.enable", "false"); // 3.9
        properties.put("log.index.size.max.bytes", "4096");
        properties.put("replica.lag.time.max.ms", String.valueOf(LAG_MS));
        properties.put("replica.fetch.backoff.ms", "0");
        return new KafkaConfig(properties);
    }

    static <T> scala.collection.mutable.Buffer<T> scala(List<T> of) {
        return CollectionConverters.asScala(of);
    }

    static <K, V> scala.collection.Map<K, V> scala(Map<K, V> of) {
        return CollectionConverters.asScala(of);
    }

    // --- Kafka's classes, without their network ----------------------------------------------------

    final class Manager extends ReplicaManager {
        Manager(Broker broker, KafkaConfig config, Scheduler scheduler, LogDirFailureChannel failures, AlterPartitionManager alter) {
            super(config, metrics, clock, scheduler, broker.logs, Option.empty(), quotas, broker.cache, failures, alter, stats,
                new java.util.concurrent.atomic.AtomicBoolean(false), Option.empty(), // 3.9
                purgatory(), purgatory(), purgatory(), purgatory(), purgatory(), // 3.9
                purgatory(), purgatory(), purgatory(), purgatory(), purgatory(), purgatory(), // 4.4
                Option.empty(), // 3.9
                () -> -1L, Option.empty(), DirectoryEventHandler.NOOP
                , new org.apache.kafka.server.DelayedActionQueue() // 4.4
            );
        }

        @Override
        public ReplicaFetcherManager createReplicaFetcherManager(Metrics metrics, Time time, ReplicationQuotaManager quota) { // 4.4
        public ReplicaFetcherManager createReplicaFetcherManager(Metrics metrics, Time time, Option<String> prefix, ReplicationQuotaManager quota) { // 3.9
            Broker broker = making.get();
            return new ReplicaFetcherManager(config(), this, metrics, time, quota, () -> METADATA, () -> -1L) { // 4.4
            return new ReplicaFetcherManager(config(), this, metrics, time, prefix, quota, () -> METADATA, () -> -1L) { // 3.9
                @Override
                public ReplicaFetcherThread createFetcherThread(int number, BrokerEndPoint leader) {
                    return new Fetcher(broker, this, Manager.this, leader);
                }
            };
        }
    }

    <T extends org.apache.kafka.server.purgatory.DelayedOperation> Option<DelayedOperationPurgatory<T>> purgatory() {
        return Option.apply(new DelayedOperationPurgatory<T>("waits", expiring, 0, 1000, false, true));
    }

    final class Fetcher extends ReplicaFetcherThread {
        Fetcher(Broker broker, ReplicaFetcherManager fetchers, ReplicaManager manager, BrokerEndPoint leader) {
            super("fetcher", new Leader(broker, manager, leader), manager.config(), fetchers.failedPartitions(), manager,
                quotas.follower(), "" // 4.4
                quotas.follower(), "", () -> METADATA // 3.9
            );
        }

        @Override
        public void start() { }
    }

    final class Leader extends RemoteLeaderEndPoint {
        Leader(Broker broker, ReplicaManager manager, BrokerEndPoint leader) {
            super("", new Sender(broker, leader), new FetchSessionHandler(new LogContext(), leader.id()), manager.config(), manager,
                quotas.follower(), () -> METADATA, () -> -1L);
        }

        @Override
        public boolean isTruncationOnFetchSupported() {
            return false;
        }
    }

    /** Questions are answered at once; a fetch waits until the harness brings its answer. */
    final class Sender implements BlockingSend {
        final Broker broker;
        final BrokerEndPoint leader;

        Sender(Broker broker, BrokerEndPoint leader) {
            this.broker = broker;
            this.leader = leader;
        }

        @Override
        public BrokerEndPoint brokerEndPoint() {
            return leader;
        }

        @Override
        public ClientResponse sendRequest(AbstractRequest.Builder<? extends AbstractRequest> builder) {
            AbstractRequest request = builder.build();
            AbstractResponse answer;
            if (request instanceof FetchRequest) answer = broker.pump.hold(leader.id(), request);
            else answer = brokers[leader.id()] == null ? null : brokers[leader.id()].asked(request);
            if (answer == null) throw new RuntimeException("disconnected");
            RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "", 0);
            return new ClientResponse(header, null, "", 0, 0, false, null, null, answer);
        }

        @Override
        public void initiateClose() { }

        @Override
        public void close() { }
    }

    final class Asking implements AlterPartitionManager {
        @Override
        public CompletableFuture<LeaderAndIsr> submit(org.apache.kafka.server.common.TopicIdPartition partition, LeaderAndIsr wanted) { // 4.4
        public CompletableFuture<LeaderAndIsr> submit(TopicIdPartition partition, LeaderAndIsr wanted, int epoch) { // 3.9
            return controller.ask(wanted);
        }

        @Override
        public void start() { }

        @Override
        public void shutdown() { }
    }

    /** A thread on which a fetcher runs, and stands still while its fetch is on its way. */
    static final class Pump {
        final Semaphore go = new Semaphore(0), back = new Semaphore(0);
        Runnable task;
        AbstractRequest request;
        AbstractResponse answer;
        int to;
        Throwable failure;

        Pump(int id) {
            Thread thread = new Thread(this::pump, "pump" + id);
            thread.setDaemon(true);
            thread.start();
        }

        void pump() {
            while (true) {
                go.acquireUninterruptibly();
                try {
                    task.run();
                } catch (Throwable problem) {
                    failure = problem;
                }
                request = null;
                back.release();
            }
        }

        boolean isHeld() {
            return request != null;
        }

        void run(Runnable work) throws Exception {
            task = work;
            answer = null;
            proceed();
        }

        void resume(AbstractResponse response) throws Exception {
            answer = response;
            proceed();
        }

        void proceed() throws Exception {
            go.release();
            back.acquire();
            if (failure != null) {
                Throwable problem = failure;
                failure = null;
                throw new IllegalStateException("the fetcher ended: " + problem, problem);
            }
        }

        AbstractResponse hold(int leader, AbstractRequest held) {
            to = leader;
            request = held;
            answer = null;
            back.release();
            go.acquireUninterruptibly();
            return answer;
        }
    }

    static final class Clock implements Time {
        long now = 1_000_000;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long milliseconds) {
            now += milliseconds;
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
            throw new UnsupportedOperationException();
        }
    }

    /** What is scheduled for now is done now; what is for later or for ever again is not. */
    static final class Now implements Scheduler {
        @Override
        public void startup() { }

        @Override
        public void shutdown() { }

        @Override
        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
            if (delay == 0 && period < 0) task.run();
            return new Done();
        }

        @Override
        public void resizeThreadPool(int size) { }
    }

    static final class Done extends CompletableFuture<Void> implements ScheduledFuture<Void> {
        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }

    /** A timer of requests that wait, whose time is over when the harness says so. */
    static final class Expiring implements Timer {
        final List<TimerTask> waiting = new ArrayList<>();

        @Override
        public void add(TimerTask task) {
            if (task instanceof DelayedFetch) waiting.add(task);
        }

        void runAll() {
            List<TimerTask> over = List.copyOf(waiting);
            waiting.clear();
            over.forEach(TimerTask::run);
        }

        @Override
        public boolean advanceClock(long timeout) {
            return false;
        }

        @Override
        public int size() {
            return waiting.size();
        }

        @Override
        public void close() { }
    }
}
