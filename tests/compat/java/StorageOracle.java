import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Opens partition directories as a Kafka broker does, describes what is in them, and writes one. */
public class StorageOracle {
    private static final KafkaScheduler SCHEDULER = new KafkaScheduler(1);

    public static void main(String[] args) throws Exception {
        SCHEDULER.startup();
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
        SCHEDULER.shutdown();
    }

    private static String answer(String[] words) throws Exception {
        File directory = new File(words[1]);
        if (words[0].equals("open")) {
            boolean isClean = Boolean.parseBoolean(words[2]);
            try (UnifiedLog log = open(directory, Long.parseLong(words[3]), isClean)) {
                return describe(log);
            }
        }
        if (words[0].equals("compact")) { // directory, first dirty offset, time of the pass
            try (UnifiedLog log = open(directory, 0, true)) {
                long now = Long.parseLong(words[3]);
                long end = log.activeSegment().baseOffset();
                Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(1 << 20), 1 << 20, 1 << 21, 0.9,
                    new Throttler(Double.MAX_VALUE, 300, "throttle", "bytes", Time.SYSTEM),
                    Time.SYSTEM, partition -> { });
                LogToClean work = new LogToClean(log, Long.parseLong(words[2]), end, false);
                return "cleaned=" + cleaner.doClean(work, now).getKey();
            }
        }
        if (words[0].equals("abandon")) { // as a killed broker leaves it: indexes preallocated
            UnifiedLog log = open(directory, 0, true);
            write(log);
            return describe(log);
        }
        try (UnifiedLog log = open(directory, 0, true)) {
            write(log);
            return describe(log);
        }
    }

    private static UnifiedLog open(File directory, long recoveryPoint, boolean isClean)
            throws Exception {
        LogConfig config = new LogConfig(Map.of(
            "cleanup.policy", "compact,delete",
            "internal.segment.bytes", "2000",
            "index.interval.bytes", "200",
            "segment.index.bytes", "4000"));
        return UnifiedLog.create(directory, config, 0, recoveryPoint, SCHEDULER,
            new BrokerTopicStats(false), Time.SYSTEM, 60000,
            new ProducerStateManagerConfig(Integer.MAX_VALUE, false), 600000,
            new LogDirFailureChannel(1), isClean, Optional.empty());
    }

    private static void write(UnifiedLog log) throws Exception {
        long now = System.currentTimeMillis();
        int[] sequences = new int[3];
        for (int n = 0; n < 60; n++) {
            int epoch = n / 20;
            SimpleRecord[] records = new SimpleRecord[1 + n % 4];
            for (int r = 0; r < records.length; r++)
                records[r] = new SimpleRecord(now + n * 10 - r, ("k" + n).getBytes(), ("v" + n + "-" + r).getBytes());
            int producer = n % 3;
            if (producer == 0) {
                Compression compression = n % 2 == 0 ? Compression.NONE : Compression.gzip().build();
                log.appendAsLeader(MemoryRecords.withRecords(compression, records), epoch);
            } else {
                log.appendAsLeader(MemoryRecords.withTransactionalRecords(
                    Compression.NONE, producer, (short) 0, sequences[producer], records), epoch);
                sequences[producer] += records.length;
                if (n % 7 == 0 || n % 11 == 0) {
                    ControlRecordType type = n % 2 == 0 ? ControlRecordType.ABORT : ControlRecordType.COMMIT;
                    log.appendAsLeader(MemoryRecords.withEndTransactionMarker(
                        producer, (short) 0, new EndTransactionMarker(type, 0)), epoch, AppendOrigin.COORDINATOR,
                        RequestLocal.noCaching(), VerificationGuard.SENTINEL, (short) 1);
                }
            }
        }
    }

    private static String describe(UnifiedLog log) throws Exception {
        List<String> records = new ArrayList<>();
        long offset = log.logStartOffset();
        while (offset < log.logEndOffset()) {
            for (RecordBatch batch : log.read(offset, 1 << 20, FetchIsolation.LOG_END, true).records.batches()) {
                batch.ensureValid();
                for (Record record : batch) {
                    String value = batch.isControlBatch() ? "control" : record.hasValue() ? Utils.utf8(record.value()) : "";
                    records.add(record.offset() + "=" + value + "@" + record.timestamp());
                }
                offset = batch.nextOffset();
            }
        }
        List<String> epochs = new ArrayList<>();
        log.leaderEpochCache().epochEntries().forEach(e -> epochs.add(e.epoch() + ":" + e.startOffset()));
        List<String> aborted = new ArrayList<>();
        for (AbortedTxn txn : log.collectAbortedTransactions(log.logStartOffset(), log.logEndOffset() + 1))
            aborted.add(txn.producerId() + ":" + txn.firstOffset() + ":" + txn.lastOffset() + ":" + txn.lastStableOffset());
        List<String> producers = new ArrayList<>();
        for (ProducerStateEntry entry : new TreeMap<>(log.producerStateManager().activeProducers()).values()) {
            int sequence = entry.batchMetadata().stream().reduce((a, b) -> b).map(b -> b.lastSeq()).orElse(-1);
            producers.add(entry.producerId() + ":" + entry.producerEpoch() + ":" + sequence + ":" + entry.currentTxnFirstOffset().orElse(-1));
        }
        return String.join(";", "start=" + log.logStartOffset(), "end=" + log.logEndOffset(),
            "epochs=" + String.join(",", epochs), "aborted=" + String.join(",", aborted),
            "producers=" + String.join(",", producers), "records=" + String.join(",", records));
    }
}
