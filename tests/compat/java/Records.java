import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.compress.GzipCompression;
import org.apache.kafka.common.compress.Lz4Compression;
import org.apache.kafka.common.compress.ZstdCompression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.ByteBufferOutputStream;

/** Kafka's own record batches: one JSON question a line, one JSON answer a line. Bytes are hex. */
public class Records {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CAPACITY = 1 << 16;

    public static void main(String[] args) throws Exception {
        BufferedReader questions =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode answer;
            try {
                answer = answer(JSON.readTree(line));
            } catch (Exception | Error refusal) {
                answer = JSON.createObjectNode().put("error", refusal.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static JsonNode answer(JsonNode question) throws Exception {
        String op = question.get("op").asText();
        return switch (op) {
            case "build" -> bytes(build(question).buffer());
            case "build_empty" -> bytes(buildEmpty(question));
            case "build_marker" -> bytes(buildMarker(question).buffer());
            case "build_kraft" -> buildKraft();
            case "read" -> read(MemoryRecords.readableRecords(bytes(question.get("bytes"))));
            case "compress" -> compress(question);
            case "decompress" -> decompress(question);
            default -> throw new IllegalArgumentException(op);
        };
    }

    private static MemoryRecords build(JsonNode question) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
            new ByteBufferOutputStream(CAPACITY),
            (byte) question.get("magic").asInt(),
            compression(question),
            timestampType(question),
            question.get("base_offset").asLong(),
            question.get("log_append_time").asLong(RecordBatch.NO_TIMESTAMP),
            question.get("producer_id").asLong(),
            (short) question.get("producer_epoch").asInt(),
            question.get("base_sequence").asInt(),
            question.get("is_transactional").asBoolean(),
            false,
            question.get("leader_epoch").asInt(),
            Integer.MAX_VALUE,
            question.get("delete_horizon_ms").asLong(RecordBatch.NO_TIMESTAMP));
        for (JsonNode record : question.get("records")) {
            builder.appendWithOffset(
                record.get("offset").asLong(),
                record.get("timestamp_ms").asLong(),
                array(record.get("key")),
                array(record.get("value")),
                headers(record.get("headers")));
        }
        return builder.build();
    }

    private static ByteBuffer buildEmpty(JsonNode question) {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
            buffer,
            RecordBatch.CURRENT_MAGIC_VALUE,
            question.get("producer_id").asLong(),
            (short) question.get("producer_epoch").asInt(),
            question.get("base_sequence").asInt(),
            question.get("base_offset").asLong(),
            question.get("last_offset").asLong(),
            question.get("leader_epoch").asInt(),
            timestampType(question),
            question.get("max_timestamp").asLong(),
            question.get("is_transactional").asBoolean(),
            question.get("is_control").asBoolean());
        buffer.flip();
        return buffer;
    }

    private static MemoryRecords buildMarker(JsonNode question) {
        return MemoryRecords.withEndTransactionMarker(
            question.get("base_offset").asLong(),
            question.get("timestamp_ms").asLong(),
            question.get("leader_epoch").asInt(),
            question.get("producer_id").asLong(),
            (short) question.get("producer_epoch").asInt(),
            new EndTransactionMarker(
                ControlRecordType.valueOf(question.get("type").asText()),
                question.get("coordinator_epoch").asInt()));
    }

    private static JsonNode buildKraft() {
        ObjectNode built = JSON.createObjectNode();
        built.set("LEADER_CHANGE", bytes(MemoryRecords.withLeaderChangeMessage(
            0, 1, 2, ByteBuffer.allocate(CAPACITY), new LeaderChangeMessage()).buffer()));
        built.set("SNAPSHOT_HEADER", bytes(MemoryRecords.withSnapshotHeaderRecord(
            0, 1, 2, ByteBuffer.allocate(CAPACITY), new SnapshotHeaderRecord()).buffer()));
        built.set("SNAPSHOT_FOOTER", bytes(MemoryRecords.withSnapshotFooterRecord(
            0, 1, 2, ByteBuffer.allocate(CAPACITY), new SnapshotFooterRecord()).buffer()));
        built.set("KRAFT_VERSION", bytes(MemoryRecords.withKRaftVersionRecord(
            0, 1, 2, ByteBuffer.allocate(CAPACITY), new KRaftVersionRecord()).buffer()));
        built.set("KRAFT_VOTERS", bytes(MemoryRecords.withVotersRecord(
            0, 1, 2, ByteBuffer.allocate(CAPACITY), new VotersRecord()).buffer()));
        return built;
    }

