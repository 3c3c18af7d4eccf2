import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class LeaseServerTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final LeaseServer server = new LeaseServer();
    private final int[] tokens = new int[2];

    @TestFactory
    List<DynamicTest> paths() throws Exception {
        List<DynamicTest> tests = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("../lease.paths.jsonl"))) {
            JsonNode path = JSON.readTree(line);
            if (path.has("path")) {
                String name = "path " + path.get("path");
                tests.add(DynamicTest.dynamicTest(name, () -> new LeaseServerTest().replay(path)));
            }
        }
        return tests;
    }

    private void replay(JsonNode path) {
        ObjectNode model = path.get("initial").deepCopy();
        check(model, path.get("refused"), "at first");
        int number = 0;
        for (JsonNode step : path.get("steps")) {
            take(step);
            model.setAll((ObjectNode) step.get("after"));
            check(model, step.get("refused"), "after step " + ++number + ", " + step.get("action"));
        }
    }

    private void check(JsonNode model, JsonNode refused, String place) {
        for (JsonNode call : refused) {
            if (!call.get("action").asText().equals("expire")) { // nobody requests it
                String wrong = place + ": not enabled in the model, and not refused: " + call;
                assertThrows(LeaseServer.Denied.class, () -> take(call), wrong);
            }
        }
        Map<String, Object> seen = new HashMap<>();
        seen.put("holder", server.owner);
        seen.put("stored", server.highest);
        seen.put("token", tokens);
        seen.forEach((name, value) ->
            assertEquals(model.get(name), JSON.valueToTree(value), place + ": " + name));
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
