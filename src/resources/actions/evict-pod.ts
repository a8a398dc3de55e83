import { deepClone } from "../../base/json/value.ts";
import { compileLabelSelector, type LabelSelectorObject } from "../../base/label-selector.ts";
import { StatusError, optionsGroup } from "../../base/status-error.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { deleteObject, propagationPolicy, type DeleteOptions } from "../writes/delete.ts";
import { withoutAdmission, type Engine, type Target, type WriteOptions } from "../engine/engine.ts";
import { getObject } from "../reads/get.ts";
import { listObjects } from "../reads/list.ts";
import type { LiveObject } from "../objects/live-object.ts";
import type { Resource } from "../registry/registry.ts";
import { everything } from "../objects/selection.ts";
import { decodeEntry } from "../objects/stored.ts";
import { guaranteedUpdate, type UpdatedObject } from "../writes/guaranteed-update.ts";
import { writeContext } from "../input/write-context.ts";
import { admitAction } from "../writes/write.ts";

/** What of a disruption budget an eviction looks at. */
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

/** The most pods that a budget may be waiting for. */
const maxDisruptedPods = 2000;

/**
 * Deletes a pod if its disruption budget allows that, and takes it off the budget (spec: conventions 4.2, `eviction`).
 * Pods that don't serve (finished, not begun, on their way out) count against no budget.
 *
 * @throws {StatusError} TooManyRequests when the budget is used up; InternalError when several budgets cover the pod.
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
    // A pod that doesn't serve takes nothing from a budget that is met; it must stay so until it is deleted.
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

/** Resource type of the budgets; undefined where the server has none, so that nothing limits evictions. */
function budgetResource({ registry }: Engine): Resource | undefined {
  return registry.find("policy", "v1", "poddisruptionbudgets");
}

function isReady({ status }: ApiObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.some((one) => one.type === "Ready" && one.status === "True");
}

/** Whether as many pods serve as should. */
function isMet({ status }: Budget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

async function budgetsOf(engine: Engine, namespace: string, pod: ApiObject): Promise<Budget[]> {
  const resource = budgetResource(engine);
  if (resource === undefined) return [];
  const target = { resource, namespace, name: "", subresource: "" };
  const pages = listObjects(engine, target, { read: { mode: "latest" }, limit: 0, selection: everything });
  const found: Budget[] = [];
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return found;
    for (const entry of step.value.entries) {
      const budget = decodeEntry(entry) as Budget;
      const selector = budget.spec?.selector;
      if (selector !== undefined && compileLabelSelector(selector)(pod.metadata.labels ?? {}))
        found.push(budget);
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
  const take = (live: LiveObject): UpdatedObject => {
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
  await guaranteedUpdate(writeContext(engine, target, options), take);
}

function refused(budget: string, why: string, retryAfterSeconds: number): StatusError {
  const message = `The disruption budget ${budget} doesn't allow the eviction now: ${why}`;
  return new StatusError("TooManyRequests", `Cannot evict pod: ${why}`, {
    causes: [{ reason: "DisruptionBudget", message, field: "" }],
    retryAfterSeconds,
  });
}

function deleteOptionsOf(eviction: ApiObject, options: WriteOptions): DeleteOptions {
  const asked = (eviction["deleteOptions"] ?? {}) as {
    gracePeriodSeconds?: number | bigint;
    propagationPolicy?: string;
    preconditions?: { uid?: string; resourceVersion?: string };
    dryRun?: string[];
  };
  const unknown = (asked.dryRun ?? []).find((one) => one !== "All");
  if (unknown !== undefined) {
    const report = FieldReport.start();
    report.at("dryRun").notSupported(unknown, ["All"]);
    throw invalidError({ kind: "DeleteOptions", group: optionsGroup, name: "" }, report.faults);
  }
  return {
    ...options,
    dryRun: options.dryRun || (asked.dryRun ?? []).length > 0,
    gracePeriodSeconds: asked.gracePeriodSeconds,
    propagationPolicy:
      asked.propagationPolicy === undefined ? undefined : propagationPolicy(asked.propagationPolicy),
    uid: asked.preconditions?.uid,
    resourceVersion: asked.preconditions?.resourceVersion,
  };
}
