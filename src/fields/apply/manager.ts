/** A field manager: the key of an entry in `managedFields` (spec: conventions 4.10). */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  /** Version of the field paths. */
  readonly apiVersion: string;
  /** Empty for writes of the main resource. */
  readonly subresource: string;
}

/**
 * Returns the id of a manager. The id of an apply doesn't contain the version, so that a manager can change its version; updates
 * of different versions are different managers.
 */
export function managerId({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}
