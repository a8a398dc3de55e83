import type { RemoteServices } from "../aggregation/remote-objects.ts";
import { qualifiedName } from "../base/object-errors.ts";
import { StatusError } from "../base/status-error.ts";
import { nextTurn } from "../base/turns/yielding.ts";
import { APIService } from "../kinds/apiregistration/api-service.ts";
import { isTerminating, Namespace } from "../kinds/core/namespace.ts";
import type { Client } from "../resources/clients/client.ts";
import { namesOf, prefixOf, type Resource } from "../resources/registry/registry.ts";
import { decodeEntry, headerOf } from "../resources/objects/stored.ts";
import type { Entry, Store } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Controller, ControllerContext, QueueDependencies } from "./controller.ts";
import {
  noRemoteContent,
  RemoteContent,
  type RemainingObjects,
  type RemoteContentState,
} from "./remote-content.ts";
import { WorkQueue } from "./work-queue.ts";

/** Delay before a namespace with remaining content is reconciled again. */
const remainingCheckMs = 1000;
/** Maximum size of a page of objects read from the store. */
const pageBytes = 256 * 1024;
/** Number of concurrent deletions; their writes share a sync. */
const parallelDeletes = 16;

/** Dependencies of the controller that deletes the content of namespaces. */
export type NamespaceDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store" | "informer"> & {
    readonly featureEnabled: (gate: string) => boolean;
    readonly apiServices: RemoteServices;
  };

/** Number of namespaces that are emptied concurrently, so that a large one doesn't delay the others. */
const workers = 10;

/**
 * Deletes the content of a terminating namespace, then removes the system's finalizer, so that the namespace is deleted
 * (spec: conventions 3.1, 4.1).
 */
export const namespaceDeletion: Controller<NamespaceDependencies> = {
  name: "namespace",
  start(context) {
    const { registry } = context;
    const informer = context.informer(registry.require(Namespace));
    const services = registry.serves(APIService) ? context.informer(registry.require(APIService)) : undefined;
    const unavailable = async () => {
      await services?.sync();
      return unavailableVersions((services?.list() ?? []) as Iterable<APIService>);
    };
    const remote = new RemoteContent(
      context,
      (name) => queue.add(name),
      (name, error) => context.failed(this.name, name, error),
    );
    const queue: WorkQueue = new WorkQueue(
      context.clock,
      async (name, closing) => {
        const done = await new Deletion(context, unavailable, remote, name, closing).run();
        if (done) remote.forget(name);
        if (!done) queue.addLater(name, remainingCheckMs);
      },
      (name, error) => context.failed(this.name, name, error),
      context.queueObserver?.(this.name),
      workers,
    );
    informer.listen((key, object, before) => {
      // The content of a deleted namespace is deleted once more, because a create may have passed admission just
      // before.
      if (object === undefined ? before !== undefined : isTerminating(object)) queue.add(namesOf(key).name);
    });
    return {
      async close() {
        await Promise.all([queue.close(), remote.close()]);
      },
    };
  },
};

/** Remaining objects of one of this server's resource types in a namespace. */
interface Remaining extends RemainingObjects {
  readonly resource: Resource;
}

/** What keeps a namespace from being deleted. */
interface Obstacles {
  readonly remaining: readonly Remaining[];
  /** The group versions of extension servers that are unavailable: they may have objects in the namespace. */
  readonly undiscovered: readonly string[];
  /** What remains at the available extension servers. */
  readonly remote: RemoteContentState;
}

/** The group versions of the extension servers that are unavailable, in order. */
function unavailableVersions(services: Iterable<APIService>): string[] {
  const versions: string[] = [];
  for (const { spec, status } of services) {
    const available = status?.conditions?.find(({ type }) => type === "Available");
    // A local group version has no service. Without a condition, no server has checked it.
    if (spec?.service === undefined || available === undefined || available.status === "True") continue;
    versions.push(`${spec.group}/${spec.version}`);
  }
  return versions.toSorted();
}

/** One pass over a namespace that is terminating or deleted. */
class Deletion {
  private readonly client: Client;
  private readonly store: Store;

