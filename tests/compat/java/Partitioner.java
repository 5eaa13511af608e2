import java.util.HexFormat;
import java.util.Scanner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** A key in hexadecimal digits and a count of partitions, to the partition of Kafka's producer. */
public final class Partitioner {
    public static void main(String[] arguments) {
        try (Scanner lines = new Scanner(System.in)) {
            while (lines.hasNextLine()) {
                String[] words = lines.nextLine().split(" ", -1);
                byte[] key = HexFormat.of().parseHex(words[0]);
                System.out.println(BuiltInPartitioner.partitionForKey(key, Integer.parseInt(words[1])));
            }
        }
    }
}
