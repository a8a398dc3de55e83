import { deletableTypes, type RemoteObjects, type RemoteServices } from "../aggregation/remote-objects.ts";
import { mapInTurns } from "../base/turns/yielding.ts";
import type { Clock } from "../base/time/clock.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import type { Registry } from "../resources/registry/registry.ts";
import { WorkQueue } from "./work-queue.ts";

/** Remaining objects of one resource type in a namespace. */
export interface RemainingObjects {
  readonly resource: { readonly name: string; readonly group: string };
  count: number;
  /** Number of objects by finalizer. */
  readonly finalizers: Map<string, number>;
}

/** What a namespace has at the available extension servers. */
export interface RemoteContentState {
  /** Whether a recent pass found nothing. */
  readonly isEmpty: boolean;
  readonly remaining: readonly RemainingObjects[];
  /** Why content could not be listed or deleted. */
  readonly failures: readonly string[];
}

export const noRemoteContent: RemoteContentState = { isEmpty: true, remaining: [], failures: [] };
const unknownContent: RemoteContentState = { isEmpty: false, remaining: [], failures: [] };

/** Name of the service account whose rights the controller has at extension servers. */
const account = "namespace-controller";
/** Number of namespaces that are emptied concurrently. */
const workers = 16;
/** Number of concurrent deletions of one pass. */
const parallelDeletes = 8;
/** An empty namespace is checked again after this time, if something else keeps it. */
const validMs = 10_000;
/** Delay before the next pass over remaining objects; after failures it doubles up to the maximum. */
const passMs = 1000;
const maxPassMs = 60_000;
/** After this number of failed calls in succession, an extension server gets no calls for a time. */
const maxFailedCalls = 3;
const pauseMs = 5000;

interface Pass {
  readonly uid: string;
  /** Revision of the API services. */
  readonly revision: number;
  readonly endedAt: number;
  readonly state: RemoteContentState;
  /** Number of passes with failures in succession. */
  readonly failed: number;
}

/**
 * Deletes the content of terminating namespaces at available extension servers, through their API. It works apart from the deletion of
 * other content, so that a server that doesn't answer delays nothing else.
 */
export class RemoteContent {
  private readonly passes = new Map<string, Pass>();
  /** The uids of the namespaces that are to be emptied, by name. */
  private readonly uidsToEmpty = new Map<string, string>();
  private readonly servers = new Map<string, { failed: number; pausedUntil: number }>();
  private readonly queue: WorkQueue;
  private readonly clock: Clock;

  /** @param changed called with the name of a namespace after each pass. */
  constructor(
    private readonly context: {
      readonly clock: Clock;
      readonly registry: Registry;
      readonly apiServices: RemoteServices;
    },
    private readonly changed: (name: string) => void,
    failed: (name: string, error: unknown) => void,
  ) {
    this.clock = context.clock;
    this.queue = new WorkQueue(context.clock, (name) => this.work(name), failed, undefined, workers);
  }

  close(): Promise<void> {
    return this.queue.close();
  }

  /** Forgets a namespace that was deleted. */
  forget(name: string): void {
    this.passes.delete(name);
    this.uidsToEmpty.delete(name);
  }

  /** Returns the state after the last pass; starts another one if that is due. */
  stateOf(name: string, uid: string): RemoteContentState {
    const { apiServices } = this.context;
    if (this.types().length === 0) return noRemoteContent;
    const last = this.passes.get(name);
    const isCurrent = last?.uid === uid && last.revision === apiServices.revision;
    const age = isCurrent ? this.clock.monotonicNow() - last.endedAt : Infinity;
    if (isCurrent && age < delayAfter(last)) return last.state;
    this.uidsToEmpty.set(name, uid);
    this.queue.add(name);
    return last?.uid === uid ? { ...last.state, isEmpty: false } : unknownContent;
  }

  private types(): readonly RemoteObjects[] {
    const { apiServices, registry } = this.context;
    return deletableTypes(apiServices, registry.vocabulary, account).filter(
      ({ resource }) => resource.namespaced,
    );
  }

  private async work(name: string): Promise<void> {
    const uid = this.uidsToEmpty.get(name);
    if (uid === undefined) return;
    const { revision } = this.context.apiServices;
    const byServer = new Map<string, RemoteObjects[]>();
    for (const type of this.types()) {
      const { name: server } = type.remote;
      byServer.set(server, [...(byServer.get(server) ?? []), type]);
    }
    const results = await Promise.all([...byServer.values()].map((types) => this.empty(name, types)));
    // The server stops; the failures say nothing about the extension servers.
    if (this.context.apiServices.callsEnded) return;
    const remaining = results.flatMap((one) => one.remaining);
    const failures = results.flatMap((one) => one.failures);
    const before = this.passes.get(name);
    if (this.uidsToEmpty.get(name) !== uid) return;
    this.uidsToEmpty.delete(name);
    this.passes.set(name, {
      uid,
      revision,
      endedAt: this.clock.monotonicNow(),
      state: { isEmpty: remaining.length === 0 && failures.length === 0, remaining, failures },
      failed: failures.length === 0 ? 0 : (before?.failed ?? 0) + 1,
    });
    this.changed(name);
  }

  /** Deletes the content at one extension server. A failed call ends the pass there. */
  private async empty(
    namespace: string,
    types: readonly RemoteObjects[],
  ): Promise<Pick<RemoteContentState, "remaining" | "failures">> {
    const { name } = types[0]!.remote;
    const server = this.servers.get(name) ?? { failed: 0, pausedUntil: 0 };
    this.servers.set(name, server);
    if (this.clock.monotonicNow() < server.pausedUntil)
      return { remaining: [], failures: [`${name}: the extension server failed ${server.failed} calls`] };
    const remaining: RemainingObjects[] = [];
    try {
      for (const type of types) {
        const left = await emptyType(type, namespace);
        if (left.count > 0) remaining.push(left);
      }
      this.servers.delete(name);
      return { remaining, failures: [] };
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      server.failed++;
      if (server.failed >= maxFailedCalls) server.pausedUntil = this.clock.monotonicNow() + pauseMs;
      return { remaining, failures: [`${name}: ${error.message}`] };
    }
  }
}

function delayAfter({ state, failed }: Pass): number {
  if (failed > 0) return Math.min(maxPassMs, passMs * 2 ** (failed - 1));
  return state.isEmpty ? validMs : passMs;
}

/** Deletes the objects of a type, and counts those that remain. */
async function emptyType(type: RemoteObjects, namespace: string): Promise<RemainingObjects> {
  const { resource, group } = type;
  const remaining = {
    resource: { name: resource.name, group },
    count: 0,
    finalizers: new Map<string, number>(),
  };
  const first = await type.list(namespace);
  if (first.items.length === 0) return remaining;
  if (type.allows("deletecollection")) await type.deleteCollection(namespace);
  else {
    for (let at = 0; at < first.items.length; at += parallelDeletes)
      await Promise.all(
        first.items.slice(at, at + parallelDeletes).map((one) => type.delete({ ...one, namespace })),
      );
  }
  const rest = await type.list(namespace);
  remaining.count = rest.items.length + rest.remaining;
  await mapInTurns(rest.items, ({ finalizers = [] }) => {
    for (const one of finalizers) remaining.finalizers.set(one, (remaining.finalizers.get(one) ?? 0) + 1);
  });
  return remaining;
}
