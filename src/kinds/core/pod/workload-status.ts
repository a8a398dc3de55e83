import { field, int32, int64 } from "../../../schema/types.ts";
import { nonNegative } from "../../checks/numbers.ts";
import type { FieldReport } from "../../../schema/faults.ts";

/** Status fields of a ReplicaSet and a ReplicationController. */
export const replicaCounts = {
  replicas: field(1, int32, "Number of pods.").declaredRequired().check(nonNegative),
  fullyLabeledReplicas: field(2, int32, "Number of pods that have all labels of the template.").check(
    nonNegative,
  ),
  observedGeneration: field(3, int64, "Latest generation that the controller has observed.").check(
    nonNegative,
  ),
  readyReplicas: field(4, int32, "Number of ready pods.").check(nonNegative),
  availableReplicas: field(5, int32, "Number of available pods: ready for at least `minReadySeconds`.").check(
    nonNegative,
  ),
};

/** Pairs of these fields of which the first may not exceed the second. */
export const replicaCountParts = [
  ["fullyLabeledReplicas", "replicas"],
  ["readyReplicas", "replicas"],
  ["availableReplicas", "replicas"],
  ["availableReplicas", "readyReplicas"],
] as const;

/** Requires that counts don't exceed the counts that include them, given as pairs of smaller and greater count. */
export function checkParts(
  status: object,
  parts: readonly (readonly [part: string, whole: string])[],
  report: FieldReport,
): void {
  const counts = status as Readonly<Record<string, number | undefined>>;
  const count = (name: string) => counts[name] ?? 0;
  for (const [part, whole] of parts) {
    if (count(part) > count(whole))
      report.at(part).invalid(count(part), `cannot be greater than status.${whole}`);
  }
}

/** Rejects a decrease of the collision count. */
export function checkCollisions(
  now: { readonly collisionCount?: number | undefined },
  live: { readonly collisionCount?: number | undefined },
  report: FieldReport,
): void {
  if (live.collisionCount === undefined) return;
  if (now.collisionCount === undefined || now.collisionCount < live.collisionCount) {
    report.at("collisionCount").invalid(now.collisionCount, "cannot be decremented");
  }
}
