import static java.util.Map.of;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What programs do with fabric8's client. */
final class Fabric8Client {
  private static final String NAMESPACE = "java-fabric8";

  private Fabric8Client() {}

  static void run(String kubeconfig) throws Exception {
    try (KubernetesClient client = clientOf(kubeconfig)) {
      client.resource(new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build()).create();
      Main.expect("1".equals(client.getKubernetesVersion().getMajor()), client.getKubernetesVersion().getMajor());
      watched(client);
      written(client);
      scaled(client);
      Main.expect(maySeePods(client), "the administrator may see pods");
    }
  }

  /** Each write is told to a watcher, in its order. */
  private static void watched(KubernetesClient client) throws Exception {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    Watcher<ConfigMap> watcher = new Watcher<>() {
      @Override
      public void eventReceived(Action action, ConfigMap map) {
        if ("told".equals(map.getMetadata().getName())) told.add(action.name());
      }

      @Override
      public void onClose(WatcherException cause) {}
    };
    try (Watch watch = client.configMaps().inNamespace(NAMESPACE).watch(watcher)) {
      client.resource(map("told")).create();
      client.configMaps().inNamespace(NAMESPACE).withName("told").delete();
      for (String expected : List.of("ADDED", "DELETED")) {
        String event = told.poll(10, TimeUnit.SECONDS);
        Main.expect(expected.equals(event), event);
      }
    }
  }

  /** Create, edit, apply, patch, lists in pages, conflicts, deletion. */
  private static void written(KubernetesClient client) {
    var maps = client.configMaps().inNamespace(NAMESPACE);
    ConfigMap made = client.resource(map("one")).create();
    Main.expect(made.getMetadata().getUid() != null, made);
    ConfigMap edited = maps.withName("one").edit(one -> new ConfigMapBuilder(one).addToData("b", "2").build());
    Main.expect(of("a", "1", "b", "2").equals(edited.getData()), edited);
    ConfigMap patched = maps.withName("one").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"b\":null}}");
    Main.expect(of("a", "1").equals(patched.getData()), patched);
    ConfigMap applied = client.resource(map("two")).fieldManager("java").serverSideApply();
    Main.expect("Apply".equals(applied.getMetadata().getManagedFields().get(0).getOperation()), applied);
    String rest = maps.list(new ListOptionsBuilder().withLimit(1L).build()).getMetadata().getContinue();
    Main.expect(rest != null && !rest.isEmpty(), rest);
    try {
      client.resource(map("one")).create();
      throw new AssertionError("a second object of the name was made");
    } catch (KubernetesClientException refused) {
      Main.expect("AlreadyExists".equals(refused.getStatus().getReason()), refused);
    }
    Main.expect(maps.withName("one").delete().size() == 1, "one object is deleted");
    Main.expect(maps.withName("one").get() == null, "the object is gone");
  }

  private static void scaled(KubernetesClient client) {
    client.resource(new DeploymentBuilder()
        .withNewMetadata().withName("web").withNamespace(NAMESPACE).endMetadata()
        .withNewSpec().withReplicas(1)
        .withNewSelector().addToMatchLabels("app", "web").endSelector()
        .withNewTemplate()
        .withNewMetadata().addToLabels("app", "web").endMetadata()
        .withNewSpec().addNewContainer().withName("web").withImage("web").endContainer().endSpec()
        .endTemplate()
        .endSpec()
        .build()).create();
    Integer replicas = client.apps().deployments().inNamespace(NAMESPACE).withName("web").scale(3).getSpec().getReplicas();
    Main.expect(replicas == 3, replicas);
  }

  private static boolean maySeePods(KubernetesClient client) {
    return client.authorization().v1().selfSubjectAccessReview().create(new SelfSubjectAccessReviewBuilder()
        .withNewSpec().withNewResourceAttributes().withVerb("get").withResource("pods").endResourceAttributes().endSpec()
        .build()).getStatus().getAllowed();
  }

  /** An informer holds what is there, and learns what comes. */
  static void informer(String kubeconfig) throws Exception {
    try (KubernetesClient client = clientOf(kubeconfig);
        SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace(NAMESPACE).inform()) {
      client.resource(map("informed")).create();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (informer.getStore().getByKey(NAMESPACE + "/informed") == null) {
        Main.expect(System.nanoTime() < end, "the informer knows the new object");
        Thread.sleep(20);
      }
      Main.expect(informer.getStore().getByKey(NAMESPACE + "/two") != null, informer.getStore().listKeys());
    }
  }

  private static KubernetesClient clientOf(String kubeconfig) {
    return new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build();
  }

  private static ConfigMap map(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata().withName(name).withNamespace(NAMESPACE).endMetadata()
        .addToData("a", "1")
        .build();
  }
}
