import type { JsonObject } from "../../base/json/value.ts";
import { apiVersionOf } from "../../base/object-errors.ts";
import { isLater, type Release } from "../../base/releases.ts";
import { annotationKeys } from "../../http/audit/annotation-keys.ts";
import { kindsOfRelease } from "../../kinds/kinds-of-release.ts";
import { lifeCycles } from "../../kinds/life-cycle-table.ts";
import { groupName } from "../../schema/kind.ts";
import type { Group } from "../../schema/types.ts";
import { objectAt, textOf } from "../../server/validation/documents.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { printable } from "../log.ts";
import { auditEvents } from "./audit-events.ts";

/** Clients that are listed one by one: those of a log can be any number. */
const maxClients = 1000;
/** Longer texts of clients are cut. */
const maxTextLength = 200;

/** Requests of one client for a version that an upgrade removes or deprecates. */
export interface ClientRequests {
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly resource: string;
  readonly apiVersion: string;
  /** Release that removes the version; undefined if it is only deprecated. */
  readonly removed: string | undefined;
  /** Version to use instead; undefined if none is known. */
  readonly replacement: string | undefined;
  readonly count: number;
  /** Time of the last request, as in the log. */
  readonly last: string;
}

/** The requests of audit logs. */
export interface AuditedRequests {
  /** In the order of their first request. */
  readonly clients: readonly ClientRequests[];
  /** Requests of further clients. */
  readonly others: number;
}

interface Counted extends Omit<ClientRequests, "count" | "last"> {
  /** Events by stage: a policy can leave out stages, and a request has several. */
  readonly stages: Map<string, number>;
  last: string;
}

/** What an upgrade does to a version. */
interface Change {
  readonly removed: string | undefined;
  readonly replacement: string | undefined;
}

/**
 * Finds the clients in audit logs that request versions which an upgrade removes, or which are deprecated in the later release. Reads the
 * logs as streams and keeps a bounded number of clients.
 *
 * @param warn called with a message for each line that is no event.
 * @throws {ClientError} if a file can't be read.
 */
export async function requestsInLogs(
  files: readonly string[],
  { from, to, vocabulary }: { readonly from: Release; readonly to: Release; readonly vocabulary: Vocabulary },
  warn: (text: string) => void,
): Promise<AuditedRequests> {
  const changes = await changesOf(from, to, vocabulary);
  const keys = annotationKeys(vocabulary);
  const counted = new Map<string, Counted>();
  let others = 0;
  for (const file of files) {
    for await (const event of auditEvents(file, warn)) {
      const reference = objectAt(event, "objectRef");
      if (reference === undefined) continue;
      const apiVersion = apiVersionOf(textOf(reference["apiGroup"]), textOf(reference["apiVersion"]));
      const resource = textOf(reference["resource"]);
      const change =
        changes.get(`${apiVersion} ${resource}`) ?? annotatedChange(objectAt(event, "annotations"), keys, to);
      if (change === undefined) continue;
      const client = { ...clientOf(event), resource: cut(resource), apiVersion: cut(apiVersion) };
      const key = JSON.stringify(client);
      let one = counted.get(key);
      const stage = textOf(event["stage"]);
      if (one === undefined && counted.size >= maxClients) {
        if (stage === "ResponseComplete") others++;
        continue;
      }
      if (one === undefined) counted.set(key, (one = { ...client, ...change, stages: new Map(), last: "" }));
      one.stages.set(stage, (one.stages.get(stage) ?? 0) + 1);
      const time = cut(textOf(event["stageTimestamp"]) || textOf(event["requestReceivedTimestamp"]));
      if (time > one.last) one.last = time;
    }
  }
  const clients = [...counted.values()].map(({ stages, ...client }) => ({
    ...client,
    count: Math.max(...stages.values()),
  }));
  return { clients, others };
}

/** Returns a line for each client. */
export function requestLines({ clients, others }: AuditedRequests): string[] {
  const lines = clients.map((one) => {
    const { user, userAgent, verb, resource, apiVersion, removed, replacement, count, last } = one;
    const agent = userAgent === "" ? "" : ` (${userAgent})`;
    const change = removed === undefined ? "is deprecated" : `is removed in ${removed}`;
    const instead = replacement === undefined ? "" : `; use ${replacement}`;
    const times = count === 1 ? "once" : `${count} times`;
    return `${user}${agent} requests ${resource} of ${apiVersion}, which ${change}: ${verb}, ${times}, the last at ${last}${instead}`;
  });
  return others === 0 ? lines : [...lines, `further clients send ${others} more requests of these versions`];
}

/** The changes of built-in versions, by `apiVersion resource`. */
async function changesOf(
  from: Release,
  to: Release,
  vocabulary: Vocabulary,
): Promise<ReadonlyMap<string, Change>> {
  const changes = new Map<string, Change>();
  const kinds = [...(await kindsOfRelease(from)), ...(await kindsOfRelease(to))];
  const resources = new Map(kinds.map((kind) => [`${kind.group.base} ${kind.name}`, kind.resource]));
  const versionName = (group: Group, version: string) => apiVersionOf(groupName(group, vocabulary), version);
  for (const { group, version, kind, deprecated, removed, replacement } of lifeCycles) {
    const isRemoved = removed !== undefined && isLater(removed, from) && !isLater(removed, to);
    const isDeprecated =
      deprecated !== undefined && !isLater(deprecated, to) && (removed === undefined || isLater(removed, to));
    const resource = resources.get(`${group.base} ${kind}`);
    if ((!isRemoved && !isDeprecated) || resource === undefined) continue;
    changes.set(`${versionName(group, version)} ${resource}`, {
      removed: isRemoved ? removed : undefined,
      replacement:
        replacement === undefined ? undefined : versionName(replacement.group, replacement.version),
    });
  }
  return changes;
}

/** Returns the change that the server has recorded with a request, also for a version of a custom kind. */
function annotatedChange(
  annotations: JsonObject | undefined,
  { deprecated, removedRelease }: ReturnType<typeof annotationKeys>,
  to: Release,
): Change | undefined {
  if (annotations?.[deprecated] !== "true") return undefined;
  const release = textOf(annotations[removedRelease]);
  const isRemoved = /^\d+\.\d+$/.test(release) && !isLater(release, to);
  return { removed: isRemoved ? release : undefined, replacement: undefined };
}

function clientOf(event: JsonObject): Pick<ClientRequests, "user" | "userAgent" | "verb"> {
  const user = objectAt(event, "impersonatedUser") ?? objectAt(event, "user");
  return {
    user: cut(textOf(user?.["username"])) || "an unknown user",
    userAgent: cut(textOf(event["userAgent"])),
    verb: cut(textOf(event["verb"])),
  };
}

/** Returns a text of a client that a terminal can show. */
function cut(text: string): string {
  return printable(text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text);
}
