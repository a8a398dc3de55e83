import type { Clock } from "../base/clock.ts";
import type { Timestamps } from "../base/timestamps.ts";
import type { RecentFieldSets } from "../fields/apply/recent-field-sets.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { WorkPace } from "../base/work-pace.ts";
import { objectNotFound, quotedSubject, subjectDetails, type ErrorSubject } from "../base/object-errors.ts";
import { StatusError, type StatusDetails } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { KindContext } from "../schema/context.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry, Store, WriteCondition } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ConvertedObjects } from "./converted-objects.ts";
import type { StorageHooks } from "./storage-hooks.ts";
import type { PageCache } from "./page-cache.ts";
import type { RepeatedApplies } from "./repeated-applies.ts";
import type { Registry, Resource } from "./registry.ts";
import type { SelectorIndex } from "./selector-index/selector-index.ts";
import type { TokenIssuer } from "./token-issuer.ts";

/** What the verbs of this folder work with. */
export interface Engine {
  readonly store: Store;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Writes the clock's times. */
  readonly timestamps: Timestamps;
  /** A random integer from 0 up to, not including, `below`. */
  readonly randomInt: (below: number) => number;
  readonly newUid: () => string;
  readonly admit: Admitter;
  /** Whether a feature gate is on (spec: conventions 9.4). */
  readonly featureEnabled: (gate: string) => boolean;
  /** Whether containers may have all rights on their host. */
  readonly allowPrivileged: boolean;
  /** Side effects of writing the objects of a kind, by its prefix in the store. */
  readonly storageHooks: ReadonlyMap<string, StorageHooks>;
  /** Pages of the store's collections, for lists. */
  readonly pages: Pick<PageCache, "read" | "close">;
  /** Indexes of what large collections are searched by, for filtered lists. */
  readonly selectors: Pick<SelectorIndex, "find" | "scanned" | "counters" | "close">;
  /** Applies that changed nothing. */
  readonly repeatedApplies: RepeatedApplies;
  /** Reads the sets of fields that stored objects name. */
  readonly fieldSets: RecentFieldSets;
  /** Issues tokens of service accounts; undefined where the server issues none. */
  readonly tokens?: TokenIssuer | undefined;
  /** Set where the store has objects that a webhook converts, in the version of the request; see `converted-engine.ts`. */
  readonly converted?: ConvertedObjects | undefined;
  /** Whether an object is stored in a version in which it wouldn't be any more, so that an update that changes nothing stores it anew. */
  readonly isOutdated?: ((entry: Entry) => boolean) | undefined;
}

/** Which object or collection a request is about. */
export interface Target {
  readonly resource: Resource;
  /** Empty for cluster scope, and for all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** The group of the request, by which errors name it, where the objects are stored in another one. */
  readonly requestGroup?: string;
}

/** How a write is to be done. */
export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Name under which the written fields are recorded. */
  readonly fieldManager: string;
  /** Absent where nobody reads it. */
  readonly report?: RequestReport | undefined;
  /** Absent where the work isn't a client's. */
  readonly pace?: WorkPace | undefined;
}

/** Takes what a request has to say beside its result or its failure. */
export interface RequestReport {
  /** The client gets the text in a `Warning` header, also when the request is refused. The same text is sent once. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit events of the request; the first value of a key stays.
   *
   * @param level `Request`: only where the body of the request is recorded too.
   */
  annotate(key: string, value: string, level?: "Request"): void;
  /** When the client stops waiting for the answer, by the monotonic clock in milliseconds; undefined where it didn't say. */
  readonly expiresAt?: number | undefined;
}

/** What admission is asked about: one write, before it is stored (spec: conventions 4.13). */
export interface AdmissionRequest {
  /** CONNECT is a connection to what an object stands for, such as `pods/exec`. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /**
   * What is written, in its stored version. After the mutating phase of a CREATE its name is the one that plugins gave the
   * object.
   */
  target: Target;
  /** The resource type in the version of the request; that of the target where the request is in the stored version. */
  readonly requestResource: Resource;
  /** How the write is to be done, with the options of its verb. */
  readonly options: WriteOptions;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The object to be written; absent for DELETE. For CONNECT and for what is done to an object (`binding`, `eviction`,
   * `token`) what was sent: the options, or the body. A mutating plugin changes it in place.
   */
  readonly object: ApiObject | undefined;
  /** The live object; absent for CREATE, and for the deletion of a collection. */
  readonly live: ApiObject | undefined;
  readonly report: RequestReport;
  /**
   * Set by a plugin that let others change the object. The verb then applies again its rules for what such a write may
   * change: a write of the object leaves its status as it is, and one of its status everything else.
   */
  rewritten: boolean;
  /** 1 when the mutating plugins are asked once more, because of {@link rewritten}. */
  round: 0 | 1;
  /** Called once, in their order, when it is known what became of the write. They must not throw. */
  settlements: Settlement[] | undefined;
  /** What must still hold when the object is stored, as the decisions of plugins depend on it. Plugins add to it. */
  readonly conditions: AdmissionCondition[];
}