  constructor(
    private readonly context: Pick<NamespaceDependencies, "client" | "registry" | "store" | "featureEnabled">,
    /** Returns the group versions whose resource types are unknown at present. */
    private readonly unavailable: () => Promise<readonly string[]>,
    private readonly remoteContent: RemoteContent,
    private readonly name: string,
    private readonly closing: AbortSignal,
  ) {
    this.client = context.client;
    this.store = context.store;
  }

  /** Returns true if nothing remains to be done for now. */
  async run(): Promise<boolean> {
    const namespace = await this.find();
    if (!isTerminatingOrAbsent(namespace)) return true;
    const remaining = await this.sweep();
    if (remaining === undefined || namespace === undefined) return true;
    const { vocabulary } = this.context.registry;
    // Pods are deleted before objects of extension servers too.
    const remote = this.waitsForPods(remaining)
      ? noRemoteContent
      : this.remoteContent.stateOf(this.name, namespace.metadata.uid ?? "");
    const undiscovered = await this.unavailable();
    return finish(this.client, vocabulary, namespace, { remaining, undiscovered, remote });
  }

  private waitsForPods(remaining: readonly Remaining[]): boolean {
    if (!this.context.featureEnabled("OrderedNamespaceDeletion")) return false;
    return remaining.some(({ resource }) => isOfPods(resource));
  }

  private find(): Promise<Namespace | undefined> {
    return this.client.find<Namespace>({ apiVersion: "v1", kind: "Namespace", name: this.name });
  }

  /**
   * Requests the deletion of all objects; of others than pods only when no pods are left, so that running pods keep their network
   * policies (release 1.33 on). Returns undefined if a namespace with this name was created meanwhile.
   */
  private async sweep(): Promise<Remaining[] | undefined> {
    const { registry, featureEnabled } = this.context;
    const all: Remaining[] = [];
    await registry.readAll();
    const types = [...registry.stored()].filter(({ namespaced }) => namespaced);
    const ordered = featureEnabled("OrderedNamespaceDeletion")
      ? types.toSorted((one, other) => Number(isOfPods(other)) - Number(isOfPods(one)))
      : types;
    for (const resource of ordered) {
      const remaining = { resource, count: 0, finalizers: new Map<string, number>() };
      if (!(await this.sweepType(remaining))) return undefined;
      if (remaining.count === 0) continue;
      all.push(remaining);
      if (ordered !== types && isOfPods(resource)) break;
    }
    return all;
  }

  private async sweepType(remaining: Remaining): Promise<boolean> {
    const prefix = prefixOf(remaining.resource, this.name);
    let after: string | undefined;
    for (;;) {
      const { entries, more } = await this.store.range({ prefix, after, maxBytes: pageBytes });
      // Checked after the page was read: objects that existed while the namespace was terminating or deleted are
      // deleted, but no object of a namespace that was created again.
      if (entries.length > 0 && !isTerminatingOrAbsent(await this.find())) return false;
      for (let at = 0; at < entries.length; at += parallelDeletes) {
        await this.deleteSome(entries.slice(at, at + parallelDeletes), remaining);
      }
      if (!more) return true;
      after = entries.at(-1)?.key;
    }
  }

  private async deleteSome(entries: readonly Entry[], remaining: Remaining): Promise<void> {
    // A store may answer without yielding to the event loop.
    await nextTurn();
    this.closing.throwIfAborted();
    const results = await Promise.allSettled(
      entries.map((entry) => this.deleteOne(entry, remaining.resource)),
    );
    for (const [index, result] of results.entries()) {
      if (result.status === "rejected") throw result.reason;
      if (!result.value) countRemaining(entries[index]!, remaining);
    }
  }

  /** Deletes the object with the uid that was read. Returns false if finalizers keep it. */
  private async deleteOne(entry: Entry, { apiVersion, kind }: Resource): Promise<boolean> {
    try {
      const { uid } = headerOf(entry);
      return await this.client.delete({ apiVersion, kind: kind.name, ...namesOf(entry.key) }, { uid });
    } catch (error) {
      if (error instanceof StatusError && error.reason === "NotFound") return true;
      throw error;
    }
  }
}

