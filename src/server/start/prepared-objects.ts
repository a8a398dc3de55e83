import { randomValues } from "../../base/random.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import { LimitRange } from "../../kinds/core/limit-range.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { ServiceAccount } from "../../kinds/core/service-account.ts";
import { FlowSchema } from "../../kinds/flowcontrol/flow-schema.ts";
import { PriorityLevelConfiguration } from "../../kinds/flowcontrol/priority-level-configuration.ts";
import { ClusterRoleBinding, RoleBinding } from "../../kinds/rbac/bindings.ts";
import { ClusterRole, Role } from "../../kinds/rbac/roles.ts";
import { PriorityClass } from "../../kinds/scheduling/priority-class.ts";
import { resourceOf } from "../../resources/registry/registry.ts";
import type { Kind } from "../../schema/kind.ts";
import { asBuffer, uidOf } from "../../resources/objects/stored.ts";
import type { MemoryChange, MemoryStore } from "../../storage/memory/memory-store.ts";
import type { Entry } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** A default object whose uid and times are filled in for each server. */
interface PreparedObject {
  readonly key: string;
  readonly header: Buffer;
  /** Positions of the uid in the header. */
  readonly headerUids: readonly number[];
  /** Without a revision. */
  readonly body: Buffer;
  readonly revisionAt: number;
  readonly bodyUids: readonly number[];
  /** Positions of times such as `2030-01-31T12:00:00Z`. */
  readonly times: readonly number[];
}

/** A time of an object's metadata or of a condition. */
const timeMember = /"(?:creationTimestamp|time|lastTransitionTime)":"(?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")/g;
const timeLength = "2030-01-31T12:00:00Z".length;

/** The kinds of objects that every server creates in the same way. */
const preparedKinds: readonly Kind[] = [
  Namespace,
  ServiceAccount,
  LimitRange,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  FlowSchema,
  PriorityLevelConfiguration,
  PriorityClass,
  APIService,
];

/** The default objects of recent servers, by {@link preparationKey}; each set has about 300 KB. */
const prepared = new RecentMap<readonly PreparedObject[]>({ entries: 16, cost: 0 });

/** Options that have no influence on the default objects, or that the key has in another form. */
const irrelevant = new Set<keyof ServerOptions>([
  "accessLog",
  "advertiseAddress",
  "aggregation",
  "anonymousAuth",
  "audit",
  "authentication",
  "authorizationConfigFile",
  "authorizationPolicyFile",
  "authorizationWebhook",
  "certificateFiles",
  "clientCaFile",
  "clock",
  "clusterSigning",
  "connections",
  "console",
  "durability",
  "eventLifeMs",
  "extensions",
  "extraHosts",
  "host",
  "keptHistory",
  "livezGracePeriodMs",
  "log",
  "maxConnections",
  "port",
  "random",
  "recordRequests",
  "retentionMs",
  "serviceNodePortRange",
  "showHiddenMetricsForVersion",
  "shutdownDelayMs",
  "storage",
  "tls",
  "tokenAuthFile",
  "tracingConfigFile",
  "views",
  "vocabulary",
]);

/**
 * Returns a text that is the same for servers with the same default objects; undefined if that is unknown.
 */
function preparationKey(options: ServerOptions): string | undefined {
  const { vocabulary, extensions } = options;
  const { kinds, admissionPlugins, controllers } = extensions ?? {};
  const code = kinds ?? admissionPlugins ?? controllers;
  if (code !== undefined || options.admissionConfigurationFile !== undefined) return undefined;
  const values = Object.entries(options).filter(([name]) => !irrelevant.has(name as keyof ServerOptions));
  return JSON.stringify([vocabulary.name, values.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/**
 * Fills a new store with the default objects that {@link prepareObjects} recorded for the same options, with new uids and the current time.
 * Writing them one by one through admission and validation is most of the time of a start.
 *
 * @returns whether there were such objects.
 */
export function writePrepared(store: MemoryStore, options: ServerOptions): boolean {
  const key = preparationKey(options);
  const objects = key === undefined ? undefined : prepared.get(key);
  if (objects === undefined) return false;
  const time = new Timestamps(options.clock).now();
  if (time.length !== timeLength) return false;
  const { newUid } = randomValues(options);
  // The purpose is that of creating the object, so that a seed gives the same uid.
  store.commitAll(objects.map((one) => written(one, newUid(one.key), time)));
  return true;
}

/**
 * Records the default objects in the store of a started server, for servers with the same options. Objects of other kinds may contain
 * keys or addresses of the server.
 */
export function prepareObjects(store: MemoryStore, options: ServerOptions): void {
  const key = preparationKey(options);
  if (key === undefined) return;
  const prefixes = preparedKinds.map((kind) => resourceOf(kind, options.vocabulary).stored.storePrefix);
  const entries = prefixes.flatMap((prefix) => store.range({ prefix }).entries);
  prepared.set(key, entries.toSorted((a, b) => a.revision - b.revision).map(preparedObject));
}

function preparedObject(entry: Entry): PreparedObject {
  const { key, revision, revisionAt } = entry;
  const [header, stored] = [asBuffer(entry.header), asBuffer(entry.body)];
  const uid = uidOf(entry);
  const rest = stored.subarray(revisionAt + String(revision).length);
  const body = Buffer.concat([stored.subarray(0, revisionAt), rest]);
  const text = body.toString("latin1");
  return {
    key,
    header: Buffer.from(header),
    body,
    revisionAt,
    headerUids: positionsOf(header.toString("latin1"), uid),
    bodyUids: positionsOf(text, uid),
    times: Array.from(text.matchAll(timeMember), ({ 0: member, index }) => index + member.length),
  };
}

/** Returns the positions at which a text contains another one, which is not empty. */
function positionsOf(text: string, part: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); part !== "" && at !== -1; at = text.indexOf(part, at + part.length))
    positions.push(at);
  return positions;
}

function written(one: PreparedObject, uid: string, time: string): MemoryChange {
  const [header, body] = [Buffer.from(one.header), Buffer.from(one.body)];
  for (const at of one.headerUids) header.write(uid, at, "latin1");
  for (const at of one.bodyUids) body.write(uid, at, "latin1");
  for (const at of one.times) body.write(time, at, "latin1");
  return { key: one.key, draft: { header, body, revisionAt: one.revisionAt } };
}
