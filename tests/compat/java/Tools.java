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
 * Kafka's tools, one after another in one machine: a line names a tool's class, its arguments and
 * its input; the answer is its status and what it printed. Not for tools with shutdown hooks of
 * their own making, which run only when their process ends.
 */
public class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Thrown where a tool would end the process. */
    private static final class Exited extends Error {
        Exited(String message) {
            super(message);
        }
    }

    private static Integer status;
    private static final List<Runnable> HOOKS = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        Exit.setExitProcedure(Tools::exit);
        Exit.setHaltProcedure(Tools::exit);
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            answers.println(JSON.writeValueAsString(run(JSON.readTree(line))));
        }
        answers.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void exit(int code, String message) {
        status = status == null ? code : status;
        throw new Exited(message);
    }

    private static Map<String, Object> run(JsonNode order) throws Exception {
        var printed = new ByteArrayOutputStream();
        var complained = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        System.setIn(new ByteArrayInputStream(
            order.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        status = null;
        HOOKS.clear();
        String[] arguments = JSON.convertValue(order.get("arguments"), String[].class);
        PrintStream out = System.out;
        PrintStream err = System.err;
        // Tools in Scala print to where the first of them did, unless they are told otherwise.
        scala.Console.withOut(out, () -> scala.Console.withErr(err, () -> {
            runMain(order.get("tool").asText(), arguments);
            return null;
        }));
        HOOKS.forEach(Runnable::run);
        return Map.of(
            "status", status == null ? 0 : status,
            "printed", printed.toString(StandardCharsets.UTF_8),
            "complained", complained.toString(StandardCharsets.UTF_8));
    }

    private static void runMain(String tool, String[] arguments) {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException ended) {
            if (!(ended.getCause() instanceof Exited)) {
                ended.getCause().printStackTrace();
                status = status == null ? 1 : status;
            }
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
