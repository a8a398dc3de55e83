import { since } from "../../base/release-rows.ts";
import { struct } from "../../schema/meta.ts";
import { bool, field, int64, list, string, type Static } from "../../schema/types.ts";

const Preconditions = struct("Preconditions", "Preconditions of a deletion.", {
  uid: field(1, string, "UID that the object must have.").nullable(),
  resourceVersion: field(2, string, "Resource version that the object must have.").nullable(),
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
  "Options of a deletion.",
  {
    kind: field(undefined, string, "Kind of the options: DeleteOptions."),
    apiVersion: field(undefined, string, "API version of the options."),
    gracePeriodSeconds: field(
      1,
      int64,
      "Seconds until the object is deleted; 0 deletes at once. Default: that of the kind.",
    ).nullable(),
    preconditions: field(
      2,
      Preconditions,
      "Preconditions of the deletion; if one is not met, the request fails with 409.",
    ).nullable(),
    orphanDependents: field(
      3,
      bool,
      "Deprecated: whether to orphan the dependents; use `propagationPolicy`.",
    ).nullable(),
    propagationPolicy: field(4, string, "Handling of dependents: Background, Foreground or Orphan.")
      .nullable()
      .knownValues("Background", "Foreground", "Orphan"),
    dryRun: field(5, list(string), "`All` processes the request without storing the result.")
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
