import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import java.util.Scanner;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.serialization.BytesApiMessageSerde;
import org.apache.kafka.server.log.remote.metadata.storage.generated.MetadataRecordType;

/**
 * Reads records of internal topics with the serdes of Kafka's broker, and writes them again.
 *
 * <p>"metadata hex" and "remote hex" are answered by "class version hex"; "groups key value",
 * "transactions key value" and "shares key value", where the value may be "-" for a tombstone, by
 * "key class, value class, value version, key, value".
 */
public final class RecordFrames {
    private static final HexFormat HEX = HexFormat.of();
    private static final Map<String, BytesApiMessageSerde> TYPED =
            Map.of(
                    "metadata",
                    new BytesApiMessageSerde() {
                        @Override
                        public ApiMessage apiMessageFor(short key) {
                            return org.apache.kafka.common.metadata.MetadataRecordType.fromId(key)
                                    .newMetadataRecord();
                        }
                    },
                    "remote",
                    new BytesApiMessageSerde() {
                        @Override
                        public ApiMessage apiMessageFor(short key) {
                            return MetadataRecordType.fromId(key).newMetadataRecord();
                        }
                    });
    private static final Map<String, CoordinatorRecordSerde> KEYED =
            Map.of(
                    "groups", new GroupCoordinatorRecordSerde(),
                    "transactions", new TransactionCoordinatorRecordSerde(),
                    "shares", new ShareCoordinatorRecordSerde());

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] words = in.nextLine().split(" ");
            System.out.println(words.length == 2 ? typed(words) : keyed(words));
        }
    }

    private static String typed(String[] words) {
        BytesApiMessageSerde serde = TYPED.get(words[0]);
        ApiMessageAndVersion read = serde.deserialize(HEX.parseHex(words[1]));
        return described(read) + " " + HEX.formatHex(serde.serialize(read));
    }

    private static String keyed(String[] words) {
        CoordinatorRecordSerde serde = KEYED.get(words[0]);
        ByteBuffer value = words[2].equals("-") ? null : ByteBuffer.wrap(HEX.parseHex(words[2]));
        CoordinatorRecord read =
                serde.deserialize(ByteBuffer.wrap(HEX.parseHex(words[1])), value);
        byte[] written = serde.serializeValue(read);
        return String.join(
                " ",
                read.key().getClass().getSimpleName(),
                value == null ? "- -" : described(read.value()),
                HEX.formatHex(serde.serializeKey(read)),
                written == null ? "-" : HEX.formatHex(written));
    }

    private static String described(ApiMessageAndVersion read) {
        return read.message().getClass().getSimpleName() + " " + read.version();
    }
}
