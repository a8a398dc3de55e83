import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.CRUDKubernetesDependentResource;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.KubernetesDependent;

/** The dependent resource of a Page. */
@KubernetesDependent
public class PageMap extends CRUDKubernetesDependentResource<ConfigMap, Page> {
  public PageMap() {
    super(ConfigMap.class);
  }

  @Override
  protected ConfigMap desired(Page page, Context<Page> context) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(page.getMetadata().getName())
        .withNamespace(page.getMetadata().getNamespace())
        .endMetadata()
        .addToData("text", page.getSpec().text)
        .build();
  }
}
