import { deepClone } from "../../base/json/value.ts";
import { compileLabelSelector, type LabelSelectorObject } from "../../base/selectors/label-selector.ts";
import { StatusError, optionsGroup } from "../../base/status-error.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { unsafeOption } from "../writes/unsafe-delete.ts";
import { deleteObject, propagationPolicy, type DeleteOptions } from "../writes/delete.ts";
import { withoutAdmission, type Engine, type Target, type WriteOptions } from "../engine/engine.ts";
import { getObject } from "../reads/get.ts";
import { listObjects } from "../reads/list.ts";
import type { LiveObject } from "../objects/live-object.ts";
import type { Resource } from "../registry/registry.ts";
import { everything } from "../objects/selection.ts";
import { decodeEntry } from "../objects/stored.ts";
import { guaranteedUpdate, type UpdatedObject } from "../writes/guaranteed-update.ts";
import { writeContext } from "../input/input.ts";
import { admitAction } from "../writes/write.ts";

/** The fields of a disruption budget for an eviction. */
interface Budget extends ApiObject {
  spec?: { selector?: LabelSelectorObject };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptedPods?: Record<string, string>;
  };
}

/** Maximum number of unconfirmed evictions of a budget. */
const maxDisruptedPods = 2000;

/**
 * Deletes a pod if its disruption budget allows it, and decrements the budget (spec: conventions 4.2, `eviction`). Finished, pending and
 * terminating pods don't count against a budget.
 *
 * @throws {StatusError} TooManyRequests if the budget is exhausted; InternalError if several budgets select the pod.
 */
export async function evictPod(
  engine: Engine,
  target: Target,
  eviction: ApiObject,
  options: WriteOptions,
): Promise<undefined> {
  await admitAction(engine, target, eviction, options);
  await evictAdmitted(withoutAdmission(engine), target, eviction, options);
  return undefined;
}

async function evictAdmitted(
  engine: Engine,
  target: Target,
  eviction: ApiObject,
  options: WriteOptions,
): Promise<void> {
  const deletion = deleteOptionsOf(eviction, options);
  const pod = decodeEntry(await getObject(engine, target));
  let { resourceVersion } = deletion;
  if (countsAgainstBudget(pod)) {
    const budgets = await budgetsOf(engine, target.namespace, pod);
    if (budgets.length > 1) {
      const message =
        "this pod has more than one disruption budget, which the eviction subresource does not support";
      throw new StatusError("InternalError", message);
    }
    const budget = budgets[0];
    // A pod that isn't ready doesn't count against a healthy budget; the precondition ensures that it is still not ready when deleted.
    if (budget !== undefined && !isReady(pod) && isMet(budget))
      resourceVersion ??= pod.metadata.resourceVersion;
    else if (budget !== undefined) {
      await spend(engine, budget, target.name, { ...options, dryRun: deletion.dryRun });
    }
  }
  await deleteObject(engine, { ...target, subresource: "" }, { ...deletion, resourceVersion });
}

function countsAgainstBudget({ metadata, ...pod }: ApiObject): boolean {
  const phase = (pod["status"] as { phase?: string } | undefined)?.phase;
  if (metadata.deletionTimestamp !== undefined) return false;
  return phase !== "Succeeded" && phase !== "Failed" && phase !== "Pending";
}

/** Resource type of disruption budgets; undefined if it isn't served, so that nothing limits evictions. */
function budgetResource({ registry }: Engine): Resource | undefined {
  return registry.find("policy", "v1", "poddisruptionbudgets");
}

function isReady({ status }: ApiObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((one) => one.type === "Ready" && one.status === "True");
}

/** Whether enough pods are healthy. */
function isMet({ status }: Budget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

async function budgetsOf(engine: Engine, namespace: string, pod: ApiObject): Promise<Budget[]> {
  const resource = budgetResource(engine);
  if (resource === undefined) return [];
  const target = { resource, namespace, name: "", subresource: "" };
  const pages = listObjects(engine, target, { read: { mode: "latest" }, limit: 0, selection: everything });
  const budgets: Budget[] = [];
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return budgets;
    for (const entry of step.value.entries) {
      const budget = decodeEntry(entry) as Budget;
      const selector = budget.spec?.selector;
      if (selector !== undefined && compileLabelSelector(selector)(pod.metadata.labels ?? {}))
        budgets.push(budget);
    }
  }
}

/** Decrements the allowed disruptions of a budget, with retries after conflicting writes. */
async function spend(
  engine: Engine,
  { metadata }: Budget,
  pod: string,
  options: WriteOptions,
): Promise<void> {
  const target = {
    resource: budgetResource(engine)!,
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    subresource: "status",
  };
  const decrement = (live: LiveObject): UpdatedObject => {
    const copy = deepClone(live.object) as Budget;
    const status = (copy.status ??= {});
    if ((status.observedGeneration ?? 0) < (copy.metadata.generation ?? 0)) {
      throw refused(target.name, "the budget is being processed", 10);
    }
    const allowed = status.disruptionsAllowed ?? 0;
    if (allowed <= 0) throw refused(target.name, "it would violate the pod's disruption budget", 0);
    if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods) {
      throw refused(target.name, "too many evictions are not confirmed yet", 10);
    }
    status.disruptionsAllowed = allowed - 1;
    status.disruptedPods = { ...status.disruptedPods, [pod]: engine.timestamps.now() };
    delete copy.metadata.resourceVersion;
    return { object: copy };
  };
  await guaranteedUpdate(writeContext(engine, target, options), decrement);
}

function refused(budget: string, why: string, retryAfterSeconds: number): StatusError {
  const message = `The disruption budget ${budget} doesn't allow the eviction now: ${why}`;
  return new StatusError("TooManyRequests", `Cannot evict pod: ${why}`, {
    causes: [{ reason: "DisruptionBudget", message, field: "" }],
    retryAfterSeconds,
  });
}

function deleteOptionsOf(eviction: ApiObject, options: WriteOptions): DeleteOptions {
  const requested = (eviction["deleteOptions"] ?? {}) as {
    gracePeriodSeconds?: number | bigint;
    propagationPolicy?: string;
    preconditions?: { uid?: string; resourceVersion?: string };
    dryRun?: string[];
    [unsafeOption]?: boolean;
  };
  if (requested[unsafeOption] === true) {
    const report = FieldReport.start();
    report
      .at("deleteOptions", unsafeOption)
      .invalid(true, "can not be set for pod eviction, try after removing the option");
    throw invalidError(
      { kind: "Eviction", group: "policy", name: eviction.metadata.name ?? "" },
      report.faults,
    );
  }
  const unknown = (requested.dryRun ?? []).find((one) => one !== "All");
  if (unknown !== undefined) {
    const report = FieldReport.start();
    report.at("dryRun").notSupported(unknown, ["All"]);
    throw invalidError({ kind: "DeleteOptions", group: optionsGroup, name: "" }, report.faults);
  }
  return {
    ...options,
    dryRun: options.dryRun || (requested.dryRun ?? []).length > 0,
    gracePeriodSeconds: requested.gracePeriodSeconds,
    propagationPolicy:
      requested.propagationPolicy === undefined ? undefined : propagationPolicy(requested.propagationPolicy),
    uid: requested.preconditions?.uid,
    resourceVersion: requested.preconditions?.resourceVersion,
  };
}
