import { Job } from "../kinds/batch/job.ts";
import { unlessRaced } from "../resources/clients/races.ts";
import type { Controller } from "./controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "./reconcile-matching.ts";

/** Deletes finished jobs and their pods `spec.ttlSecondsAfterFinished` after they finished. */
export const ttlAfterFinished: Controller<ReconciliationDependencies> = {
  name: "ttl-after-finished",
  start(context) {
    const { client, clock } = context;
    return reconcileMatching<Job>(context, {
      controller: this.name,
      kind: Job,
      matters: (body) => body.includes('"ttlSecondsAfterFinished":'),
      async reconcile(job) {
        const leftMs = jobDeletionTime(job) - clock.now();
        if (leftMs === Infinity) return undefined;
        if (leftMs > 0) return leftMs;
        const { apiVersion, kind, metadata } = job;
        const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
        const reference = { apiVersion, kind, namespace, name };
        await unlessRaced(() => client.delete(reference, { uid, resourceVersion }, "Foreground"));
        return undefined;
      },
    });
  },
};

/**
 * Returns when a job must be deleted, in milliseconds since 1970; Infinity if it is running, is being deleted, or has
 * no TTL.
 */
function jobDeletionTime({ metadata, spec, status }: Job): number {
  const seconds = spec?.ttlSecondsAfterFinished;
  if (typeof seconds !== "number" || metadata.deletionTimestamp !== undefined) return Infinity;
  const finished = status?.conditions?.find(
    (one) => (one.type === "Complete" || one.type === "Failed") && one.status === "True",
  );
  const time = Date.parse(finished?.lastTransitionTime ?? "");
  return Number.isNaN(time) ? Infinity : time + seconds * 1000;
}
