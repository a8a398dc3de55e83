import io.fabric8.kubernetes.api.model.ConfigMap;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.Workflow;
import io.javaoperatorsdk.operator.api.reconciler.dependent.Dependent;
import java.util.concurrent.atomic.AtomicInteger;

/** Shows the text of the dependent ConfigMap in the status of a Page; its Cleaner adds a finalizer. */
@Workflow(dependents = @Dependent(type = PageMap.class))
@ControllerConfiguration
public class PageReconciler implements Reconciler<Page>, Cleaner<Page> {
  final AtomicInteger cleaned = new AtomicInteger();

  @Override
  public UpdateControl<Page> reconcile(Page page, Context<Page> context) {
    Page.Status status = new Page.Status();
    status.shown = context.getSecondaryResource(ConfigMap.class).map(map -> map.getData().get("text")).orElse(null);
    page.setStatus(status);
    return UpdateControl.patchStatus(page);
  }

  @Override
  public DeleteControl cleanup(Page page, Context<Page> context) {
    cleaned.incrementAndGet();
    return DeleteControl.defaultDelete();
  }
}
