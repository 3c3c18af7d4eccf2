import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class LeaseServerTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final LeaseServer server = new LeaseServer();
    private final int[] tokens = new int[2];

    @TestFactory
    Stream<DynamicTest> paths() throws Exception {
        return Files.lines(Path.of("../lease.paths.jsonl")).skip(1).map(line ->
            DynamicTest.dynamicTest(line, () -> new LeaseServerTest().replay(JSON.readTree(line))));
    }

    private void replay(JsonNode path) {
        ObjectNode model = path.get("initial").deepCopy();
        check(model, path);
        for (JsonNode step : path.get("steps")) {
            take(step);
            model.setAll((ObjectNode) step.get("after"));
            check(model, step);
        }
    }

    private void check(JsonNode model, JsonNode step) {
        for (JsonNode call : step.get("refused")) {
            if (!call.get("action").asText().equals("expire")) { // nobody requests it
                assertThrows(LeaseServer.Denied.class, () -> take(call),
                    () -> "not enabled in the model, and not refused: " + call);
            }
        }
        assertEquals(model.get("holder"), JSON.valueToTree(server.owner));
        assertEquals(model.get("stored"), JSON.valueToTree(server.highest));
        assertEquals(model.get("token"), JSON.valueToTree(tokens));
    }

    private void take(JsonNode call) {
        int client = call.at("/arguments/client").asInt();
        switch (call.get("action").asText()) {
            case "grant" -> tokens[client] = server.acquire(client);
            case "expire" -> server.expire();
            case "write" -> {
                server.write(tokens[client]);
                tokens[client] = 0;
            }
            default -> throw new AssertionError("no action of the server: " + call);
        }
    }
}
