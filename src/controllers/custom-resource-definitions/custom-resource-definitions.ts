import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { cleanupFinalizer } from "../../kinds/apiextensions/deletion.ts";
import { customKinds } from "../../kinds/custom/custom-kind.ts";
import type { NewObject } from "../../resources/client.ts";
import { Follower } from "../../resources/follower.ts";
import { unlessRaced } from "../../resources/races.ts";
import { namesOf, resourceOf } from "../../resources/registry.ts";
import { decodeEntry } from "../../resources/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller, ControllerContext } from "../controller.ts";
import { WorkQueue, type QueueObserver } from "../work-queue.ts";
import { statusOf } from "./conditions.ts";
import { deleteInstances } from "./instances.ts";
import type { AcceptedNames } from "./naming.ts";

/** Finalizers of objects that hold a definition are looked at again after this time. */
const heldMs = 1000;

/**
 * Accepts the names of definitions, has their kinds served, and deletes their objects with them (spec: conventions 3.1). A
 * part of the server itself: without it no definition would come into force.
 */
export const customResourceDefinitions: Controller = {
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
  /** By group and name: what definitions have been given; undefined where that must be read first. */
  private readonly accepted = new Map<string, Map<string, AcceptedNames | undefined>>();
  private readonly queue: WorkQueue;
  private readonly follower: Follower;

  constructor(
    private readonly context: ControllerContext,
    failed: (key: string, error: unknown) => void,
    observer: QueueObserver | undefined,
  ) {
    const { clock, store, registry } = context;
    this.queue = new WorkQueue(clock, (name, closing) => this.work(name, closing), failed, observer);
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const handler = {
      put: (entry: Entry) => this.changed(namesOf(entry.key).name, true),
      remove: (key: string) => this.changed(namesOf(key).name, false),
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

  /** A name that was given up may be what another definition waits for. */
  private changed(name: string, exists: boolean): void {
    const group = groupOf(name);
    let names = this.accepted.get(group);
    if (names === undefined) this.accepted.set(group, (names = new Map()));
    if (exists) names.set(name, undefined);
    else names.delete(name);
    if (exists) this.queue.add(name);
    else for (const other of names.keys()) this.queue.add(other);
    if (names.size === 0) this.accepted.delete(group);
  }

  private async work(name: string, closing: AbortSignal): Promise<void> {
    const definition = await this.read(name);
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp !== undefined) return this.finish(definition, closing);
    const { client, registry, clock } = this.context;
    const others = await this.namesOfOthers(name);
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const status = statusOf(definition, others, registry.vocabulary, now);
    if (deepEqual(status as unknown as JsonValue, definition.status as unknown as JsonValue)) return;
    await unlessRaced(() => client.update({ ...definition, status } as unknown as NewObject, "status"));
  }

  private async read(name: string): Promise<CustomResourceDefinition | undefined> {
    const { store, registry } = this.context;
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const entry = await store.get(`${storePrefix}/${name}`);
    return entry === undefined ? undefined : (decodeEntry(entry) as unknown as CustomResourceDefinition);
  }

  private async namesOfOthers(name: string): Promise<AcceptedNames[]> {
    const names = this.accepted.get(groupOf(name)) ?? new Map<string, AcceptedNames | undefined>();
    const found: AcceptedNames[] = [];
    for (const other of names.keys()) {
      if (other === name) continue;
      const accepted = names.get(other) ?? (await this.read(other))?.status?.acceptedNames;
      if (accepted === undefined) continue;
      if (names.has(other)) names.set(other, accepted);
      found.push(accepted);
    }
    return found;
  }

  /** Deletes the objects of a definition that is on its way out; lets it go when none is left. */
  private async finish(definition: CustomResourceDefinition, closing: AbortSignal): Promise<void> {
    const { client, registry } = this.context;
    const { vocabulary } = registry;
    const finalizer = definition.metadata.finalizers?.find((one) => one === cleanupFinalizer(vocabulary));
    if (finalizer === undefined) return;
    const stored = resourceOf(customKinds(definition, vocabulary).stored, vocabulary);
    // The registry's also knows how objects of former versions are converted.
    const known = registry.stored().find(({ storePrefix }) => storePrefix === stored.storePrefix);
    const left = await deleteInstances(this.context, known ?? stored, closing);
    if (left > 0) return this.queue.addLater(definition.metadata.name!, heldMs);
    const finalizers = definition.metadata.finalizers!.filter((one) => one !== finalizer);
    const metadata = { ...definition.metadata, finalizers };
    await unlessRaced(() => client.update({ ...definition, metadata } as unknown as NewObject));
  }
}

/** The group of a definition, whose name is `plural.group`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}
