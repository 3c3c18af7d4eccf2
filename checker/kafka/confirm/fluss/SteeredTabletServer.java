import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.fluss.cluster.Endpoint;
import org.apache.fluss.cluster.ServerNode;
import org.apache.fluss.cluster.ServerType;
import org.apache.fluss.config.ConfigOptions;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.exception.IneligibleReplicaException;
import org.apache.fluss.memory.UnmanagedPagedOutputView;
import org.apache.fluss.metadata.PhysicalTablePath;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.metrics.registry.NOPMetricRegistry;
import org.apache.fluss.record.ChangeType;
import org.apache.fluss.record.FileLogRecords;
import org.apache.fluss.record.LogRecord;
import org.apache.fluss.record.LogRecordBatch;
import org.apache.fluss.record.LogRecordReadContext;
import org.apache.fluss.record.MemoryLogRecords;
import org.apache.fluss.record.MemoryLogRecordsIndexedBuilder;
import org.apache.fluss.record.send.ByteBufWritableOutput;
import org.apache.fluss.row.indexed.IndexedRow;
import org.apache.fluss.row.indexed.IndexedRowWriter;
import org.apache.fluss.rpc.GatewayClientProxy;
import org.apache.fluss.rpc.RpcClient;
import org.apache.fluss.rpc.entity.FetchLogResultForBucket;
import org.apache.fluss.rpc.gateway.CoordinatorGateway;
import org.apache.fluss.rpc.messages.AdjustIsrRequest;
import org.apache.fluss.rpc.messages.AdjustIsrResponse;
import org.apache.fluss.rpc.messages.ApiMessage;
import org.apache.fluss.rpc.messages.FetchLogRequest;
import org.apache.fluss.rpc.messages.FetchLogResponse;
import org.apache.fluss.rpc.messages.ListOffsetsRequest;
import org.apache.fluss.rpc.messages.ListOffsetsResponse;
import org.apache.fluss.rpc.protocol.ApiError;
import org.apache.fluss.rpc.protocol.ApiKeys;
import org.apache.fluss.server.coordinator.LakeCatalogDynamicLoader;
import org.apache.fluss.server.coordinator.MetadataManager;
import org.apache.fluss.server.entity.AdjustIsrResultForBucket;
import org.apache.fluss.server.entity.NotifyLeaderAndIsrData;
import org.apache.fluss.server.kv.KvManager;
import org.apache.fluss.server.log.FetchIsolation;
import org.apache.fluss.server.log.FetchParams;
import org.apache.fluss.server.log.ListOffsetsParam;
import org.apache.fluss.server.log.LogManager;
import org.apache.fluss.server.log.LogTablet;
import org.apache.fluss.server.metadata.ClusterMetadata;
import org.apache.fluss.server.metadata.ServerInfo;
import org.apache.fluss.server.metadata.TabletServerMetadataCache;
import org.apache.fluss.server.metrics.ServerMetricUtils;
import org.apache.fluss.server.metrics.UserMetrics;
import org.apache.fluss.server.metrics.group.TabletServerMetricGroup;
import org.apache.fluss.server.replica.Replica;
import org.apache.fluss.server.replica.ReplicaManager;
import org.apache.fluss.server.utils.ServerRpcMessageUtils;
import org.apache.fluss.server.zk.ZooKeeperClient;
import org.apache.fluss.server.zk.ZooKeeperUtils;
import org.apache.fluss.server.zk.data.LeaderAndIsr;
import org.apache.fluss.server.zk.data.TableRegistration;
import org.apache.fluss.shaded.netty4.io.netty.buffer.ByteBuf;
import org.apache.fluss.shaded.netty4.io.netty.buffer.Unpooled;
import org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;
import org.apache.fluss.utils.CloseableIterator;
import org.apache.fluss.utils.clock.Clock;
import org.apache.fluss.utils.concurrent.FlussScheduler;
import org.apache.fluss.utils.concurrent.Scheduler;

/**
 * One tablet server of a released Fluss, made of its own unchanged classes and steered by lines.
 *
 * <p>Log, replica manager, fetcher threads and the manager of AdjustIsr are Fluss's. The harness is
 * the coordinator, the network, and the timer that writes high watermarks: a request to another
 * server waits until the harness takes it, and an answer arrives when the harness says so. A line in
 * is a command, the line out is its answer, `ok ...` or `error ...`.
 */
