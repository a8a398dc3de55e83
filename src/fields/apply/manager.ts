/** Who wrote an entry of managed fields (spec: conventions 4.10). */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  /** Version in which the fields are named. */
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

/**
 * The id of a manager. Applies of one name are one manager whatever version they use, so that a manager can move to another
 * version; updates are told apart by version.
 */
export function managerId({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}
