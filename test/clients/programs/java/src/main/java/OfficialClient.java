import static java.util.Map.of;

import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.VersionApi;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.KubeConfig;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.Watch;
import java.io.StringReader;
import java.util.concurrent.TimeUnit;

/** What programs do with the official Java client. */
final class OfficialClient {
  private static final String NAMESPACE = "java-official";

  private OfficialClient() {}

  static void run(String kubeconfig) throws Exception {
    ApiClient client = clientOf(kubeconfig);
    CoreV1Api core = new CoreV1Api(client);
    // It refuses members that the reference doesn't have.
    Main.expect("1".equals(new VersionApi(client).getCode().execute().getMajor()), "the major version");
    core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(NAMESPACE))).execute();
    V1ConfigMap made = core.createNamespacedConfigMap(NAMESPACE, map("one")).execute();
    made.putDataItem("b", "2");
    V1ConfigMap replaced = core.replaceNamespacedConfigMap("one", NAMESPACE, made).execute();
    Main.expect(of("a", "1", "b", "2").equals(replaced.getData()), replaced);
    V1ConfigMap patched = patched(client, "one", "{\"data\":{\"b\":null}}", V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, null);
    Main.expect(of("a", "1").equals(patched.getData()), patched);
    String wanted = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"two\"},\"data\":{\"a\":\"1\"}}";
    V1ConfigMap applied = patched(client, "two", wanted, V1Patch.PATCH_FORMAT_APPLY_YAML, "java");
    Main.expect(of("a", "1").equals(applied.getData()), applied);
    watched(client);
    core.deleteNamespacedConfigMap("one", NAMESPACE).execute();
    try {
      core.readNamespacedConfigMap("one", NAMESPACE).execute();
      throw new AssertionError("the object is still there");
    } catch (ApiException refused) {
      Main.expect(refused.getCode() == 404, refused);
    }
  }

  private static V1ConfigMap patched(ApiClient client, String name, String body, String format, String manager)
      throws ApiException {
    CoreV1Api core = new CoreV1Api(client);
    return PatchUtils.patch(
        V1ConfigMap.class,
        () -> core.patchNamespacedConfigMap(name, NAMESPACE, new V1Patch(body)).fieldManager(manager).buildCall(null),
        format,
        client);
  }

  private static void watched(ApiClient client) throws Exception {
    CoreV1Api core = new CoreV1Api(client);
    var call = core.listNamespacedConfigMap(NAMESPACE)
        .fieldSelector("metadata.name=two")
        .timeoutSeconds(10)
        .watch(true)
        .buildCall(null);
    try (Watch<V1ConfigMap> watch =
        Watch.createWatch(client, call, new TypeToken<Watch.Response<V1ConfigMap>>() {}.getType())) {
      Watch.Response<V1ConfigMap> first = watch.next();
      Main.expect("ADDED".equals(first.type) && "two".equals(first.object.getMetadata().getName()), first.type);
    }
  }

  static void informer(String kubeconfig) throws Exception {
    ApiClient client = clientOf(kubeconfig);
    CoreV1Api core = new CoreV1Api(client);
    SharedInformerFactory factory = new SharedInformerFactory(client);
    SharedIndexInformer<V1ConfigMap> informer = factory.sharedIndexInformerFor(
        (CallGeneratorParams asked) -> core.listNamespacedConfigMap(NAMESPACE)
            .resourceVersion(asked.resourceVersion)
            .timeoutSeconds(asked.timeoutSeconds)
            .watch(asked.watch)
            .buildCall(null),
        V1ConfigMap.class,
        V1ConfigMapList.class);
    factory.startAllRegisteredInformers();
    try {
      core.createNamespacedConfigMap(NAMESPACE, map("informed")).execute();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (informer.getIndexer().getByKey(NAMESPACE + "/informed") == null) {
        Main.expect(System.nanoTime() < end, "the informer knows the new object");
        Thread.sleep(20);
      }
      Main.expect(informer.getIndexer().getByKey(NAMESPACE + "/two") != null, informer.getIndexer().listKeys());
    } finally {
      factory.stopAllRegisteredInformers();
    }
  }

  private static ApiClient clientOf(String kubeconfig) throws Exception {
    ApiClient client = ClientBuilder.kubeconfig(KubeConfig.loadKubeConfig(new StringReader(kubeconfig))).build();
    // A watch lasts longer than the client waits for an answer otherwise.
    return client.setReadTimeout(0);
  }

  private static V1ConfigMap map(String name) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name)).putDataItem("a", "1");
  }
}
