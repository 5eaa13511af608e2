import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's tools without a new JVM for each: a line of JSON names a tool's class, its arguments and
 * its input; the answer is its status and what it printed. Not for tools that add shutdown hooks to
 * the JVM itself.
 */
public class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<Runnable> HOOKS = new ArrayList<>();

    /** What a tool says to end with first: some catch what is thrown in place of the end. */
    private static Integer status;

    /** Thrown where a tool would end the process. */
    private static final class Ended extends RuntimeException {
        Ended(int status) {
            super("ended with " + status);
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        Exit.setExitProcedure(Tools::end);
        Exit.setHaltProcedure(Tools::end);
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            answers.println(JSON.writeValueAsString(carryOut(JSON.readTree(line))));
            answers.flush();
        }
    }

    private static void end(int wanted, String message) {
        if (status == null) {
            status = wanted;
        }
        throw new Ended(wanted);
    }

    private static Map<String, Object> carryOut(JsonNode order) throws Exception {
        var printed = new ByteArrayOutputStream();
        var complained = new ByteArrayOutputStream();
        var out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        var err = new PrintStream(complained, true, StandardCharsets.UTF_8);
        System.setOut(out);
        System.setErr(err);
        byte[] input = order.get("input").asText().getBytes(StandardCharsets.UTF_8);
        System.setIn(new ByteArrayInputStream(input));
        status = null;
        HOOKS.clear();
        scala.Console.withOut(out, () -> scala.Console.withErr(err, () -> {
            run(order.get("tool").asText(), JSON.convertValue(order.get("words"), String[].class));
            return null;
        }));
        HOOKS.forEach(Runnable::run);
        return Map.of(
            "status", status == null ? 0 : status,
            "printed", printed.toString(StandardCharsets.UTF_8),
            "complained", complained.toString(StandardCharsets.UTF_8));
    }

    private static void run(String tool, String[] words) {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) words);
        } catch (InvocationTargetException error) {
            if (status == null) {
                error.getCause().printStackTrace();
                status = 1;
            }
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
