import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { cleanupFinalizer } from "../../kinds/apiextensions/deletion.ts";
import type { NewObject } from "../../resources/client.ts";
import { outlineOf } from "../../resources/definition-outline.ts";
import { Follower } from "../../resources/follower.ts";
import { unlessRaced } from "../../resources/races.ts";
import { namesOf, resourceOf } from "../../resources/registry.ts";
import { asBuffer, decodeEntry } from "../../resources/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue, type QueueObserver } from "../work-queue.ts";
import { statusOf } from "./conditions.ts";
import { deleteInstances } from "./instances.ts";
import { TakenNames } from "./taken-names.ts";

type Dependencies = QueueDependencies & Pick<ControllerContext, "client" | "registry" | "store">;
type Status = NonNullable<CustomResourceDefinition["status"]>;

/** Finalizers of objects that hold a definition are looked at again after this time. */
const heldMs = 1000;

/**
 * Accepts the names of definitions, has their kinds served, and deletes their objects with them (spec: conventions 3.1). A
 * part of the server itself: without it no definition would come into force.
 */
export const customResourceDefinitions: Controller<Dependencies> = {
  name: "customresourcedefinition",
  // What it writes is the same whoever writes it, and a definition is served soonest where it was created.
  onEveryServer: true,
  start(context) {
    const failed = (key: string, error: unknown) => context.failed(this.name, key, error);
    const keeper = new DefinitionKeeper(context, failed, context.queueObserver?.(this.name));
    return { failing: () => keeper.failing, close: () => keeper.close() };
  },
};

class DefinitionKeeper {
  /** By group. */
  private readonly taken = new Map<string, TakenNames>();
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
    let taken = this.taken.get(group);
    if (taken === undefined) this.taken.set(group, (taken = new TakenNames()));
    const outline = outlineOf(asBuffer(entry.body));
    taken.set(name, outline.status?.acceptedNames);
    // Of thousands of definitions that a server starts with, nearly all are as they should be.
    const isSettled = outline.metadata.deletionTimestamp === undefined && !this.wantedStatus(outline, taken);
    if (!isSettled) this.queue.add(name);
  }

  /** The status that a definition should have; undefined where it has it. */
  private wantedStatus(outline: CustomResourceDefinition, taken: TakenNames): Status | undefined {
    const { registry, clock } = this.context;
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const status = statusOf(outline, taken.butOf(outline.metadata.name!), registry.vocabulary, now);
    const isSame = deepEqual(status as unknown as JsonValue, outline.status as unknown as JsonValue);
    return isSame ? undefined : status;
  }

  /** A name that was given up may be what another definition waits for. */
  private remove(name: string): void {
    const taken = this.taken.get(groupOf(name));
    taken?.delete(name);
    if (taken === undefined || taken.size === 0) this.taken.delete(groupOf(name));
    else for (const other of taken.definitions()) this.queue.add(other);
  }

  private async work(name: string, closing: AbortSignal): Promise<void> {
    const { client, registry, store } = this.context;
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const entry = await store.get(`${storePrefix}/${name}`);
    const taken = this.taken.get(groupOf(name));
    if (entry === undefined || taken === undefined) return;
    const outline = outlineOf(asBuffer(entry.body));
    if (outline.metadata.deletionTimestamp !== undefined) return this.finish(decoded(entry), closing);
    const status = this.wantedStatus(outline, taken);
    if (status === undefined) return;
    // What is written is known before the follower tells of it: the next definition may ask for the same names.
    taken.set(name, status.acceptedNames);
    await unlessRaced(() => client.update({ ...decoded(entry), status } as unknown as NewObject, "status"));
  }

  /** Deletes the objects of a definition that is on its way out; lets it go when none is left. */
  private async finish(definition: CustomResourceDefinition, closing: AbortSignal): Promise<void> {
    const { client, registry } = this.context;
    const { vocabulary } = registry;
    const finalizer = definition.metadata.finalizers?.find((one) => one === cleanupFinalizer(vocabulary));
    if (finalizer === undefined) return;
    await registry.sync();
    const { group, names } = definition.spec;
    // What is the server's own under the same names isn't the definition's, and is never deleted with it.
    const stored = registry.reserves(group, names.plural)
      ? undefined
      : registry.stored().find((one) => one.group === group && one.kind.resource === names.plural);
    // Of a kind that was never served there are no objects.
    const left = stored === undefined ? 0 : await deleteInstances(this.context, stored, closing);
    if (left > 0) return this.queue.addLater(definition.metadata.name!, heldMs);
    const finalizers = definition.metadata.finalizers!.filter((one) => one !== finalizer);
    const metadata = { ...definition.metadata, finalizers };
    await unlessRaced(() => client.update({ ...definition, metadata } as unknown as NewObject));
  }
}

function decoded(entry: Entry): CustomResourceDefinition {
  return decodeEntry(entry) as unknown as CustomResourceDefinition;
}

/** The group of a definition, whose name is `plural.group`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}
