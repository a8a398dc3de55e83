import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

class ConfigMapTest {
  @RegisterExtension static final PlinthExtension plinth = new PlinthExtension();

  private KubernetesClient client;
  private String namespace;

  @BeforeEach
  void connect(TestInfo test) {
    client = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(plinth.kubeconfig())).build();
    namespace = test.getTestMethod().orElseThrow().getName().toLowerCase();
    client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create();
  }

  @AfterEach
  void disconnect() {
    client.close();
  }

  @Test
  void configMapIsStored() {
    client.resource(configMap("one")).create();
    assertEquals(
        Map.of("color", "red"), client.configMaps().inNamespace(namespace).withName("one").get().getData());
  }

  @Test
  void invalidObjectIsRejected() {
    var failure =
        assertThrows(KubernetesClientException.class, () -> client.resource(configMap("Not_Valid")).create());
    assertEquals(422, failure.getCode());
  }

  private ConfigMap configMap(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withData(Map.of("color", "red"))
        .build();
  }
}
