import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBFactory;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.Options;

/** Runs the DBFactory of the class that is its argument, as src/peer.ts describes. */
public class Peer {
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private static DBFactory factory;
    private static DB db;

    static byte[] bytesOf(String token) {
        byte[] bytes = new byte[token.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(token.substring(1 + 2 * i, 3 + 2 * i), 16);
        }
        return bytes;
    }

    static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder("x");
        for (byte b : bytes) {
            text.append(DIGITS[(b >> 4) & 15]).append(DIGITS[b & 15]);
        }
        return text.toString();
    }

    static void apply(String path) throws IOException {
        for (String line : Files.readAllLines(Path.of(path))) {
            String[] fields = line.split(" ");
            if (fields[0].equals("put")) {
                db.put(bytesOf(fields[1]), bytesOf(fields[2]));
            } else {
                db.delete(bytesOf(fields[1]));
            }
        }
    }

    static void dump(String path) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(Path.of(path)); DBIterator iterator = db.iterator()) {
            for (iterator.seekToFirst(); iterator.hasNext(); ) {
                Map.Entry<byte[], byte[]> entry = iterator.next();
                out.write(hex(entry.getKey()) + " " + hex(entry.getValue()) + "\n");
            }
        }
    }

    static void run(String command, String argument) throws Exception {
        if (db == null && !command.equals("open")) {
            throw new IllegalStateException("not open");
        }
        switch (command) {
            case "open":
                String[] parts = argument.split(" ", 2);
                Options options = new Options().createIfMissing(true).writeBufferSize(Integer.parseInt(parts[0])).verifyChecksums(true);
                db = factory.open(new File(parts[1]), options.compressionType(CompressionType.SNAPPY));
                break;
            case "apply":
                apply(argument);
                break;
            case "flush":
                db.getClass().getMethod("flushMemTable").invoke(db);
                break;
            case "compact":
                db.compactRange(null, null);
                break;
            case "dump":
                dump(argument);
                break;
            case "close":
                db.close();
                db = null;
                break;
            default:
                throw new IllegalArgumentException("unknown command " + command);
        }
    }

    public static void main(String[] arguments) throws Exception {
        factory = (DBFactory) Class.forName(arguments[0]).getField("factory").get(null);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ", 2);
            try {
                run(parts[0], parts.length > 1 ? parts[1] : "");
                System.out.println("ok");
            } catch (Throwable error) {
                System.out.println("error " + String.valueOf(error).replace('\n', ' '));
            }
        }
    }
}
