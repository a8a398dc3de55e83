import { jsonOf, deepEqual } from "../../base/json/value.ts";
import { objectAs } from "../../schema/api-object.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { cleanupFinalizer } from "../../kinds/apiextensions/deletion.ts";
import type { Client } from "../../resources/clients/client.ts";
import { definitionOutline } from "../../custom-resources/definitions/compressed-definition.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { namesOf, resourceOf, type Resource } from "../../resources/registry/registry.ts";
import { decodeEntry, headerOf } from "../../resources/objects/stored.ts";
import type { Entry, Store } from "../../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue, type QueueObserver } from "../work-queue.ts";
import { statusOf } from "../../custom-resources/definitions/definition-status.ts";
import { ReservedNames } from "../../custom-resources/definitions/reserved-names.ts";
import { StatusError } from "../../base/status-error.ts";

type Dependencies = QueueDependencies & Pick<ControllerContext, "client" | "registry" | "store">;
type Status = NonNullable<CustomResourceDefinition["status"]>;

/** Delay before a definition is reconciled again whose objects have finalizers. */
const recheckMs = 1000;

/**
 * Accepts the names of definitions, so that their kinds are served, and deletes the objects of deleted definitions
 * (spec: conventions 3.1). It can't be turned off: without it no definition would be established.
 */
export const customResourceDefinitions: Controller<Dependencies> = {
  name: "customresourcedefinition",
  // Every server writes the same, and a definition is served soonest by the server that created it.
  onEveryServer: true,
  start(context) {
    const failed = (key: string, error: unknown) => context.failed(this.name, key, error);
    const keeper = new DefinitionKeeper(context, failed, context.queueObserver?.(this.name));
    return { failing: () => keeper.failing, close: () => keeper.close() };
  },
};

class DefinitionKeeper {
  /** Accepted names by group. */
  private readonly reservedByGroup = new Map<string, ReservedNames>();
  private readonly queue: WorkQueue;
  private readonly follower: Follower;

  constructor(
    private readonly context: Dependencies,
    failed: (key: string, error: unknown) => void,
    observer: QueueObserver | undefined,
  ) {
    const { clock, store, registry } = context;
    this.queue = new WorkQueue(clock, (name, closing) => this.work(name, closing), failed, observer);
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const handler = {
      put: (entry: Entry) => this.put(entry),
      remove: (key: string) => this.remove(namesOf(key).name),
      failed: (error: unknown) => failed("", error),
    };
    this.follower = new Follower(store, storePrefix, handler, clock);
    this.follower.startInBackground();
  }

  get failing(): boolean {
    return this.follower.failing;
  }

  close(): Promise<void> {
    this.follower.close();
    return this.queue.close();
  }

  private put(entry: Entry): void {
    const { name } = namesOf(entry.key);
    const group = groupOf(name);
    let reserved = this.reservedByGroup.get(group);
    if (reserved === undefined) this.reservedByGroup.set(group, (reserved = new ReservedNames()));
    const outline = definitionOutline(entry);
    reserved.set(name, outline.status?.acceptedNames);
    // Most of the definitions that exist when a server starts have the desired status.
    const isSettled =
      outline.metadata.deletionTimestamp === undefined && !this.desiredStatus(outline, reserved);
    if (!isSettled) this.queue.add(name);
  }

  /** Returns the desired status of a definition; undefined if the definition has it. */
  private desiredStatus(outline: CustomResourceDefinition, reserved: ReservedNames): Status | undefined {
    const { registry, clock } = this.context;
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const status = statusOf(outline, reserved.exceptOf(outline.metadata.name!), registry, now);
    const isSame = deepEqual(jsonOf(status), jsonOf(outline.status!));
    return isSame ? undefined : status;
  }

  /** A name that is free again may resolve the conflict of another definition. */
  private remove(name: string): void {
    const reserved = this.reservedByGroup.get(groupOf(name));
    reserved?.delete(name);
    if (reserved === undefined || reserved.size === 0) this.reservedByGroup.delete(groupOf(name));
    else for (const other of reserved.definitions()) this.queue.add(other);
  }

  private async work(name: string, closing: AbortSignal): Promise<void> {
    const { client, registry, store } = this.context;
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const entry = await store.get(`${storePrefix}/${name}`);
    const reserved = this.reservedByGroup.get(groupOf(name));
    if (entry === undefined || reserved === undefined) return;
    const outline = definitionOutline(entry);
    if (outline.metadata.deletionTimestamp !== undefined) return this.finish(decoded(entry), closing);
    const status = this.desiredStatus(outline, reserved);
    if (status === undefined) return;
    // Recorded before the follower reports the write, because the next definition may request the same names.
    reserved.set(name, status.acceptedNames);
    // The write keeps the live spec, so the outline will do.
    await unlessRaced(() => client.replace({ ...outline, status }, "status"));
  }

  /** Deletes the objects of a terminating definition, and removes its finalizer when none is left. */
  private async finish(definition: CustomResourceDefinition, closing: AbortSignal): Promise<void> {
    const { client, registry } = this.context;
    const { vocabulary } = registry;
    const finalizer = definition.metadata.finalizers?.find((one) => one === cleanupFinalizer(vocabulary));
    if (finalizer === undefined) return;
    await registry.sync();
    const { group, names } = definition.spec;
    // A built-in resource with the same names doesn't belong to the definition; its objects are never deleted with it.
    const stored = registry.reserves(group, names.plural)
      ? undefined
      : registry.stored().find((one) => one.group === group && one.kind.resource === names.plural);
    // A kind that was never served has no objects.
    const left = stored === undefined ? 0 : await deleteInstances(this.context, stored, closing);
    if (left > 0) return this.queue.addLater(definition.metadata.name!, recheckMs);
    const finalizers = definition.metadata.finalizers!.filter((one) => one !== finalizer);
    const metadata = { ...definition.metadata, finalizers };
    await unlessRaced(() => client.update({ ...definition, metadata }));
  }
}

function decoded(entry: Entry): CustomResourceDefinition {
  return objectAs<CustomResourceDefinition>(decodeEntry(entry));
}

/** Returns the group of a definition from its name, which has the form `plural.group`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/** Number of concurrent deletions, and the size of a page of objects in bytes. */
const parallelDeletes = 16;
const pageBytes = 1024 * 1024;

/**
 * Requests the deletion of every object of a resource type.
 *
 * @returns the number of objects that finalizers keep.
 * @throws {StatusError} a deletion failed.
 */
async function deleteInstances(
  { client, store }: { readonly client: Client; readonly store: Store },
  resource: Resource,
  closing: AbortSignal,
): Promise<number> {
  let left = 0;
  let after: string | undefined;
  for (;;) {
    const { entries, more } = await store.range({ prefix: resource.storePrefix, after, maxBytes: pageBytes });
    for (let at = 0; at < entries.length; at += parallelDeletes) {
      closing.throwIfAborted();
      const gone = await Promise.all(
        entries.slice(at, at + parallelDeletes).map((entry) => deleteOne(client, resource, entry)),
      );
      left += gone.filter((one) => !one).length;
    }
    if (!more) return left;
    after = entries.at(-1)!.key;
  }
}

/** Deletes an object. Returns true if it is gone. */
async function deleteOne(client: Client, resource: Resource, entry: Entry): Promise<boolean> {
  try {
    const { uid } = headerOf(entry);
    return await client.deleteOf(resource, namesOf(entry.key), { uid });
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return true;
    throw error;
  }
}
