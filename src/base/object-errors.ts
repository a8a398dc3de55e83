import { StatusError, type Cause, type StatusDetails } from "./status-error.ts";

/** The object that an error is about. */
export interface ErrorSubject {
  /** Resource type, plural: `roles`. */
  readonly resource: string;
  /** Full name of the group; empty for the core group. */
  readonly group: string;
  readonly name: string;
}

/** Returns the prefix of error messages: `roles.rbac.authorization.platform.io "admin"`. */
export function quotedSubject({ resource, group, name }: ErrorSubject): string {
  return `${qualifiedName(resource, group)} ${JSON.stringify(name)}`;
}

/** Returns the `details` of a Status. Its field `kind` has the resource type, as clients expect. */
export function subjectDetails({ resource, group, name }: ErrorSubject): StatusDetails {
  return { name, group, kind: resource };
}

/** Returns a NotFound error. */
export function objectNotFound(subject: ErrorSubject): StatusError {
  return new StatusError("NotFound", `${quotedSubject(subject)} not found`, subjectDetails(subject));
}

/** Returns a Forbidden error with the reason. */
export function objectForbidden(subject: ErrorSubject, why: string, causes?: readonly Cause[]): StatusError {
  return new StatusError("Forbidden", `${quotedSubject(subject)} is forbidden: ${why}`, {
    ...subjectDetails(subject),
    ...(causes && { causes }),
  });
}

/** Returns the `apiVersion` of a group version: `v1` for the core group, otherwise for example `apps/v1`. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns a resource type or kind with its group, as in error messages: `pods`, `deployments.apps`. */
export function qualifiedName(name: string, group: string): string {
  return group === "" ? name : `${name}.${group}`;
}
