/** An API object in JSON form, in the version of its `apiVersion`. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue;
  [field: string]: unknown;
}

/** `metadata` of an object, in JSON form (spec: conventions 2.2). Times are RFC 3339 in UTC with seconds. */
export interface ObjectMetaValue {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReferenceValue[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntryValue[];
}

/** One entry of `metadata.managedFields` (spec: conventions 2.5). */
export interface ManagedFieldsEntryValue {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  /** When the entry last changed; RFC 3339 in UTC with seconds. */
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface OwnerReferenceValue {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/**
 * Views an object as one of a kind. The caller knows its kind, by which it was selected, and it was decoded or checked by the kind's
 * declaration, so it has the form of `O`.
 */
export function objectAs<O>(object: object): O;
export function objectAs<O>(object: object | undefined): O | undefined;
export function objectAs<O>(object: object | undefined): O | undefined {
  return object as O | undefined;
}