    private static ArrayNode read(MemoryRecords records) {
        ArrayNode batches = JSON.createArrayNode();
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            ObjectNode described = batches.addObject()
                .put("magic", batch.magic())
                .put("base_offset", batch.baseOffset())
                .put("last_offset", batch.lastOffset())
                .put("leader_epoch", batch.partitionLeaderEpoch())
                .put("compression", batch.compressionType().name())
                .put("timestamp_type", batch.timestampType().name())
                .put("max_timestamp", batch.maxTimestamp())
                .put("producer_id", batch.producerId())
                .put("producer_epoch", batch.producerEpoch())
                .put("base_sequence", batch.baseSequence())
                .put("is_transactional", batch.isTransactional())
                .put("is_control", batch.isControlBatch());
            ArrayNode read = described.putArray("records");
            for (Record record : batch) {
                record.ensureValid();
                read.add(describe(record));
                if (batch.isControlBatch()) {
                    described.put("control_type", ControlRecordType.parse(record.key()).name());
                }
            }
        }
        return batches;
    }

    private static ObjectNode describe(Record record) {
        ObjectNode described = JSON.createObjectNode()
            .put("offset", record.offset())
            .put("timestamp_ms", record.timestamp());
        described.set("key", record.hasKey() ? bytes(record.key()) : null);
        described.set("value", record.hasValue() ? bytes(record.value()) : null);
        ArrayNode headers = described.putArray("headers");
        for (Header header : record.headers()) {
            ArrayNode pair = headers.addArray().add(header.key());
            pair.add(header.value() == null ? null : HexFormat.of().formatHex(header.value()));
        }
        return described;
    }

    private static JsonNode compress(JsonNode question) throws Exception {
        ByteBufferOutputStream sink = new ByteBufferOutputStream(CAPACITY);
        try (OutputStream stream = compression(question)
                .wrapForOutput(sink, RecordBatch.CURRENT_MAGIC_VALUE)) {
            stream.write(array(question.get("bytes")));
        }
        sink.buffer().flip();
        return bytes(sink.buffer());
    }

    private static JsonNode decompress(JsonNode question) throws Exception {
        try (InputStream stream = compression(question).wrapForInput(
                bytes(question.get("bytes")),
                RecordBatch.CURRENT_MAGIC_VALUE,
                BufferSupplier.NO_CACHING)) {
            return bytes(ByteBuffer.wrap(stream.readAllBytes()));
        }
    }

    private static Compression compression(JsonNode question) {
        CompressionType type = CompressionType.valueOf(question.get("compression").asText());
        JsonNode level = question.get("level");
        if (level == null || level.isNull()) {
            return Compression.of(type).build();
        }
        return switch (type) {
            case GZIP -> new GzipCompression.Builder().level(level.asInt()).build();
            case LZ4 -> new Lz4Compression.Builder().level(level.asInt()).build();
            case ZSTD -> new ZstdCompression.Builder().level(level.asInt()).build();
            default -> throw new IllegalArgumentException(type + " has no levels");
        };
    }

    private static TimestampType timestampType(JsonNode question) {
        return question.get("log_append_time").isNull()
            ? TimestampType.CREATE_TIME
            : TimestampType.LOG_APPEND_TIME;
    }

    private static Header[] headers(JsonNode pairs) {
        Header[] headers = new Header[pairs.size()];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader(pairs.get(i).get(0).asText(), array(pairs.get(i).get(1)));
        }
        return headers;
    }

    private static JsonNode bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return JSON.getNodeFactory().textNode(HexFormat.of().formatHex(copy));
    }

    private static ByteBuffer bytes(JsonNode hex) {
        return ByteBuffer.wrap(array(hex));
    }

    private static byte[] array(JsonNode hex) {
        return hex.isNull() ? null : HexFormat.of().parseHex(hex.asText());
    }
}
