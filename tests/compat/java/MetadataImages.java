import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.FileRawSnapshotReader;
import org.apache.kafka.snapshot.RecordsSnapshotReader;

/**
 * Kafka's own metadata image, rebuilt from a snapshot: its directory, end offset and epoch a line
 * in, the number of topics and of nanoseconds out.
 */
public class MetadataImages {
    private static final int BATCH_BYTES_MAX = 8 * 1024 * 1024;

    public static void main(String[] arguments) throws Exception {
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            var id = new OffsetAndEpoch(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            long begun = System.nanoTime();
            MetadataImage image = read(Path.of(words[0]), id);
            long nanoseconds = System.nanoTime() - begun;
            System.out.println(image.topics().topicsById().size() + " " + nanoseconds);
        }
    }

    private static MetadataImage read(Path directory, OffsetAndEpoch id) {
        var delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        var raw = FileRawSnapshotReader.open(directory, id);
        try (var reader = RecordsSnapshotReader.of(raw, MetadataRecordSerde.INSTANCE,
                BufferSupplier.create(), BATCH_BYTES_MAX, true, new LogContext())) {
            while (reader.hasNext()) {
                for (ApiMessageAndVersion record : reader.next()) {
                    delta.replay(record.message());
                }
            }
        }
        delta.finishSnapshot();
        return delta.apply(new MetadataProvenance(id.offset() - 1, id.epoch(), 0, true));
    }
}
