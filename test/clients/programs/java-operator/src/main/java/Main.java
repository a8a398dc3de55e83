import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import io.javaoperatorsdk.operator.Operator;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** An operator of the Java Operator SDK, unchanged, against a server of a kubeconfig. Exits with 1 if a check fails. */
public final class Main {
  private static final String DEFINITION = """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: pages.operator.example.com
      spec:
        group: operator.example.com
        scope: Namespaced
        names: {plural: pages, singular: page, kind: Page}
        versions:
        - name: v1
          served: true
          storage: true
          subresources: {status: {}}
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec: {type: object, properties: {text: {type: string}}}
                status: {type: object, properties: {shown: {type: string}}}
      """;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    String kubeconfig = Files.readString(Path.of(System.getenv("KUBECONFIG")));
    boolean passed = check("operator with a dependent, Vert.x client", kubeconfig, "vertx", new VertxHttpClientFactory());
    passed &= check("operator with a dependent, JDK client", kubeconfig, "jdk", new JdkHttpClientFactory());
    System.exit(passed ? 0 : 1);
  }

  private static boolean check(String name, String kubeconfig, String namespace, HttpClient.Factory factory) {
    long begun = System.nanoTime();
    Config config = Config.fromKubeconfig(kubeconfig);
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).withHttpClientFactory(factory).build()) {
      operate(client, "operator-" + namespace);
      System.out.printf("ok %s (%d ms)%n", name, (System.nanoTime() - begun) / 1_000_000);
      return true;
    } catch (Exception | AssertionError failure) {
      System.out.println("FAILED " + name);
      failure.printStackTrace(System.out);
      return false;
    }
  }

  private static void operate(KubernetesClient client, String namespace) throws Exception {
    client.load(new ByteArrayInputStream(DEFINITION.getBytes(StandardCharsets.UTF_8))).serverSideApply();
    client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create();
    eventually("the definition is established", () -> client.apiextensions().v1().customResourceDefinitions()
        .withName("pages.operator.example.com").get().getStatus().getConditions().stream()
        .anyMatch(one -> "Established".equals(one.getType()) && "True".equals(one.getStatus())));
    Operator operator = new Operator(overrider -> overrider.withKubernetesClient(client).withCloseClientOnStop(false));
    PageReconciler reconciler = new PageReconciler();
    operator.register(reconciler, overrider -> overrider.settingNamespace(namespace));
    operator.start();
    try {
      var pages = client.resources(Page.class).inNamespace(namespace);
      var maps = client.configMaps().inNamespace(namespace);
      Page page = new Page();
      page.getMetadata().setName("one");
      page.getMetadata().setNamespace(namespace);
      page.setSpec(new Page.Spec());
      page.getSpec().text = "first";
      client.resource(page).create();
      eventually("the dependent is created", () -> "first".equals(textOf(maps.withName("one").get())));
      eventually("the status shows it", () -> "first".equals(shownBy(pages.withName("one").get())));
      ConfigMap map = maps.withName("one").get();
      expect("one".equals(map.getMetadata().getOwnerReferences().get(0).getName()), map);
      pages.withName("one").edit(one -> {
        one.getSpec().text = "second";
        return one;
      });
      eventually("the dependent follows a change", () -> "second".equals(textOf(maps.withName("one").get())));
      maps.withName("one").delete();
      eventually("a deleted dependent is created again", () -> {
        ConfigMap again = maps.withName("one").get();
        return "second".equals(textOf(again)) && !again.getMetadata().getUid().equals(map.getMetadata().getUid());
      });
      pages.withName("one").delete();
      eventually("the finalizer is removed", () -> pages.withName("one").get() == null);
      expect(reconciler.cleaned.get() >= 1, reconciler.cleaned);
      eventually("the dependent is collected", () -> maps.withName("one").get() == null);
    } finally {
      operator.stop();
    }
  }

  private static String textOf(ConfigMap map) {
    return map == null ? null : map.getData().get("text");
  }

  private static String shownBy(Page page) {
    return page.getStatus() == null ? null : page.getStatus().shown;
  }

  private static void expect(boolean holds, Object shown) {
    if (!holds) throw new AssertionError(Objects.toString(shown));
  }

  private static void eventually(String what, Supplier<Boolean> condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.get()) {
      if (System.nanoTime() > end) throw new AssertionError("not within 20 seconds: " + what);
      Thread.sleep(20);
    }
  }
}
