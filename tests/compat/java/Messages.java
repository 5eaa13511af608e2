import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

/**
 * Reads messages with Kafka's generated classes, and writes them again.
 *
 * <p>A line "class version hex" is answered by "json TAB hex TAB bytes left", or by "! error".
 */
public final class Messages {
    private record Kind(Constructor<?> reader, Method converter) {}

    private static final Map<String, Kind> KINDS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(line.split(" ", 3)));
            out.flush();
        }
    }

    private static String answer(String[] question) throws Exception {
        try {
            short version = Short.parseShort(question[1]);
            byte[] bytes = HexFormat.of().parseHex(question[2]);
            return translate(kind(question[0]), version, bytes);
        } catch (InvocationTargetException e) {
            return failure(e.getCause());
        } catch (RuntimeException e) {
            return failure(e);
        }
    }

    private static String failure(Throwable e) {
        return "! " + String.valueOf(e).replace('\n', ' ');
    }

    private static String translate(Kind kind, short version, byte[] bytes) throws Exception {
        ByteBufferAccessor source = new ByteBufferAccessor(ByteBuffer.wrap(bytes));
        Message message = (Message) kind.reader().newInstance(source, version);
        JsonNode json = (JsonNode) kind.converter().invoke(null, message, version);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer target = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(target), cache, version);
        return json + "\t" + HexFormat.of().formatHex(target.array()) + "\t" + source.remaining();
    }

    private static Kind kind(String name) throws Exception {
        Kind known = KINDS.get(name);
        if (known == null) {
            Class<?> type = Class.forName(name);
            known =
                    new Kind(
                            type.getConstructor(Readable.class, short.class),
                            Class.forName(name + "JsonConverter")
                                    .getMethod("write", type, short.class));
            KINDS.put(name, known);
        }
        return known;
    }
}
