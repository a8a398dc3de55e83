import { changesBetween, type FieldChange } from "./diff.ts";

/** A version of an object in the server's kept history. */
export interface KeptVersion {
  readonly metadata: { readonly resourceVersion: string };
  readonly time?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: string;
  readonly deleted?: boolean;
  readonly previousVersion?: string;
  readonly object?: KeptObject;
  readonly error?: string;
}

/** The object of a version. */
export interface KeptObject {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A version with the fields that it changed; undefined if that is unknown. */
export interface VersionStep {
  readonly version: KeptVersion;
  readonly changes: readonly FieldChange[] | undefined;
}

/** Returns the steps of versions, which are newest first. */
export function stepsOf(versions: readonly KeptVersion[]): VersionStep[] {
  return versions.map((version, index) => {
    const before = versions[index + 1];
    const isKnown =
      version.object !== undefined &&
      version.deleted !== true &&
      before?.object !== undefined &&
      before.deleted !== true;
    return { version, changes: isKnown ? changesBetween(before.object!, version.object!) : undefined };
  });
}

/** Members of the metadata that a restore takes from the present object. */
const ofPresent = ["uid", "resourceVersion"];
/** Members of the metadata that a restore leaves out. */
const leftOut: ReadonlySet<string> = new Set([
  ...ofPresent,
  "creationTimestamp",
  "generation",
  "managedFields",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);

/** Returns a past state as an update of the present object, which keeps its identity and status. */
export function restored(past: KeptObject, present: KeptObject): object {
  const metadata = Object.fromEntries(Object.entries(past.metadata).filter(([name]) => !leftOut.has(name)));
  for (const name of ofPresent) metadata[name] = present.metadata[name];
  const { status: _status, ...rest } = past;
  return { ...rest, metadata };
}
