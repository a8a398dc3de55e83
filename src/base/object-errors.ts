import { qualifiedName } from "./group-names.ts";
import { StatusError, type Cause, type StatusDetails } from "./status-error.ts";

/** The object that an error is about. */
export interface ErrorSubject {
  /** Resource type, plural: `roles`. */
  readonly resource: string;
  /** Full name of the group; empty for the core group. */
  readonly group: string;
  readonly name: string;
}

/** Returns the start of an error message: `roles.rbac.authorization.platform.io "admin"`. */
export function quotedSubject({ resource, group, name }: ErrorSubject): string {
  return `${qualifiedName(resource, group)} ${JSON.stringify(name)}`;
}

/** `Status.details` of an error: clients expect the resource type under `kind`. */
export function subjectDetails({ resource, group, name }: ErrorSubject): StatusDetails {
  return { name, group, kind: resource };
}

/** The error for an object that doesn't exist. */
export function objectNotFound(subject: ErrorSubject): StatusError {
  return new StatusError("NotFound", `${quotedSubject(subject)} not found`, subjectDetails(subject));
}

/** Returns the error for a rejected request: 403 with the object and the reason. */
export function objectForbidden(subject: ErrorSubject, why: string, causes?: readonly Cause[]): StatusError {
  return new StatusError("Forbidden", `${quotedSubject(subject)} is forbidden: ${why}`, {
    ...subjectDetails(subject),
    ...(causes && { causes }),
  });
}