public final class SteeredTabletServer {
    private static final TablePath PATH = TablePath.of("waterline", "confirm");
    private static final TableBucket BUCKET = new TableBucket(1, 0);
    private static final Schema SCHEMA = Schema.newBuilder().column("id", DataTypes.INT()).build();
    private static final int SCHEMA_ID = 1;

    private final LinkedBlockingQueue<Parked> parked = new LinkedBlockingQueue<>();
    private final Map<Integer, Parked> taken = new TreeMap<>();
    private final Set<Integer> acknowledged = Collections.synchronizedSet(new TreeSet<>());
    private final Set<Integer> refused = Collections.synchronizedSet(new TreeSet<>());
    private final ReplicaManager manager;
    private int numbered;
    private volatile Integer onlyTarget;

    /** A request on its way, to a tablet server or, as -1, to the coordinator. */
    private static final class Parked {
        final int target;
        final ApiKeys api;
        final ApiMessage request;
        final CompletableFuture<ApiMessage> answer = new CompletableFuture<>();

        Parked(int target, ApiKeys api, ApiMessage request) {
            this.target = target;
            this.api = api;
            this.request = request;
        }
    }

    public static void main(String[] given) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        if (given[0].equals("zookeeper")) {
            zookeeper(new File(given[1]), out);
            return;
        }
        int id = Integer.parseInt(given[1]);
        Configuration conf = configuration(id, given[2], new File(given[3]));
        conf.set(
                ConfigOptions.LOG_REPLICA_MIN_IN_SYNC_REPLICAS_NUMBER, Integer.parseInt(given[4]));
        SteeredTabletServer server = new SteeredTabletServer(id, conf, Integer.parseInt(given[5]));
        out.println("ok ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String said;
            try {
                said = "ok " + server.obey(line.trim().split(" "));
            } catch (Throwable problem) {
                problem.printStackTrace();
                said = "error " + problem.toString().replace('\n', ' ');
            }
            out.println(said.trim());
        }
        Runtime.getRuntime().halt(0);
    }

    private static void zookeeper(File folder, PrintStream out) throws Exception {
        ZooKeeperServer server = new ZooKeeperServer(folder, folder, 500);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 100);
        connections.startup(server);
        String address = "127.0.0.1:" + connections.getLocalPort();
        ZooKeeperClient client =
                ZooKeeperUtils.startZookeeperClient(
                        configuration(0, address, folder), Throwable::printStackTrace);
        TableDescriptor table =
                TableDescriptor.builder()
                        .schema(SCHEMA)
                        .distributedBy(1)
                        .property("table.log.format", "INDEXED")
                        .build();
        client.registerTable(PATH, TableRegistration.newTable(BUCKET.getTableId(), table));
        client.registerFirstSchema(PATH, SCHEMA);
        client.close();
        out.println("ok " + address);
        System.in.read();
        Runtime.getRuntime().halt(0);
    }

    private static Configuration configuration(int id, String zookeeper, File folder) {
        Configuration conf = new Configuration();
        conf.setString(ConfigOptions.DATA_DIR, folder.getAbsolutePath());
        conf.setString(ConfigOptions.REMOTE_DATA_DIR, new File(folder, "remote").getAbsolutePath());
        conf.setString(ConfigOptions.ZOOKEEPER_ADDRESS, zookeeper);
        conf.set(ConfigOptions.TABLET_SERVER_ID, id);
        conf.setString("log.replica.fetch.wait-max-time", "1ms");
        conf.setString("log.replica.fetch.backoff-interval", "1s");
        // Nobody outside the ISR has caught up lately: the clock jumps.
        conf.setString("log.replica.max-lag-time", "1s");
        return conf;
    }

    private SteeredTabletServer(int id, Configuration conf, int servers) throws Exception {
        FlussScheduler own = new FlussScheduler(2);
        own.startup();
        Scheduler scheduler = withoutCheckpoints(own);
        Clock clock = clock();
        TabletServerMetricGroup metrics =
                ServerMetricUtils.createTabletServerGroup(
                        NOPMetricRegistry.INSTANCE, "waterline", null, "127.0.0.1", id);
        ZooKeeperClient zookeeper =
                ZooKeeperUtils.startZookeeperClient(conf, Throwable::printStackTrace);
        TabletServerMetadataCache metadata =
                new TabletServerMetadataCache(
                        new MetadataManager(
                                zookeeper, conf, new LakeCatalogDynamicLoader(conf, null, false)));
        LogManager logs = LogManager.create(conf, zookeeper, scheduler, clock, metrics);
        logs.startup();
        KvManager kv = KvManager.create(conf, zookeeper, logs, metrics);
        kv.startup();
        RpcClient network = network();
        CoordinatorGateway coordinator =
                GatewayClientProxy.createGatewayProxy(
                        () -> new ServerNode(-1, "127.0.0.1", 1, ServerType.COORDINATOR),
                        network,
                        CoordinatorGateway.class);
        manager =
                new ReplicaManager(
                        conf,
                        scheduler,
                        logs,
                        kv,
                        zookeeper,
                        id,
                        metadata,
                        network,
                        coordinator,
                        (snapshot, epoch, leaderEpoch) -> {},
                        Throwable::printStackTrace,
                        metrics,
                        new UserMetrics(own, NOPMetricRegistry.INSTANCE, metrics),
                        clock,
                        Executors.newSingleThreadExecutor());
        Set<ServerInfo> alive = new HashSet<>();
        for (int server = 0; server < servers; server++) {
            alive.add(
                    new ServerInfo(
                            server,
                            null,
                            Endpoint.fromListenersString("FLUSS://127.0.0.1:" + (1 + server)),
                            ServerType.TABLET_SERVER));
        }
        manager.maybeUpdateMetadataCache(0, new ClusterMetadata(null, alive));
    }

    /** The timer that writes high watermarks to disk is the harness's; all other tasks run. */
    private static Scheduler withoutCheckpoints(FlussScheduler own) {
        return new Scheduler() {
            @Override
            public void startup() {}

            @Override
            public void shutdown() throws InterruptedException {
                own.shutdown();
            }

            @Override
            public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
                return name.equals("highWatermark-checkpoint")
                        ? null
                        : own.schedule(name, task, delay, period);
            }
        };
    }

    private static Clock clock() {
        long[] milliseconds = {System.currentTimeMillis()};
        return (Clock)
                Proxy.newProxyInstance(
                        Clock.class.getClassLoader(),
                        new Class<?>[] {Clock.class},
                        (proxy, method, arguments) -> {
                            milliseconds[0] += 10_000;
                            return method.getName().equals("milliseconds")
                                    ? (Object) milliseconds[0]
                                    : (Object) (milliseconds[0] * 1_000_000);
                        });
    }

    private RpcClient network() {
        return (RpcClient)
                Proxy.newProxyInstance(
                        RpcClient.class.getClassLoader(),
                        new Class<?>[] {RpcClient.class},
                        (proxy, method, given) -> {
                            switch (method.getName()) {
                                case "sendRequest":
                                    Parked sent =
                                            new Parked(
                                                    ((ServerNode) given[0]).id(),
                                                    (ApiKeys) given[1],
                                                    (ApiMessage) given[2]);
                                    if (isLost(sent)) {
                                        sent.answer.completeExceptionally(lost());
                                    } else {
                                        parked.add(sent);
                                    }
                                    return sent.answer;
                                case "disconnect":
                                    return CompletableFuture.completedFuture(null);
                                case "close":
                                    return null;
                                default:
                                    return true;
                            }
                        });
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "notify":
                return notified(words);
            case "produce":
                return produce(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "take":
                return take(words[1], Integer.parseInt(words[2]));
            case "serve":
                return serve(words[1], Base64.getDecoder().decode(words[2]));
            case "answer":
                return answer(Integer.parseInt(words[1]), Base64.getDecoder().decode(words[2]));
            case "grant":
                return grant(Integer.parseInt(words[1]), words);
            case "lose":
                return lose();
            case "checkpoint":
                return run("checkpointHighWatermarks");
            case "shrink":
                return run("maybeShrinkIsr");
            case "state":
                return state();
            default:
                throw new IllegalArgumentException("no command " + words[0]);
        }
    }

    /** A task that Fluss's own timer would run. */
    private String run(String task) throws Exception {
        Method method = ReplicaManager.class.getDeclaredMethod(task);
        method.setAccessible(true);
        method.invoke(manager);
        return "";
    }

    /** notify LEADER LEADER-EPOCH BUCKET-EPOCH ISR REPLICAS: what the coordinator would send. */
    private String notified(String[] words) throws Exception {
        LeaderAndIsr decision =
                new LeaderAndIsr(
                        Integer.parseInt(words[1]),
                        Integer.parseInt(words[2]),
                        numbers(words[4]),
                        0,
                        Integer.parseInt(words[3]));
        NotifyLeaderAndIsrData data =
                new NotifyLeaderAndIsrData(
                        PhysicalTablePath.of(PATH), BUCKET, numbers(words[5]), decision);
        CompletableFuture<String> said = new CompletableFuture<>();
        // A fetcher that ends waits for its last fetch.
        onlyTarget = decision.leader();
        try {
            lose();
            manager.becomeLeaderOrFollower(
                    0,
                    Collections.singletonList(data),
                    results -> said.complete(String.valueOf(results.get(0).getErrorCode())));
            return said.get(60, TimeUnit.SECONDS);
        } finally {
            onlyTarget = null;
        }
    }

    private static List<Integer> numbers(String commas) {
        return Arrays.stream(commas.split(","))
                .map(Integer::parseInt)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private String produce(int id, int acks) throws Exception {
        IndexedRowWriter writer = new IndexedRowWriter(SCHEMA.getRowType());
        writer.writeInt(id);
        IndexedRow row =
                new IndexedRow(SCHEMA.getRowType().getChildren().toArray(new DataType[0]));
        row.pointTo(writer.segment(), 0, writer.position());
        MemoryLogRecordsIndexedBuilder builder =
                MemoryLogRecordsIndexedBuilder.builder(
                        SCHEMA_ID, Integer.MAX_VALUE, new UnmanagedPagedOutputView(100), true);
        builder.append(ChangeType.APPEND_ONLY, row);
        MemoryLogRecords records = MemoryLogRecords.pointToBytesView(builder.build());
        builder.close();
        manager.appendRecordsToLog(
                1_000_000,
                acks,
                Collections.singletonMap(BUCKET, records),
                null,
                results -> (results.get(0).failed() ? refused : acknowledged).add(id));
        return "";
    }

    /** The next request of that kind that waits, or `none`; requests of other kinds stay. */
    private String take(String kind, int milliseconds) throws Exception {
        long until = System.nanoTime() + milliseconds * 1_000_000L;
        do {
            for (Parked each : parked) {
                if (each.api.name().equals(kind) || kind.equals("ANY")) {
                    parked.remove(each);
                    taken.put(++numbered, each);
                    return String.format(
                            "%d %d %s %s",
                            numbered,
                            each.target,
                            each.api.name(),
                            Base64.getEncoder().encodeToString(each.request.toByteArray()));
                }
            }
            Thread.sleep(5);
        } while (System.nanoTime() < until);
        return "none";
    }

    private String serve(String kind, byte[] bytes) throws Exception {
        ApiMessage response;
        if (kind.equals("FETCH_LOG")) {
            FetchLogRequest request = new FetchLogRequest();
            request.parseFrom(bytes);
            CompletableFuture<ApiMessage> said = new CompletableFuture<>();
            manager.fetchLogRecords(
                    new FetchParams(
                            request.getFollowerServerId(),
                            request.getMaxBytes(),
                            request.getMinBytes(),
                            request.getMaxWaitMs()),
                    ServerRpcMessageUtils.getFetchLogData(request),
                    null,
                    found -> {
                        found.replaceAll((bucket, result) -> inMemory(result));
                        said.complete(ServerRpcMessageUtils.makeFetchLogResponse(found));
                    });
            response = said.get(30, TimeUnit.SECONDS);
        } else {
            ListOffsetsRequest request = new ListOffsetsRequest();
            request.parseFrom(bytes);
            CompletableFuture<ApiMessage> said = new CompletableFuture<>();
            manager.listOffsets(
                    new ListOffsetsParam(
                            request.getFollowerServerId(), request.getOffsetType(), null),
                    Collections.singleton(BUCKET),
                    found -> said.complete(ServerRpcMessageUtils.makeListOffsetsResponse(found)));
            response = said.get(30, TimeUnit.SECONDS);
        }
        return Base64.getEncoder().encodeToString(written(response));
    }

    /** Records of a file are sent from the file; here they are read when the answer is made. */
    private static FetchLogResultForBucket inMemory(FetchLogResultForBucket result) {
        if (result.failed() || !(result.records() instanceof FileLogRecords)) {
            return result;
        }
        FileLogRecords file = (FileLogRecords) result.records();
        ByteBuffer bytes = ByteBuffer.allocate(file.sizeInBytes());
        try {
            file.readInto(bytes, 0);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
        return new FetchLogResultForBucket(
                BUCKET,
                MemoryLogRecords.pointToBytes(bytes.array()),
                result.getHighWatermark());
    }

    private static byte[] written(ApiMessage message) {
        ByteBuf buffer =
                Unpooled.buffer();
        ByteBufWritableOutput output =
                new ByteBufWritableOutput(buffer);
        message.writeTo(output);
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    private String answer(int number, byte[] bytes) {
        Parked asked = taken.remove(number);
        ApiMessage response =
                asked.api == ApiKeys.FETCH_LOG ? new FetchLogResponse() : new ListOffsetsResponse();
        response.parseFrom(
                Unpooled.wrappedBuffer(bytes),
                bytes.length);
        asked.answer.complete(response);
        return "";
    }

    /** grant NUMBER LEADER-EPOCH BUCKET-EPOCH ISR, or grant NUMBER refused. */
    private String grant(int number, String[] words) throws Exception {
        Parked asked = taken.remove(number);
        Map<TableBucket, LeaderAndIsr> proposed =
                ServerRpcMessageUtils.getAdjustIsrData((AdjustIsrRequest) asked.request);
        LeaderAndIsr wanted = proposed.get(BUCKET);
        AdjustIsrResultForBucket result =
                words[2].equals("refused")
                        ? new AdjustIsrResultForBucket(
                                BUCKET,
                                ApiError.fromThrowable(
                                        new IneligibleReplicaException(
                                                "not in the ISR")))
                        : new AdjustIsrResultForBucket(
                                BUCKET,
                                new LeaderAndIsr(
                                        wanted.leader(),
                                        wanted.leaderEpoch(),
                                        wanted.isr(),
                                        0,
                                        wanted.bucketEpoch() + 1));
        AdjustIsrResponse response =
                ServerRpcMessageUtils.makeAdjustIsrResponse(Collections.singletonList(result));
        asked.answer.complete(response);
        return wanted.isr().toString();
    }

    private static Exception lost() {
        return new java.net.ConnectException("lost by the harness");
    }

    /** While a notice is taken up, fetches to anybody but the leader that it names are lost. */
    private boolean isLost(Parked sent) {
        Integer target = onlyTarget;
        return target != null && sent.api != ApiKeys.ADJUST_ISR && sent.target != target;
    }

    /** Whatever of this server's fetches is under way is lost. */
    private String lose() {
        List<Parked> fetches = new ArrayList<>();
        for (Parked each : parked) {
            if (each.api == ApiKeys.FETCH_LOG || each.api == ApiKeys.LIST_OFFSETS) {
                parked.remove(each);
                fetches.add(each);
            }
        }
        taken.values().removeIf(each -> each.api != ApiKeys.ADJUST_ISR && fetches.add(each));
        fetches.forEach(each -> each.answer.completeExceptionally(lost()));
        return "";
    }

    private String state() throws Exception {
        Replica replica = manager.getReplicaOrException(BUCKET);
        LogTablet log = replica.getLogTablet();
        List<String> ids = new ArrayList<>();
        try (LogRecordReadContext context =
                LogRecordReadContext.createIndexedReadContext(
                        SCHEMA.getRowType(), SCHEMA_ID, replica.getSchemaGetter())) {
            for (LogRecordBatch batch :
                    log.read(0, Integer.MAX_VALUE, FetchIsolation.LOG_END, true, null)
                            .getRecords()
                            .batches()) {
                try (CloseableIterator<LogRecord> records =
                        batch.records(context)) {
                    records.forEachRemaining(
                            record -> ids.add(String.valueOf(record.getRow().getInt(0))));
                }
            }
        }
        return String.format(
                "leads=%s leader=%s epoch=%d leo=%d hw=%d isr=%s log=%s acked=%s refused=%s",
                replica.isLeader(),
                replica.getLeaderId(),
                replica.getLeaderEpoch(),
                log.localLogEndOffset(),
                log.getHighWatermark(),
                commas(replica.getIsr()),
                String.join(",", ids),
                commas(acknowledged),
                commas(refused));
    }

    private static String commas(Iterable<Integer> numbers) {
        List<String> words = new ArrayList<>();
        numbers.forEach(number -> words.add(String.valueOf(number)));
        return String.join(",", words);
    }
}
