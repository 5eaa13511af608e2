import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Kafka's own consumers, several at a time. A line in is a command of words between tabs, a line
 * out its outcome, words between tabs again:
 *
 *   open NAME KEY=VALUE...     a consumer with these settings
 *   topics NAME TOPIC...       subscribes to topics
 *   pattern NAME REGEX         subscribes by RE2 syntax, matched by the broker
 *   poll NAME MS               PARTITION@OFFSET=VALUE of each record that is there
 *   assigned NAME              its partitions, in order
 *   commit NAME
 *   close NAME
 *
 * What goes wrong is answered with the class of the exception and its message.
 */
public class Consumers {
    private static final Map<String, KafkaConsumer<String, String>> CONSUMERS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(line.split("\t")));
            System.out.flush();
        }
        CONSUMERS.values().forEach(each -> each.close());
    }

    private static String answer(String[] words) {
        try {
            return String.join("\t", run(words));
        } catch (Exception error) {
            return "!" + error.getClass().getSimpleName() + ": " + error.getMessage();
        }
    }

    private static List<String> run(String[] words) {
        String name = words[1];
        List<String> rest = List.of(words).subList(2, words.length);
        KafkaConsumer<String, String> consumer = CONSUMERS.get(name);
        switch (words[0]) {
            case "open":
                CONSUMERS.put(name, open(rest));
                return List.of();
            case "topics":
                consumer.subscribe(rest);
                return List.of();
            case "pattern":
                consumer.subscribe(new SubscriptionPattern(rest.get(0)));
                return List.of();
            case "poll":
                return poll(consumer, Integer.parseInt(rest.get(0)));
            case "assigned":
                TreeSet<String> partitions = new TreeSet<>();
                for (TopicPartition each : consumer.assignment()) partitions.add(each.toString());
                return new ArrayList<>(partitions);
            case "commit":
                consumer.commitSync();
                return List.of();
            case "close":
                CONSUMERS.remove(name).close();
                return List.of();
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static KafkaConsumer<String, String> open(List<String> settings) {
        Properties properties = new Properties();
        properties.put("auto.offset.reset", "earliest");
        for (String each : settings) {
            int equals = each.indexOf('=');
            properties.put(each.substring(0, equals), each.substring(equals + 1));
        }
        return new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
    }

    private static List<String> poll(KafkaConsumer<String, String> consumer, int ms) {
        List<String> found = new ArrayList<>();
        for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(ms)))
            found.add(each.topic() + "-" + each.partition() + "@" + each.offset() + "="
                    + each.value());
        return found;
    }
}
