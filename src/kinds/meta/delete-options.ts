import { since } from "../../schema/later-fields.ts";
import { struct } from "../../schema/meta.ts";
import { bool, field, int64, list, string, type Static } from "../../schema/types.ts";

const Preconditions = struct("Preconditions", "What must hold for a deletion to be done.", {
  uid: field(1, string, "Unique identifier of the object that is meant.").nullable(),
  resourceVersion: field(2, string, "Version of the object that is meant.").nullable(),
});

const ignoreStoreReadError = field(
  6,
  bool,
  "Removes the object from the store if it can't be read, without finalizers and preconditions (feature gate " +
    "AllowUnsafeMalformedObjectDeletion). This can break the cluster if others rely on the usual deletion.",
).nullable();

/** The body of a DELETE (spec: conventions 4.3; rulings: as the reference). */
export const DeleteOptionsBody = struct(
  "DeleteOptions",
  "How a deletion is to be done.",
  {
    kind: field(undefined, string, "DeleteOptions."),
    apiVersion: field(undefined, string, "Version of the options' form."),
    gracePeriodSeconds: field(1, int64, "Seconds that the object is given to end well.").nullable(),
    preconditions: field(2, Preconditions, "What must hold for the deletion to be done.").nullable(),
    orphanDependents: field(3, bool, "Deprecated: true is the policy Orphan.").nullable(),
    propagationPolicy: field(4, string, "What happens to dependents: Background, Foreground or Orphan.")
      .nullable()
      .knownValues("Background", "Foreground", "Orphan"),
    dryRun: field(5, list(string), "`All` does everything but store the deletion.")
      .atomic()
      .knownValues("All"),
  },
  {
    later: () => ({
      ignoreStoreReadErrorWithClusterBreakingPotential: since("1.32", ignoreStoreReadError),
    }),
  },
);
export type DeleteOptionsBody = Static<typeof DeleteOptionsBody>;
