import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Java's own clients, as the tests drive them: reads one order a line, a JSON object, and answers
 * each with one line. What is right is for the tests to say. The orders are those of ../go/main.go,
 * and `positions`. Written to run with the clients of Kafka 3.9, too.
 */
public class Clients {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long ORDER_TIMEOUT_MS = 60_000;
    private static final int MEMBERS = 3;
    private static final int SHARE = 10;

    public static void main(String[] arguments) throws Exception {
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            System.out.println(JSON.writeValueAsString(carryOut(JSON.readTree(line))));
        }
    }

    private static Map<String, Object> carryOut(JsonNode order) {
        try {
            switch (order.get("do").asText()) {
                case "produce": return produce(order);
                case "consume": return consume(order);
                case "share": return share(order);
                case "copy": return copy(order);
                case "positions": return positions(order);
                case "admin": return admin(order);
                default: throw new IllegalArgumentException("no such order");
            }
        } catch (Throwable error) {
            Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
            return Map.of("failure", cause.toString(), "code", Errors.forException(cause).code());
        }
    }

    private static Map<String, Object> produce(JsonNode order) throws Exception {
        try (var producer = producer(order, Map.of())) {
            var sent = new ArrayList<Future<RecordMetadata>>();
            for (JsonNode each : order.get("records")) {
                sent.add(producer.send(record(text(order, "topic"), each)));
            }
            var offsets = new ArrayList<Long>();
            for (var each : sent) {
                offsets.add(each.get().offset());
            }
            return Map.of("offsets", offsets);
        }
    }

    private static Map<String, Object> consume(JsonNode order) {
        var records = new ArrayList<Map<String, Object>>();
        try (var consumer = consumer(order, Map.of())) {
            var partitions = partitions(consumer, text(order, "topic"));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = deadline();
            while (records.size() < order.get("count").asInt()) {
                check(deadline, records.size() + " records");
                consumer.poll(POLL).forEach(each -> records.add(fields(each)));
            }
        }
        return Map.of("records", records);
    }

    /** Members of a group come and go while it is produced to, as `share` of ../go/main.go has it. */
    private static Map<String, Object> share(JsonNode order) throws Exception {
        Set<String> distinct = ConcurrentHashMap.newKeySet();
        var members = new ArrayList<Member>();
        String topic = text(order, "topic");
        int partitions = order.get("partitions").asInt();
        long deadline = deadline();
        int sent = 0;
        try (var producer = producer(order, Map.of())) {
            for (int i = 0; i < MEMBERS; i++) {
                var member = new Member(order, distinct::add);
                members.add(member);
                member.start();
                while (member.received.size() < SHARE) {
                    check(deadline, member.received.size() + " values of member " + i);
                    producer.send(value(topic, partitions, sent++)).get();
                }
            }
            members.get(0).leave();
            for (int i = 0; i < SHARE; i++) {
                producer.send(value(topic, partitions, sent++)).get();
            }
        }
        while (distinct.size() < sent) {
            check(deadline, distinct.size() + " of " + sent + " values");
            Thread.sleep(10);
        }
        members.get(1).leave();
        members.get(2).leave();
        var received = members.stream().map(each -> each.received).toArray();
        return Map.of("sent", sent, "members", received);
    }

    private static ProducerRecord<String, String> value(String topic, int partitions, int number) {
        return new ProducerRecord<>(topic, number % partitions, null, "value " + number);
    }

    private static final class Member extends Thread {
        final List<String> received = Collections.synchronizedList(new ArrayList<>());
        private final KafkaConsumer<String, String> consumer;
        private final Consumer<String> onValue;

        Member(JsonNode order, Consumer<String> onValue) {
            consumer = consumer(order, membership(order));
            consumer.subscribe(List.of(text(order, "topic")));
            this.onValue = onValue;
        }

        @Override
        public void run() {
            try (consumer) {
                while (true) {
                    for (var each : consumer.poll(POLL)) {
                        received.add(each.value());
                        onValue.accept(each.value());
                    }
                }
            } catch (WakeupException asked) {
                // to leave
            }
        }

        void leave() throws InterruptedException {
            consumer.wakeup();
            join();
        }
    }

    private static Map<String, Object> membership(JsonNode order) {
        var settings = new HashMap<String, Object>();
        settings.put("group.id", text(order, "group"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("auto.commit.interval.ms", 100);
        settings.put("group.protocol", text(order, "protocol"));
        if (text(order, "protocol").equals("classic")) {
            settings.put("heartbeat.interval.ms", 100);
        }
        return settings;
    }

    private static Map<String, Object> copy(JsonNode order) {
        int committed = 0;
        int aborted = 0;
        int copied = 0;
        Map<String, Object> transactional =
            Map.of("transactional.id", text(order, "transactional_id"));
        var membership = new HashMap<>(membership(order));
        membership.put("enable.auto.commit", false);
        membership.put("max.poll.records", 10);
        membership.put("isolation.level", "read_committed");
        try (var producer = producer(order, transactional);
            var consumer = consumer(order, membership)) {
            producer.initTransactions();
            consumer.subscribe(List.of(text(order, "topic")));
            long deadline = deadline();
            while (copied < order.get("count").asInt()) {
                check(deadline, copied + " values copied");
                var records = consumer.poll(POLL);
                if (records.isEmpty()) {
                    continue;
                }
                producer.beginTransaction();
                for (var each : records) {
                    producer.send(new ProducerRecord<>(text(order, "to"), "copy of " + each.value()));
                }
                producer.sendOffsetsToTransaction(next(records), consumer.groupMetadata());
                if ((committed + aborted + 1) % order.get("abort_every").asInt() == 0) {
                    producer.abortTransaction();
                    aborted++;
                    rewind(consumer);
                } else {
                    producer.commitTransaction();
                    committed++;
                    copied += records.count();
                }
            }
        }
        return Map.of("committed", committed, "aborted", aborted);
    }

    private static Map<TopicPartition, OffsetAndMetadata> next(ConsumerRecords<?, ?> records) {
        var offsets = new HashMap<TopicPartition, OffsetAndMetadata>();
        for (var partition : records.partitions()) {
            var read = records.records(partition);
            long last = read.get(read.size() - 1).offset();
            offsets.put(partition, new OffsetAndMetadata(last + 1, "to " + last));
        }
        return offsets;
    }

    private static void rewind(KafkaConsumer<String, String> consumer) {
        var committed = consumer.committed(consumer.assignment());
        for (var partition : consumer.assignment()) {
            var offset = committed.get(partition);
            if (offset == null) {
                consumer.seekToBeginning(Set.of(partition));
            } else {
                consumer.seek(partition, offset);
            }
        }
    }

    /** Where a consumer may be put: by time, by offset, at the ends; and what a pause does. */
    private static Map<String, Object> positions(JsonNode order) {
        String topic = text(order, "topic");
        var found = new LinkedHashMap<String, Object>();
        try (var consumer = consumer(order, Map.of("max.poll.records", 1))) {
            var partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            var asked = Map.of(partition, order.get("timestamp").asLong());
            var byTime = consumer.offsetsForTimes(asked).get(partition);
            found.put("offset_for_time", byTime == null ? null : byTime.offset());
            found.put("begin", consumer.beginningOffsets(Set.of(partition)).get(partition));
            found.put("end", consumer.endOffsets(Set.of(partition)).get(partition));
            consumer.seek(partition, order.get("offset").asLong());
            found.put("after_seek", one(consumer));
            consumer.pause(Set.of(partition));
            found.put("while_paused", consumer.poll(Duration.ofMillis(300)).count());
            consumer.resume(Set.of(partition));
            found.put("after_resume", one(consumer));
            consumer.seekToEnd(Set.of(partition));
            found.put("position_at_end", consumer.position(partition));
        }
        return found;
    }

    private static String one(KafkaConsumer<String, String> consumer) {
        long deadline = deadline();
        while (true) {
            check(deadline, "no record");
            for (var each : consumer.poll(POLL)) {
                return each.value();
            }
        }
    }

    private static Map<String, Object> admin(JsonNode order) throws Exception {
        String topic = text(order, "topic");
        Map<String, Object> settings = Map.of("bootstrap.servers", text(order, "bootstrap"));
        var found = new LinkedHashMap<String, Object>();
        try (var admin = Admin.create(settings)) {
            var wanted = new NewTopic(topic, 2, (short) 1).configs(Map.of("retention.ms", "1000"));
            admin.createTopics(List.of(wanted)).all().get();
            try {
                admin.createTopics(List.of(wanted)).all().get();
            } catch (ExecutionException refused) {
                found.put("created_again", Errors.forException(refused.getCause()).code());
            }
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all().get();
            var described = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
            found.put("partitions", described.partitions().size());
            found.put("retention_before", retention(admin, topic));
            var raised = new ConfigEntry("retention.ms", "2000");
            var change = List.of(new AlterConfigOp(raised, AlterConfigOp.OpType.SET));
            admin.incrementalAlterConfigs(Map.of(resource(topic), change)).all().get();
            found.put("retention_after", retention(admin, topic));
            var groups = admin.describeConsumerGroups(List.of(text(order, "group"))).all().get();
            found.put("group_state", groups.get(text(order, "group")).state().toString());
            var partition = new TopicPartition(topic, 0);
            admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(0))).all().get();
            admin.listOffsets(Map.of(partition, OffsetSpec.maxTimestamp())).all().get();
            admin.deleteTopics(List.of(topic)).all().get();
            found.put("deleted", !admin.listTopics().names().get().contains(topic));
        }
        return found;
    }

    private static String retention(Admin admin, String topic) throws Exception {
        var configs = admin.describeConfigs(List.of(resource(topic))).all().get();
        return configs.get(resource(topic)).get("retention.ms").value();
    }

    private static ConfigResource resource(String topic) {
        return new ConfigResource(ConfigResource.Type.TOPIC, topic);
    }

    private static KafkaProducer<String, String> producer(JsonNode order, Map<String, Object> more) {
        var settings = new HashMap<String, Object>(more);
        settings.put("bootstrap.servers", text(order, "bootstrap"));
        settings.put("compression.type", text(order, "codec"));
        settings.put("acks", order.get("acks").asText());
        settings.put("enable.idempotence", order.get("acks").asInt() == -1);
        settings.put("max.request.size", 16 << 20); // so that the broker's limit is met first
        settings.put("linger.ms", 0);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static KafkaConsumer<String, String> consumer(JsonNode order, Map<String, Object> more) {
        var settings = new HashMap<String, Object>(more);
        settings.put("bootstrap.servers", text(order, "bootstrap"));
        settings.put("fetch.max.wait.ms", 100);
        if (order.path("read_committed").asBoolean()) {
            settings.put("isolation.level", "read_committed");
        }
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static Collection<TopicPartition> partitions(
        KafkaConsumer<String, String> consumer, String topic) {
        var partitions = new ArrayList<TopicPartition>();
        consumer.partitionsFor(topic)
            .forEach(each -> partitions.add(new TopicPartition(topic, each.partition())));
        return partitions;
    }

    private static ProducerRecord<String, String> record(String topic, JsonNode fields) {
        var record = new ProducerRecord<>(
            topic,
            fields.get("partition").asInt(),
            fields.get("timestamp").asLong(),
            text(fields, "key"),
            text(fields, "value"));
        for (JsonNode each : fields.get("headers")) {
            record.headers()
                .add(each.get(0).asText(), each.get(1).asText().getBytes(StandardCharsets.UTF_8));
        }
        return record;
    }

    private static Map<String, Object> fields(ConsumerRecord<String, String> record) {
        var headers = new ArrayList<List<String>>();
        for (Header each : record.headers()) {
            headers.add(List.of(each.key(), new String(each.value(), StandardCharsets.UTF_8)));
        }
        var fields = new TreeMap<String, Object>();
        fields.put("partition", record.partition());
        fields.put("offset", record.offset());
        fields.put("key", record.key());
        fields.put("value", record.value());
        fields.put("headers", headers);
        fields.put("timestamp", record.timestamp());
        return fields;
    }

    private static String text(JsonNode node, String field) {
        JsonNode found = node.get(field);
        return found == null || found.isNull() ? null : found.asText();
    }

    private static long deadline() {
        return System.currentTimeMillis() + ORDER_TIMEOUT_MS;
    }

    private static void check(long deadline, String reached) {
        if (System.currentTimeMillis() > deadline) {
            throw new IllegalStateException("too long: " + reached);
        }
    }
}
