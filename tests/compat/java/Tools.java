import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's tools without a new JVM for each: a line in is a class and its arguments between tabs, a
 * line out the status that it ended with and what it printed, in base64.
 */
public class Tools {
    /** What a tool says to end with first: some catch what is thrown in place of the end. */
    private static Integer status;

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((wanted, message) -> {
            if (status == null) status = wanted;
            throw new IllegalStateException("ended with " + wanted);
        });
        PrintStream out = System.out;
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
            System.setOut(stream);
            System.setErr(stream);
            status = null;
            run(line.split("\t"), stream);
            out.println(status + " " + Base64.getEncoder().encodeToString(printed.toByteArray()));
            out.flush();
        }
    }

    private static void run(String[] words, PrintStream stream) {
        String[] arguments = Arrays.copyOfRange(words, 1, words.length);
        try {
            scala.Console.withOut(stream, () -> scala.Console.withErr(stream, () -> {
                try {
                    Class.forName(words[0]).getMethod("main", String[].class)
                            .invoke(null, (Object) arguments);
                } catch (java.lang.reflect.InvocationTargetException error) {
                    Tools.<RuntimeException>raise(error.getCause());
                } catch (ReflectiveOperationException error) {
                    throw new IllegalArgumentException(error);
                }
                return null;
            }));
            if (status == null) status = 0;
        } catch (Throwable error) {
            if (status != null) return;
            error.printStackTrace(stream);
            status = 1;
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void raise(Throwable error) throws T {
        throw (T) error;
    }
}
