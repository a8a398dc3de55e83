import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Starts a Plinth server with objects in memory before the tests of a class, and stops it after them. The environment
 * variable PLINTH is the command that runs Plinth; default: npx plinth.
 */
public final class PlinthExtension implements BeforeAllCallback, AfterAllCallback {
  private static final List<String> FLAGS =
      List.of(
          "--vocabulary=kubernetes",
          "--storage-backend=memory",
          "--secure-port=0",
          // Those of a kube-apiserver without a controller manager.
          "--controllers=event-expiry",
          "--log-level=warn");

  private Process server;
  private Path data;
  private String kubeconfig;

  /** Returns the content of the administrator's kubeconfig. */
  public String kubeconfig() {
    return kubeconfig;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    data = Files.createTempDirectory("plinth");
    var command = new ArrayList<>(List.of(System.getenv().getOrDefault("PLINTH", "npx plinth").split(" ")));
    command.add("serve");
    command.addAll(FLAGS);
    command.add("--data-dir=" + data);
    server = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    kubeconfig = Files.readString(administratorOf(server.inputReader()));
  }

  /** Waits until the server prints the path of the kubeconfig, which it does when it is ready. */
  private static Path administratorOf(BufferedReader output) throws IOException {
    var prefix = "administrator: ";
    for (var line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(prefix)) return Path.of(line.substring(prefix.length()));
    }
    throw new IllegalStateException("plinth ended before it was ready");
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    if (server == null) return;
    // npx runs the server in a process of its own.
    server.descendants().forEach(ProcessHandle::destroy);
    server.destroy();
    server.waitFor(20, TimeUnit.SECONDS);
    try (var files = Files.walk(data)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
