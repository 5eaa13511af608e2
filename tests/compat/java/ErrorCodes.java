import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Scanner;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Answers any line with Kafka's error codes: code, name, message, retriable, stale metadata. */
public final class ErrorCodes {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            ArrayNode all = new ObjectMapper().createArrayNode();
            for (Errors error : Errors.values()) {
                all.addArray()
                        .add(error.code())
                        .add(error.name())
                        .add(error.message())
                        .add(error.exception() instanceof RetriableException)
                        .add(error.exception() instanceof InvalidMetadataException);
            }
            System.out.println(all);
        }
    }
}
