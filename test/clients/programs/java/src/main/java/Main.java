import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The Java client libraries, unchanged, against a server of a kubeconfig. Ends with 1 where a check fails. */
public final class Main {
  /** One thing that a client does; throws where the server doesn't do its part. */
  interface Check {
    void run() throws Exception;
  }

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    String kubeconfig = System.getenv("KUBECONFIG");
    Map<String, Check> checks = new LinkedHashMap<>();
    checks.put("fabric8", () -> Fabric8Client.run(read(kubeconfig)));
    checks.put("fabric8 informer", () -> Fabric8Client.informer(read(kubeconfig)));
    checks.put("client-java", () -> OfficialClient.run(read(kubeconfig)));
    checks.put("client-java informer", () -> OfficialClient.informer(read(kubeconfig)));
    boolean failed = false;
    for (Map.Entry<String, Check> check : checks.entrySet()) {
      long begun = System.nanoTime();
      try {
        check.getValue().run();
        System.out.printf("ok %s (%d ms)%n", check.getKey(), (System.nanoTime() - begun) / 1_000_000);
      } catch (Exception | AssertionError failure) {
        failed = true;
        System.out.println("FAILED " + check.getKey());
        failure.printStackTrace(System.out);
      }
    }
    System.exit(failed ? 1 : 0);
  }

  /** Fails the check where what it expects isn't so. */
  static void expect(boolean holds, Object shown) {
    if (!holds) throw new AssertionError(String.valueOf(shown));
  }

  private static String read(String path) throws IOException {
    return Files.readString(Path.of(path));
  }
}
