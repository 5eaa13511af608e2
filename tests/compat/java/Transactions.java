import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Transactional producers by name, and a consumer that reads a partition to its end. */
public class Transactions {
    private static final Map<String, KafkaProducer<String, String>> PRODUCERS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answer(line.split(" ")));
        }
        for (KafkaProducer<String, String> producer : PRODUCERS.values()) {
            producer.close(Duration.ZERO);
        }
    }

    private static String answer(String[] words) {
        try {
            return perform(words);
        } catch (Exception error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            return cause.getClass().getSimpleName();
        }
    }

    private static String perform(String[] words) throws Exception {
        if (words[0].equals("read")) {
            return read(words[1], new TopicPartition(words[2], Integer.parseInt(words[3])), words[4]);
        }
        if (words[0].equals("open")) {
            PRODUCERS.put(words[1], open(words[2], words[3], words[4]));
            return "ok";
        }
        KafkaProducer<String, String> producer = PRODUCERS.get(words[1]);
        switch (words[0]) {
            case "init" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "send" -> producer.send(
                new ProducerRecord<>(words[2], Integer.parseInt(words[3]), null, words[4])).get();
            case "offset" -> producer.sendOffsetsToTransaction(
                Map.of(new TopicPartition(words[3], Integer.parseInt(words[4])),
                    new OffsetAndMetadata(Long.parseLong(words[5]))),
                new ConsumerGroupMetadata(words[2]));
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "close" -> PRODUCERS.remove(words[1]).close(Duration.ZERO);
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "ok";
    }

    private static KafkaProducer<String, String> open(String bootstrap, String id, String timeout) {
        return new KafkaProducer<>(Map.of(
            "bootstrap.servers", bootstrap,
            "transactional.id", id,
            "transaction.timeout.ms", timeout,
            "max.block.ms", "20000",
            "key.serializer", StringSerializer.class,
            "value.serializer", StringSerializer.class));
    }

    private static String read(String bootstrap, TopicPartition partition, String isolation) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", bootstrap,
            "isolation.level", isolation,
            "key.deserializer", StringDeserializer.class,
            "value.deserializer", StringDeserializer.class);
        try (var consumer = new KafkaConsumer<String, String>(settings)) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            List<String> values = new ArrayList<>();
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(100))) {
                    values.add(each.value());
                }
            }
            return String.join(" ", values);
        }
    }
}
