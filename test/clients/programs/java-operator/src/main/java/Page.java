import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** The custom resource of the operator: a text that it keeps in a ConfigMap. */
@Group(Page.GROUP)
@Version("v1")
public class Page extends CustomResource<Page.Spec, Page.Status> implements Namespaced {
  static final String GROUP = "operator.example.com";

  public static class Spec {
    public String text;
  }

  public static class Status {
    public String shown;
  }
}
