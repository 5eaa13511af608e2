import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;

/** A whole Apache Kafka node in this process, and its own clients against any broker. */
public class KafkaNode {
    private static KafkaRaftServer server;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" "));
            } catch (Throwable error) {
                answer = ("error " + Utils.stackTrace(error)).replace('\n', '|');
            }
            System.out.println(answer);
        }
        System.exit(0);
    }

    private static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "format":
                String[] arguments = {
                    "format", "-t", words[2], "-c", words[1], "--standalone"};
                PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
                return "status " + StorageTool.execute(arguments, nowhere);
            case "start":
                Properties properties = new Properties();
                try (FileInputStream file = new FileInputStream(words[1])) {
                    properties.load(file);
                }
                server = new KafkaRaftServer(KafkaConfig.fromProps(properties), Time.SYSTEM);
                server.startup();
                return "started";
            case "stop":
                server.shutdown();
                server.awaitShutdown();
                return "stopped";
            case "more":
                more(words[1], words[2]);
                return "produced";
            case "produce":
                produce(words[1]);
                return "produced";
            case "read":
                return read(words[1], words[2]);
            case "committed":
                return committed(words[1], words[2]);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static Map<String, Object> client(String bootstrap, String... settings) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < settings.length; i += 2) {
            config.put(settings[i], settings[i + 1]);
        }
        return config;
    }

    private static KafkaProducer<byte[], byte[]> producer(String bootstrap, String... settings) {
        ByteArraySerializer bytes = new ByteArraySerializer();
        return new KafkaProducer<>(client(bootstrap, settings), bytes, bytes);
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String... settings) {
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        return new KafkaConsumer<>(client(bootstrap, settings), bytes, bytes);
    }

    private static void produce(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(client(bootstrap))) {
            List<NewTopic> topics = new ArrayList<>();
            for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
                topics.add(new NewTopic(codec, 1, (short) 1));
            }
            topics.add(new NewTopic("big", 2, (short) 1)
                .configs(Map.of("segment.bytes", "1048576")));
            topics.add(new NewTopic("compacted", 1, (short) 1).configs(Map.of(
                "cleanup.policy", "compact", "segment.ms", "100",
                "min.cleanable.dirty.ratio", "0.001")));
            topics.add(new NewTopic("transactions", 1, (short) 1));
            topics.add(new NewTopic("open", 1, (short) 1));
            admin.createTopics(topics).all().get();
            inEveryCodec(bootstrap);
            inManySegments(bootstrap);
            inTransactions(bootstrap);
            overAndOver(bootstrap);
            TopicPartition none = new TopicPartition("none", 0);
            admin.deleteRecords(Map.of(none, RecordsToDelete.beforeOffset(7))).all().get();
        }
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, "group.id", "readers")) {
            TopicPartition gzip = new TopicPartition("gzip", 0);
            consumer.assign(List.of(gzip));
            consumer.commitSync(Map.of(gzip, new OffsetAndMetadata(33, "so far")));
        }
    }

    private static void more(String bootstrap, String text) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
            for (String topic : List.of("none", "zstd", "big", "compacted")) {
                byte[] value = (text + " " + topic).getBytes();
                producer.send(new ProducerRecord<>(topic, 0, text.getBytes(), value)).get();
            }
        }
        // Ends what the producer of this id has left open, wherever it did so.
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "transactional.id", "t2")) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("open", 0, null, text.getBytes()));
            producer.commitTransaction();
        }
    }

    private static void inEveryCodec(String bootstrap) throws Exception {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            String[] settings = {"compression.type", codec, "linger.ms", "2"};
            try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, settings)) {
                for (int n = 0; n < 60; n++) {
                    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                        codec, n % 5 == 0 ? null : ("k" + n).getBytes(),
                        n % 7 == 0 ? null : ("value " + n).repeat(1 + n % 9).getBytes());
                    record.headers().add("h", new byte[] {(byte) n}).add("none", null);
                    producer.send(record);
                    if (n % 20 == 19) {
                        producer.flush();
                    }
                }
            }
        }
    }

    private static void inManySegments(String bootstrap) throws Exception {
        Random random = new Random(1);
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "acks", "all")) {
            for (int n = 0; n < 320; n++) {
                byte[] value = new byte[15_000];
                random.nextBytes(value);
                producer.send(new ProducerRecord<>("big", n % 2, null, value));
            }
        }
    }

    private static void inTransactions(String bootstrap) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap, "transactional.id", "t1")) {
            producer.initTransactions();
            for (int n = 0; n < 6; n++) {
                producer.beginTransaction();
                for (int i = 0; i < 3; i++) {
                    byte[] value = ("transaction " + n + "." + i).getBytes();
                    producer.send(new ProducerRecord<>("transactions", 0, null, value));
                }
                if (n % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.flush();
                    producer.abortTransaction();
                }
            }
        }
        KafkaProducer<byte[], byte[]> left = producer(
            bootstrap, "transactional.id", "t2", "transaction.timeout.ms", "600000");
        left.initTransactions();
        left.beginTransaction();
        left.send(new ProducerRecord<>("open", 0, null, "committed".getBytes())).get();
        left.commitTransaction();
        left.beginTransaction();
        left.send(new ProducerRecord<>("open", 0, null, "undecided".getBytes())).get();
        left.close(Duration.ZERO);
    }

    private static void overAndOver(String bootstrap) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(bootstrap)) {
            for (int round = 0; round < 3; round++) {
                for (int n = 0; n < 100; n++) {
                    byte[] value = n % 10 == 9 && round == 2 ? null : ("v" + n).getBytes();
                    producer.send(new ProducerRecord<>("compacted", 0, ("k" + n % 10).getBytes(), value));
                }
                producer.flush();
                Thread.sleep(150);
            }
        }
    }

    /** All that a consumer sees of every topic that is not internal, one partition after another. */
    private static String read(String bootstrap, String isolation) {
        String[] settings = {"isolation.level", isolation, "auto.offset.reset", "earliest", "fetch.max.wait.ms", "10"};
        StringBuilder found = new StringBuilder();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, settings)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (Map.Entry<String, List<PartitionInfo>> topic : consumer.listTopics().entrySet()) {
                if (!topic.getKey().startsWith("__")) {
                    topic.getValue().forEach(
                        each -> partitions.add(new TopicPartition(each.topic(), each.partition())));
                }
            }
            partitions.sort(Comparator.comparing(TopicPartition::toString));
            Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            for (TopicPartition partition : partitions) {
                long end = ends.get(partition);
                found.append(partition).append('[').append(starts.get(partition)).append(':');
                found.append(end).append(']');
                consumer.assign(List.of(partition));
                consumer.seekToBeginning(List.of(partition));
                long deadline = System.currentTimeMillis() + 20_000;
                while (consumer.position(partition) < end) {
                    if (System.currentTimeMillis() > deadline) {
                        throw new IllegalStateException(partition + " ends before " + end);
                    }
                    consumer.poll(Duration.ofMillis(100)).forEach(record -> append(found, record));
                }
                found.append(';');
            }
        }
        return found.toString();
    }

    private static void append(StringBuilder found, ConsumerRecord<byte[], byte[]> record) {
        found.append(record.offset()).append('/').append(checksum(record.key())).append('/');
        found.append(checksum(record.value())).append('/').append(record.timestamp()).append('/');
        record.headers().forEach(
            header -> found.append(header.key()).append(checksum(header.value())));
        found.append(',');
    }

    private static String checksum(byte[] bytes) {
        if (bytes == null) {
            return "-";
        }
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return Long.toString(crc.getValue());
    }

    private static String committed(String bootstrap, String group) throws Exception {
        try (Admin admin = Admin.create(client(bootstrap))) {
            Map<String, String> found = new TreeMap<>();
            admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach(
                (partition, offset) -> found.put(
                    partition.toString(), offset.offset() + ":" + offset.metadata()));
            return found.toString();
        }
    }
}
