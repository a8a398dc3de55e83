import type { ApiObject } from "./api-object.ts";
import type { KindContext } from "./context.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Metadata fields that a write to a part of the object may leave unchanged. */
export type KeptMetadata = "labels" | "annotations" | "finalizers" | "ownerReferences" | "deletionTimestamp";

/** A subresource that writes a part of the object, such as `status`. */
export interface PartSubresource<O = ApiObject> {
  readonly shape?: undefined;
  readonly verbs: readonly Verb[];
  /**
   * Metadata fields that a write to the part doesn't change; `all` means all except managed fields. Absent: the metadata of the request
   * replaces that of the live object, as in a write of the main resource.
   */
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  /** Paths of fields that are excluded from field ownership, though the write may change them. */
  readonly unowned?: readonly (readonly string[])[];
  /** Whether a change increments `metadata.generation`, as a write of the main resource does. */
  readonly incrementsGeneration?: boolean;
  /** Copies the fields that the part may change, except metadata, from `written` to the copy of the live object. */
  readonly merge: (copy: O, written: O, context: KindContext) => void;
}

/**
 * The `status` subresource, with verbs get, patch and update. An update of the main resource doesn't change the status. A write to
 * the subresource changes only status and metadata.
 */
export interface StatusSpec<O = ApiObject> {
  /** Returns the status of a new object, which replaces the one in the request. Absent: the status of the request is kept. */
  readonly initial?: (copy: O, context: KindContext) => StatusOf<O>;
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  readonly unowned?: readonly (readonly string[])[];
  /** Returns the status after a write to the subresource; defaults to the status of `written`. */
  readonly write?: (written: O, live: O, context: KindContext) => StatusOf<O>;
}

type StatusOf<O> = O extends { status?: infer S } ? S | undefined : unknown;

/** A subresource that connects to the workload of the object, such as `proxy` or `exec`. */
export interface ConnectSubresource {
  readonly shape: "connect";
  readonly verbs: readonly Verb[];
  /** Name of the options kind; its fields are the query parameters. */
  readonly optionsKind: string;
}
