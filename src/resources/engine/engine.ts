import type { Clock } from "../../base/time/clock.ts";
import type { Timestamps } from "../../base/time/timestamps.ts";
import type { RecentFieldSets } from "../../fields/apply/recent-field-sets.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { WorkPace } from "../../base/turns/work-pace.ts";
import {
  objectNotFound,
  quotedSubject,
  subjectDetails,
  type ErrorSubject,
} from "../../base/object-errors.ts";
import { StatusError, type StatusDetails } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Entry, Store, WriteCondition } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { StagedEntries } from "../objects/staged-entries.ts";
import type { StorageHooks } from "./storage-hooks.ts";
import type { PageCache } from "../pages/page-cache.ts";
import type { RepeatedApplies } from "./repeated-applies.ts";
import type { Registry, Resource } from "../registry/registry.ts";
import type { SelectorIndex } from "../selector-index/selector-index.ts";
import type { TokenIssuer } from "./token-issuer.ts";

/** Dependencies of the verbs. */
export interface Engine {
  readonly store: Store;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Formats times of the clock. */
  readonly timestamps: Timestamps;
  /** Returns a random integer of at least 0 and less than `below`; a seeded source has a sequence for each purpose. */
  readonly randomInt: (below: number, purpose?: string) => number;
  /** Returns a random UUID; a seeded source has a sequence for each purpose. */
  readonly newUid: (purpose?: string) => string;
  readonly admit: Admitter;
  /** Whether a feature gate is on (spec: conventions 9.4). */
  readonly featureEnabled: (gate: string) => boolean;
  /** Whether privileged containers are allowed. */
  readonly allowPrivileged: boolean;
  /** Hooks around writes of a kind, by its store prefix. */
  readonly storageHooks: ReadonlyMap<string, StorageHooks>;
  /** Cached pages of collections. */
  readonly pages: Pick<PageCache, "read" | "close">;
  /** Selector indexes of large collections. */
  readonly selectors: Pick<SelectorIndex, "find" | "scanned" | "expectsIndex" | "counters" | "close">;
  /** Cache of applies that changed nothing. */
  readonly repeatedApplies: RepeatedApplies;
  /** Cache of decoded field sets. */
  readonly fieldSets: RecentFieldSets;
  /** Issues service account tokens; undefined if the server has no issuer. */
  readonly tokens?: TokenIssuer | undefined;
  /** Whether an object is stored in an outdated version, so that an update without changes stores it again. */
  readonly isOutdated?: ((entry: Entry) => boolean) | undefined;
  /** Identifies the writes of a transaction that isn't a request, in the history; undefined for other engines. */
  readonly requestId?: string | undefined;
}

/** The object or collection of a request. */
export interface Target {
  readonly resource: Resource;
  /** Empty for cluster scope and for all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** The group of the request, for error messages, if the objects are stored in another group. */
  readonly requestGroup?: string;
}

/** Options of a write. */
export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Name of the field manager. */
  readonly fieldManager: string;
  /** Undefined if warnings and annotations are discarded. */
  readonly report?: RequestReport | undefined;
  /** Verb in the history; by default that of the report, and without one that of the change in the store. */
  readonly verb?: string | undefined;
  /** Undefined for writes of the server itself. */
  readonly pace?: WorkPace | undefined;
}

/** Receives warnings and audit annotations of a request. */
export interface RequestReport {
  /** Adds a `Warning` header, also to an error response. Duplicates are sent once. */
  warn(text: string): void;
  /**
   * Adds an audit annotation; the first value of a key wins.
   *
   * @param level `Request`: only if the audit level records the request body.
   */
  annotate(key: string, value: string, level?: "Request"): void;
  /** Reports how long a step of the request took, in milliseconds, for the log of slow requests. */
  took?(step: string, durationMs: number): void;
  /** End of the client's `timeout`, in milliseconds of the monotonic clock; undefined without one. */
  readonly expiresAt?: number | undefined;
  /** Verb of the request. */
  readonly verb?: string | undefined;
  /** Identifies the request, as in its audit events. */
  readonly requestId?: string | undefined;
}

/**
 * The attributes of a write for admission (spec: conventions 4.13). They are read-only: a mutating plugin changes the contents of
 * `object`, and adds everything else through `effects`.
 */
export interface AdmissionRequest {
  /** CONNECT is a connection to an object, such as `pods/exec`. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The target in its stored version. In the validating phase of a CREATE it has the name that mutating webhooks set. */
  readonly target: Target;
  /** The resource type in the version of the request; that of the target if this is the stored version. */
  readonly requestResource: Resource;
  /** The options of the verb. */
  readonly options: WriteOptions;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The new object; undefined for DELETE. For CONNECT the options, for actions (`binding`, `eviction`, `token`) the body. Mutating
   * plugins change it in place.
   */
  readonly object: ApiObject | undefined;
  /** The live object; undefined for CREATE and deletecollection. */
  readonly live: ApiObject | undefined;
  /** What the transaction to which the write belongs has written before; undefined for a write of its own. */
  readonly staged?: StagedEntries | undefined;
  /** Whether the mutating plugins are called for the second time, after {@link AdmissionEffects.requestReinvocation}. */
  readonly reinvocation: boolean;
  readonly effects: AdmissionEffects;
}

