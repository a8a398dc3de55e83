import type { Clock } from "../base/clock.ts";
import type { Timestamps } from "../base/timestamps.ts";
import type { RecentFieldSets } from "../fields/apply/recent-field-sets.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { KindContext } from "../schema/context.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Store } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Effects } from "./effects.ts";
import type { PageCache } from "./page-cache.ts";
import type { RepeatedApplies } from "./repeated-applies.ts";
import type { Registry, Resource } from "./registry.ts";
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
  /** What writing some kinds brings with it, by their prefix in the store. */
  readonly effects: ReadonlyMap<string, Effects>;
  /** Pages of the store's collections, for lists. */
  readonly pages: PageCache;
  /** Applies that changed nothing. */
  readonly repeatedApplies: RepeatedApplies;
  /** Reads the sets of fields that stored objects name. */
  readonly fieldSets: RecentFieldSets;
  /** Makes tokens of service accounts; undefined where nobody does. */
  readonly tokens?: TokenIssuer | undefined;
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
  /** The resource type in whose version the request is, where that isn't the stored one; see `versions.ts`. */
  readonly requested?: Resource;
}

/** How a write is to be done. */
export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Name under which the written fields are recorded. */
  readonly fieldManager: string;
}

/** What admission is asked about: one write, before it is stored (spec: conventions 4.13). */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly target: Target;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The object to be written; absent for DELETE. A mutating plugin changes it in place. */
  readonly object: ApiObject | undefined;
  /** What stands now; absent for CREATE, and for the deletion of a collection. */
  readonly live: ApiObject | undefined;
}

/** The admission chain as the verbs see it. Both phases refuse by throwing a {@link StatusError}. */
export interface Admitter {
  /** Whether anybody has a say in writes of this kind; else both phases may be left out. */
  concerns(operation: AdmissionRequest["operation"], target: Target): boolean;
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
  const { resource, name } = target;
  const type = resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
  return new StatusError("NotFound", `${type} ${JSON.stringify(name)} not found`, detailsOf(target));
}

/** The error for a write that lost against another one. */
export function conflict(target: Target, why: string): StatusError {
  const { resource, name } = target;
  const type = resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
  const message = `Operation cannot be fulfilled on ${type} ${JSON.stringify(name)}: ${why}`;
  return new StatusError("Conflict", message, detailsOf(target));
}

/** The Conflict of a write that is meant for an object with another uid; `found` is undefined where there is no object. */
export function uidConflict(target: Target, wanted: string, found: string | undefined): StatusError {
  return conflict(
    target,
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ""}`,
  );
}

/** `Status.details` for an object: the field's clients expect the resource type under `kind`. */
export function detailsOf(target: Target): { name: string; group: string; kind: string } {
  return { name: target.name, group: target.resource.group, kind: target.resource.name };
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