function isOfPods({ group, name }: Resource): boolean {
  return group === "" && name === "pods";
}

/** Returns true if the content must be deleted: the namespace is terminating or doesn't exist. */
function isTerminatingOrAbsent(namespace: Namespace | undefined): boolean {
  return namespace === undefined || isTerminating(namespace);
}

function countRemaining(entry: Entry, remaining: Remaining): void {
  remaining.count++;
  for (const name of decodeEntry(entry).metadata.finalizers ?? []) {
    remaining.finalizers.set(name, (remaining.finalizers.get(name) ?? 0) + 1);
  }
}

/**
 * Removes the finalizer of an empty namespace; otherwise records in its conditions what remains. Returns true when
 * done.
 *
 * @param swept the namespace as read before the sweep.
 */
async function finish(
  client: Client,
  vocabulary: Vocabulary,
  swept: Namespace,
  obstacles: Obstacles,
): Promise<boolean> {
  const namespace = await client.find<Namespace>({
    apiVersion: "v1",
    kind: "Namespace",
    name: swept.metadata.name!,
  });
  if (namespace === undefined) return true;
  if (namespace.metadata.uid !== swept.metadata.uid) return !isTerminating(namespace);
  const { remaining, undiscovered, remote } = obstacles;
  if (remaining.length > 0 || undiscovered.length > 0 || !remote.isEmpty) {
    const conditions = conditionsOf(obstacles, namespace);
    if (JSON.stringify(conditions) !== JSON.stringify(namespace.status?.conditions)) {
      const status = { ...namespace.status, conditions };
      await client.update({ ...namespace, status }, "status");
    }
    return false;
  }
  const finalizers = (namespace.spec?.finalizers ?? []).filter(
    (one) => one !== vocabulary.namespaceFinalizer,
  );
  if (finalizers.length === (namespace.spec?.finalizers ?? []).length) return true;
  await client.update({ ...namespace, spec: { ...namespace.spec, finalizers } }, "finalize");
  return true;
}

function conditionsOf({ remaining: own, undiscovered, remote }: Obstacles, namespace: Namespace) {
  const remaining: readonly RemainingObjects[] = [...own, ...remote.remaining];
  const finalizers = new Map<string, number>();
  for (const one of remaining) {
    for (const [name, count] of one.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + count);
  }
  const counts = remaining.map(({ resource, count }) => {
    return `${qualifiedName(resource.name, resource.group)} has ${count} resource instances`;
  });
  const finalizerCounts = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`);
  const before = namespace.status?.conditions ?? [];
  const condition = (type: string, reason: string, message: string) => {
    const same = before.find((one) => one.type === type && one.message === message);
    const lastTransitionTime = same?.lastTransitionTime ?? namespace.metadata.deletionTimestamp;
    return { type, status: "True", lastTransitionTime: lastTransitionTime!, reason, message };
  };
  const contentConditions = () => [
    condition(
      "NamespaceContentRemaining",
      "SomeResourcesRemain",
      `Some resources are remaining: ${counts.join(", ")}`,
    ),
    condition(
      "NamespaceFinalizersRemaining",
      "SomeFinalizersRemain",
      `Some content in the namespace has finalizers remaining: ${finalizerCounts.join(", ")}`,
    ),
  ];
  const discovery = condition(
    "NamespaceDeletionDiscoveryFailure",
    "DiscoveryFailed",
    `Discovery failed for some groups, ${undiscovered.length} failing: ${undiscovered.join(", ")}: the extension server is unavailable`,
  );
  const failure = condition(
    "NamespaceDeletionContentFailure",
    "ContentDeletionFailed",
    `Failed to delete all resource types, ${remote.failures.length} remaining: ${remote.failures.join(", ")}`,
  );
  return [
    ...(undiscovered.length > 0 ? [discovery] : []),
    ...(remote.failures.length > 0 ? [failure] : []),
    ...(remaining.length > 0 ? contentConditions() : []),
  ];
}
