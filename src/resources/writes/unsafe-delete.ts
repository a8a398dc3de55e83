import { applies, since } from "../../base/release-rows.ts";
import { discardUnreadable } from "../../storage/discard.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import { conflict, notFound, type Engine, type Target } from "../engine/engine.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { keyOf } from "../registry/registry.ts";

/** Whether a refusal says if the object is absent or can be read. */
const namesReason = applies(since("1.37"));

/** The option of a deletion with {@link deleteUnreadable}. */
export const unsafeOption = "ignoreStoreReadErrorWithClusterBreakingPotential";

/**
 * Removes an object that can't be read from the store, without admission, preconditions and finalizers, which need the object.
 *
 * @param dryRun only checks whether it would be removed.
 * @throws {StatusError} NotFound; Conflict if the object can be read. Before release 1.37 both are Invalid.
 */
export async function deleteUnreadable(engine: Engine, target: Target, dryRun: boolean): Promise<void> {
  const { resource, namespace, name } = target;
  const result = await discardUnreadable(engine.store, keyOf(resource, namespace, name), dryRun).catch(
    (error: unknown) => {
      throw storeFailure(error);
    },
  );
  if (result === "discarded") return;
  if (!namesReason(engine.registry)) {
    const report = FieldReport.start();
    report
      .at(unsafeOption)
      .invalid(true, "is exclusively used to delete corrupt object(s), try again by removing this option");
    throw invalidError({ kind: resource.name, group: resource.group, name }, report.faults);
  }
  if (result === "absent") throw notFound(target);
  throw conflict(target, `the stored object can be read; delete it without ${unsafeOption}`);
}
