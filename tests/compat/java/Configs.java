import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Says what Kafka's configuration keys are, parses a value, a file or a list of listeners. */
public class Configs {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
            System.out.flush();
        }
    }

    private static JsonNode answer(JsonNode asked) throws Exception {
        switch (asked.get("ask").asText()) {
            case "keys": return keys(definitionOf(asked.get("of").asText()));
            case "parse": return parse(asked);
            case "update modes": return JSON.valueToTree(DynamicBrokerConfig.dynamicConfigUpdateModes());
            case "topic synonyms": return topicSynonyms();
            case "group synonyms": return groupSynonyms();
            case "broker synonyms": return JSON.valueToTree(DynamicBrokerConfig.brokerConfigSynonyms(
                asked.get("name").asText(), true));
            case "check topic": return checkTopic(asked);
            case "check group": return checkGroup(asked);
            case "check client-metrics": return checkClientMetrics(asked);
            case "properties": return properties(asked.get("text").asText());
            case "listeners": return listeners(asked);
            default: throw new IllegalArgumentException(asked.toString());
        }
    }

    private static ConfigDef definitionOf(String resource) {
        switch (resource) {
            case "broker": return AbstractKafkaConfig.CONFIG_DEF;
            case "topic": return LogConfig.configDefCopy();
            case "group": return GroupConfig.CONFIG_DEF;
            case "client-metrics": return ClientMetricsConfigs.configDef();
            case "broker-quota": return QuotaConfig.brokerQuotaConfigs();
            case "user-quota": return QuotaConfig.userAndClientQuotaConfigs();
            case "ip-quota": return QuotaConfig.ipConfigs();
            default: throw new IllegalArgumentException(resource);
        }
    }

    private static JsonNode keys(ConfigDef definition) {
        ObjectNode keys = JSON.createObjectNode();
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            ObjectNode node = keys.putObject(key.name);
            node.put("type", key.type.name());
            node.put("importance", key.importance.name());
            node.put("required", !key.hasDefault());
            node.put("default", key.hasDefault() && key.defaultValue != null
                ? rendered(key.defaultValue, key.type) : null);
            node.put("valid", key.validator == null ? null : key.validator.toString());
            node.put("internal", key.internalConfig);
        }
        return keys;
    }

    private static String rendered(Object value, ConfigDef.Type type) {
        return value instanceof org.apache.kafka.common.config.types.Password
            ? ((org.apache.kafka.common.config.types.Password) value).value()
            : ConfigDef.convertToString(value, type);
    }

    /** The value as Kafka understands it, or why it does not. */
    private static JsonNode parse(JsonNode asked) {
        ConfigDef.ConfigKey key = definitionOf(asked.get("of").asText())
            .configKeys().get(asked.get("name").asText());
        ObjectNode node = JSON.createObjectNode();
        try {
            Object value = ConfigDef.parseType(key.name, asked.get("value").asText(), key.type);
            if (key.validator != null) {
                key.validator.ensureValid(key.name, value);
            }
            node.put("value", value == null ? null : rendered(value, key.type));
        } catch (Exception problem) {
            node.put("problem", String.valueOf(problem.getMessage()));
        }
        return node;
    }

    private static JsonNode topicSynonyms() {
        ObjectNode node = JSON.createObjectNode();
        for (Map.Entry<String, List<ConfigSynonym>> entry
                : ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.entrySet()) {
            ArrayNode names = node.putArray(entry.getKey());
            entry.getValue().forEach(synonym -> names.add(synonym.name()));
        }
        return node;
    }

    private static JsonNode groupSynonyms() {
        ObjectNode node = JSON.createObjectNode();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach(
            (name, synonym) -> node.put(name, synonym.orElse(null)));
        return node;
    }

    private interface Check {
        void run() throws Exception;
    }

    private static JsonNode outcome(Check check) {
        ObjectNode node = JSON.createObjectNode();
        try {
            check.run();
        } catch (Exception problem) {
            // What is no API error is a ConfigException, which the controller answers so.
            Errors error = Errors.forException(problem);
            node.put("error", (error == Errors.UNKNOWN_SERVER_ERROR ? Errors.INVALID_CONFIG : error).name());
            node.put("problem", String.valueOf(problem.getMessage()));
        }
        return node;
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new TreeMap<>();
        node.fields().forEachRemaining(each -> texts.put(each.getKey(), each.getValue().asText()));
        return texts;
    }

    private static JsonNode checkTopic(JsonNode asked) {
        Map<String, Object> defaults = new TreeMap<>();
        LogConfig.configDefCopy().defaultValues().forEach((name, value) -> {
            if (value != null) {
                defaults.put(name, value);
            }
        });
        return outcome(() -> LogConfig.validate(texts(asked.get("current")),
            texts(asked.get("settings")), defaults, asked.get("tiered").asBoolean()));
    }

    private static JsonNode checkGroup(JsonNode asked) {
        Map<String, String> broker = Map.of(
            "node.id", "1", "process.roles", "broker", "controller.listener.names", "CONTROLLER");
        AbstractConfig config = new AbstractConfig(AbstractKafkaConfig.CONFIG_DEF, broker, false);
        return outcome(() -> GroupConfig.validate(texts(asked.get("settings")),
            new GroupCoordinatorConfig(config), new ShareGroupConfig(config)));
    }

    private static JsonNode checkClientMetrics(JsonNode asked) {
        return outcome(() -> ClientMetricsConfigs.validate("s", texts(asked.get("settings"))));
    }

    private static JsonNode properties(String text) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        return JSON.valueToTree(new TreeMap<>(properties));
    }

    private static JsonNode listeners(JsonNode asked) {
        ObjectNode node = JSON.createObjectNode();
        Map<ListenerName, SecurityProtocol> protocols = new java.util.HashMap<>();
        for (SecurityProtocol protocol : SecurityProtocol.values()) {
            protocols.put(ListenerName.forSecurityProtocol(protocol), protocol);
        }
        protocols.put(new ListenerName("CONTROLLER"), SecurityProtocol.PLAINTEXT);
        try {
            ArrayNode found = node.putArray("endpoints");
            List<String> names = List.of(asked.get("value").asText().split("\\s*,\\s*", -1));
            for (Endpoint endpoint : AbstractKafkaConfig.listenerListToEndPoints(names, protocols)) {
                ArrayNode each = found.addArray();
                each.add(endpoint.listener());
                each.add(endpoint.host());
                each.add(endpoint.port());
                each.add(endpoint.securityProtocol().name);
            }
        } catch (Exception problem) {
            node.put("problem", String.valueOf(problem.getMessage()));
        }
        return node;
    }
}