/** Collects what plugins add to a write. All plugins and both phases of the write share one. */
export interface AdmissionEffects extends Pick<RequestReport, "warn" | "annotate" | "took"> {
  /** Adds a condition that the store checks together with the write. */
  addCondition(condition: AdmissionCondition): void;
  /** Registers a function that is called once with the outcome of the write, in order of registration. It must not throw. */
  onOutcome(listener: OutcomeListener): void;
  /**
   * Reports that code outside of the server, such as a webhook, has changed the object. All mutating plugins are then called a second
   * time, and the verb re-applies its update strategy: a write of the object keeps the status, a write of the status keeps
   * everything else.
   */
  requestReinvocation(): void;
  /** Whether {@link requestReinvocation} was called. */
  readonly reinvocationRequested: boolean;
  /**
   * Returns the state that a plugin keeps for this write, for example from the mutating to the validating phase.
   *
   * @param type the class of the state; the first call for a class creates its instance.
   */
  state<T extends object>(type: new () => T): T;
}

/**
 * A condition on another key of the store on which the decision of a plugin depends. The store checks it together with the write.
 */
export interface AdmissionCondition extends WriteCondition {
  /**
   * Repeats the decision after the condition failed; returns the new condition.
   *
   * @throws {StatusError} the write is rejected now.
   */
  renew(): MaybePromise<AdmissionCondition | undefined>;
}

/**
 * Outcome of a write: committed; not committed (rejected, conflict, dry run); or unknown, as the store failed during the commit.
 */
export type WriteOutcome = "committed" | "not committed" | "unknown";

/** Called by the verb with the outcome of a write, for example to release a reservation. */
export type OutcomeListener = (outcome: WriteOutcome) => void;

/** The admission chain. Both phases reject by throwing a {@link StatusError}. */
export interface Admitter {
  /**
   * Whether a plugin handles this operation on this target; otherwise both phases may be skipped.
   *
   * @param requestResource the resource type in the version of the request; by default that of the target.
   */
  concerns(operation: AdmissionRequest["operation"], target: Target, requestResource?: Resource): boolean;
  mutate(request: AdmissionRequest): MaybePromise<void>;
  validate(request: AdmissionRequest): MaybePromise<void>;
}

/** Result of a write. */
export interface WriteResult {
  /** The stored object, or the one that a dry run would store, in canonical JSON. */
  readonly body: Uint8Array;
  readonly created: boolean;
  readonly warnings: readonly string[];
}

/** The error for a missing object. */
export function notFound(target: Target): StatusError {
  return objectNotFound(subjectOf(target));
}

/** The error for a conflicting write. */
export function conflict(target: Target, why: string): StatusError {
  const subject = subjectOf(target);
  const message = `Operation cannot be fulfilled on ${quotedSubject(subject)}: ${why}`;
  return new StatusError("Conflict", message, subjectDetails(subject));
}

/**
 * The Conflict of a failed precondition. As in the reference, its details name the kind, not the resource type, except for kinds that
 * delete their objects in steps.
 */
export function failedPrecondition(target: Target, why: string): StatusError {
  const failure = conflict({ ...target, requestGroup: target.resource.group }, why);
  const { message, details } = failure;
  if (endsItself(target.resource.kind)) return failure;
  return new StatusError("Conflict", message, { ...details, kind: target.resource.kind.name });
}

/** Whether a DELETE only begins the deletion of the kind's objects, which a controller completes, as for namespaces. */
export function endsItself({ isFinalized, beginDelete }: Kind): boolean {
  return isFinalized !== undefined || beginDelete !== undefined;
}

/** The Conflict of a uid precondition; `actual` is undefined if there is no object. */
export function uidConflict(target: Target, required: string, actual: string | undefined): StatusError {
  return conflict(
    target,
    `Precondition failed: UID in precondition: ${required}, UID in object meta: ${actual ?? ""}`,
  );
}

/** The target in error messages. */
export function subjectOf({
  resource,
  name,
  requestGroup = resource.group,
}: Pick<Target, "resource" | "name" | "requestGroup">): ErrorSubject {
  return { resource: resource.name, group: requestGroup, name };
}

/** `Status.details` of an error about the target. */
export function detailsOf(target: Target): StatusDetails {
  return subjectDetails(subjectOf(target));
}

/** The parts of an engine that decode and check objects. */
export type InputEngine = Pick<
  Engine,
  "allowPrivileged" | "clock" | "featureEnabled" | "registry" | "vocabulary"
>;

/** The context of the kind's functions: vocabulary, gates, and the user if relevant. */
export function kindContext(engine: InputEngine, target: Target, user?: UserInfo): KindContext {
  return {
    vocabulary: engine.vocabulary,
    enabled: engine.featureEnabled,
    release: engine.registry.release,
    forbidsPrivileged: !engine.allowPrivileged,
    subresource: target.subresource,
    user,
    now: engine.clock.now(),
  };
}

/** Admits every write. */
const admitsAll: Admitter = { concerns: () => false, mutate: () => undefined, validate: () => undefined };

/** The same engine without admission, for steps of a request that admission has handled. */
export function withoutAdmission(engine: Engine): Engine {
  return { ...engine, admit: admitsAll };
}
