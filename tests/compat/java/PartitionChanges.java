import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * What Kafka's controller makes of a partition that is to change: a JSON question a line, the
 * record that it would write, or null, a line. Directories are numbers.
 */
public class PartitionChanges {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final long DIRECTORIES = 1000;

    public static void main(String[] arguments) throws Exception {
        var questions = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            System.out.println(JSON.writeValueAsString(change(JSON.readTree(line))));
        }
    }

    private static Map<String, Object> change(JsonNode question) {
        var alive = new HashSet<>(list(question.get("alive")));
        var builder = new PartitionChangeBuilder(
            partition(question.get("partition")),
            TOPIC,
            0,
            alive::contains,
            MetadataVersion.fromFeatureLevel((short) question.get("version").asInt()),
            question.get("min_isr").asInt(),
            question.get("has_elr").asBoolean());
        builder.setElection(
            PartitionChangeBuilder.Election.valueOf(question.get("election").asText()));
        builder.setDefaultDirProvider(id -> new Uuid(DIRECTORIES, 100 + id));
        given(question, "isr", each -> builder.setTargetIsr(list(each)));
        given(question, "replicas", each -> builder.setTargetReplicas(list(each)));
        given(question, "adding", each -> builder.setTargetAdding(list(each)));
        given(question, "removing", each -> builder.setTargetRemoving(list(each)));
        given(question, "unclean_shutdown", each ->
            builder.setUncleanShutdownReplicas(list(each)));
        given(question, "recovery", each ->
            builder.setTargetLeaderRecoveryState(LeaderRecoveryState.of((byte) each.asInt())));
        return builder.build().map(found -> shown((PartitionChangeRecord) found.message()))
            .orElse(null);
    }

    private static void given(JsonNode question, String name, Consumer<JsonNode> set) {
        JsonNode value = question.get(name);
        if (value != null && !value.isNull()) {
            set.accept(value);
        }
    }

    private static PartitionRegistration partition(JsonNode of) {
        var directories = list(of.get("directories")).stream()
            .map(each -> new Uuid(DIRECTORIES, each)).toArray(Uuid[]::new);
        return new PartitionRegistration.Builder()
            .setReplicas(array(of.get("replicas")))
            .setDirectories(directories)
            .setIsr(array(of.get("isr")))
            .setAddingReplicas(array(of.get("adding")))
            .setRemovingReplicas(array(of.get("removing")))
            .setElr(array(of.get("elr")))
            .setLastKnownElr(array(of.get("last_known_elr")))
            .setLeader(of.get("leader").asInt())
            .setLeaderRecoveryState(LeaderRecoveryState.of((byte) of.get("recovery").asInt()))
            .setLeaderEpoch(5)
            .setPartitionEpoch(9)
            .build();
    }

    private static Map<String, Object> shown(PartitionChangeRecord record) {
        var found = new LinkedHashMap<String, Object>();
        found.put("isr", record.isr());
        found.put("leader", record.leader());
        found.put("replicas", record.replicas());
        found.put("adding", record.addingReplicas());
        found.put("removing", record.removingReplicas());
        found.put("recovery", record.leaderRecoveryState());
        found.put("elr", record.eligibleLeaderReplicas());
        found.put("last_known_elr", record.lastKnownElr());
        found.put("directories", record.directories() == null ? null
            : record.directories().stream().map(Uuid::getLeastSignificantBits).toList());
        return found;
    }

    private static List<Integer> list(JsonNode values) {
        var found = new ArrayList<Integer>();
        values.forEach(each -> found.add(each.asInt()));
        return found;
    }

    private static int[] array(JsonNode values) {
        return list(values).stream().mapToInt(Integer::intValue).toArray();
    }
}