/**
 * A condition on another key of the store, under which a plugin let a write pass: nothing that its decision depends on was
 * changed by another process. The store checks it together with the write.
 */
export interface AdmissionCondition extends WriteCondition {
  /**
   * Decides anew, after the condition has failed; gives the condition of the new decision.
   *
   * @throws {StatusError} the write isn't allowed any more.
   */
  renew(): MaybePromise<AdmissionCondition | undefined>;
}

/**
 * What became of a write that admission was asked about: it took place; it did not (it was refused, lost against another write,
 * or was a dry run); or the store did not say, so that it may have taken place.
 */
export type WriteOutcome = "committed" | "not committed" | "unknown";

/** What a plugin does when a write that it let pass is over, such as giving back what it counted. */
export type Settlement = (outcome: WriteOutcome) => void;

/** The admission chain as the verbs see it. Both phases refuse by throwing a {@link StatusError}. */
export interface Admitter {
  /**
   * Whether any plugin has to be asked now about this operation on this target; else both phases may be skipped.
   *
   * @param requestResource the resource type in the version of the request; that of the target unless given.
   */
  concerns(operation: AdmissionRequest["operation"], target: Target, requestResource?: Resource): boolean;
  mutate(request: AdmissionRequest): MaybePromise<void>;
  validate(request: AdmissionRequest): MaybePromise<void>;
}

/** What a write did. */
export interface WriteResult {
  /** The object as stored, or as it would be (dry run), in canonical JSON. */
  readonly body: Uint8Array;
  readonly created: boolean;
  readonly warnings: readonly string[];
}

/** The error for an object that isn't there. */
export function notFound(target: Target): StatusError {
  return objectNotFound(subjectOf(target));
}

/** The error for a write that lost against another one. */
export function conflict(target: Target, why: string): StatusError {
  const subject = subjectOf(target);
  const message = `Operation cannot be fulfilled on ${quotedSubject(subject)}: ${why}`;
  return new StatusError("Conflict", message, subjectDetails(subject));
}

/**
 * The Conflict of an object that isn't the one which is meant. Its details name the kind, not the resource type, but for kinds
 * that end their objects themselves, as in the reference.
 */
export function failedPrecondition(target: Target, why: string): StatusError {
  const failure = conflict({ ...target, requestGroup: target.resource.group }, why);
  const { message, details } = failure;
  if (endsItself(target.resource.kind)) return failure;
  return new StatusError("Conflict", message, { ...details, kind: target.resource.kind.name });
}

/** Whether objects of a kind end in steps of their own, however long those take. */
export function endsItself({ isFinalized, beginDelete }: Kind): boolean {
  return isFinalized !== undefined || beginDelete !== undefined;
}

/** The Conflict of a write that is meant for an object with another uid; `found` is undefined where there is no object. */
export function uidConflict(target: Target, wanted: string, found: string | undefined): StatusError {
  return conflict(
    target,
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ""}`,
  );
}

/** The target as errors name it. */
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

/** What the target's declaration may know of this server, and of who writes where that matters. */
export function kindContext(engine: Engine, target: Target, user?: UserInfo): KindContext {
  return {
    vocabulary: engine.vocabulary,
    enabled: engine.featureEnabled,
    forbidsPrivileged: !engine.allowPrivileged,
    subresource: target.subresource,
    user,
    now: engine.clock.now(),
  };
}

/** Admits every write. */
const admitsAll: Admitter = { concerns: () => false, mutate: () => undefined, validate: () => undefined };

/** The same engine for what a verb does on the way, of which admission has been asked already. */
export function withoutAdmission(engine: Engine): Engine {
  return { ...engine, admit: admitsAll };
}
