import { automanagedLabel, type ApiServiceRecord, type ApiServices } from "../../aggregation/api-services.ts";
import {
  builtInPriority,
  customPriority,
  isRegistration,
  type Priority,
} from "../../aggregation/priorities.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import type { NewObject } from "../../resources/clients/client.ts";
import { definitionOutline } from "../../custom-resources/definitions/compressed-definition.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { namesOf, resourceOf } from "../../resources/registry/registry.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

/** Dependencies of {@link apiServiceRegistration}. */
export interface RegistrationDependencies
  extends QueueDependencies, Pick<ControllerContext, "client" | "registry" | "store"> {
  readonly apiServices: ApiServices;
}

/** Values of the label: the APIService is updated only at the start, or as long as the server runs. */
const onStart = "onstart";
const always = "true";

/**
 * Maintains an APIService for each group version that the server serves itself, with the priorities of the reference.
 * Those of built-in kinds are updated at the start, those of custom kinds follow their definitions. An APIService
 * without the label, created by an operator, isn't changed.
 */
export const apiServiceRegistration: Controller<RegistrationDependencies> = {
  name: "apiservice-registration",
  // Every server writes the same.
  onEveryServer: true,
  start(context) {
    if (!context.registry.serves(APIService)) return { close: () => Promise.resolve() };
    const registration = new Registration(context, this.name);
    return { failing: () => registration.failing, close: () => registration.close() };
  },
};

/** The desired content of an APIService. */
interface Desired {
  readonly group: string;
  readonly version: string;
  readonly priority: Priority;
  readonly label: typeof onStart | typeof always;
}

class Registration {
  /** Names of the group versions that each definition serves. */
  private readonly byDefinition = new Map<string, readonly string[]>();
  /** Number of definitions that serve each group version, by name. */
  private readonly custom = new Map<
    string,
    { readonly group: string; readonly version: string; definitions: number }
  >();
  private readonly builtIn: ReadonlyMap<string, Desired>;
  /** Names that must be processed once because the server has started. */
  private readonly atStart: Set<string>;
  private readonly queue: WorkQueue;
  private readonly listener = (name: string) => this.queue.add(name);
  private readonly follower: Follower;
  private started = false;
  private closed = false;

  constructor(
    private readonly context: RegistrationDependencies,
    controller: string,
  ) {
    const { clock, store, registry, apiServices } = context;
    const failed = (key: string, error: unknown) => context.failed(controller, key, error);
    this.queue = new WorkQueue(clock, (name) => this.work(name), failed, context.queueObserver?.(controller));
    this.builtIn = this.builtInVersions();
    const existing = [...apiServices.list()];
    this.atStart = new Set([...this.builtIn.keys(), ...existing.map(({ name }) => name)]);
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const handler = {
      put: (entry: Entry) => this.defined(namesOf(entry.key).name, versionsIn(entry)),
      remove: (key: string) => this.defined(namesOf(key).name, []),
      // Until the definitions are loaded, APIServices of custom kinds must not be deleted as obsolete.
      reloaded: () => this.begin(),
      failed: (error: unknown) => failed("", error),
    };
    this.follower = new Follower(store, storePrefix, handler, clock);
    if (registry.serves(CustomResourceDefinition)) this.follower.startInBackground();
    else this.begin();
  }

  get failing(): boolean {
    return this.follower.failing;
  }

  close(): Promise<void> {
    this.closed = true;
    this.follower.close();
    this.context.apiServices.unlisten(this.listener);
    return this.queue.close();
  }

  /** Called when all stored definitions are loaded; may be called again. */
  private begin(): void {
    if (this.started || this.closed) return;
    this.started = true;
    // Concurrently, so that the writes share a sync. Failures are retried by the queue.
    for (const name of this.atStart) this.work(name).catch(() => this.queue.add(name));
    this.context.apiServices.listen(this.listener);
  }

  private builtInVersions(): ReadonlyMap<string, Desired> {
    const { registry } = this.context;
    const { vocabulary } = registry;
    const own = registry.builtInVersions.filter(({ group }) => !isRegistration(group, vocabulary));
    return new Map(
      own.map(({ group, version }) => {
        const priority = builtInPriority(group, version, vocabulary);
        return [`${version}.${group}`, { group, version, priority, label: onStart }];
      }),
    );
  }

  /** Sets the names of the group versions that a definition serves. */
  private defined(definition: string, names: readonly string[]): void {
    const before = this.byDefinition.get(definition) ?? [];
    for (const name of names) this.count(name, 1);
    for (const name of before) this.count(name, -1);
    if (names.length === 0) this.byDefinition.delete(definition);
    else this.byDefinition.set(definition, names);
  }

  private count(name: string, change: number): void {
    const dot = name.indexOf(".");
    const existing = this.custom.get(name) ?? {
      version: name.slice(0, dot),
      group: name.slice(dot + 1),
      definitions: 0,
    };
    existing.definitions += change;
    if (existing.definitions === 0) this.custom.delete(name);
    else this.custom.set(name, existing);
    this.queue.add(name);
  }

  private desired(name: string): Desired | undefined {
    const custom = this.custom.get(name);
    if (custom === undefined) return this.builtIn.get(name);
    return { ...custom, priority: customPriority, label: always };
  }

  private async work(name: string): Promise<void> {
    const isStart = this.atStart.has(name);
    const desired = this.desired(name);
    const live = this.context.apiServices.get(name);
    if (live === undefined) {
      if (desired !== undefined && (isStart || desired.label === always)) await this.create(name, desired);
    } else if (live.automanaged === always || (live.automanaged === onStart && isStart)) {
      if (desired === undefined) await this.remove(name);
      else if (!isUpToDate(live, desired)) await this.update(name, desired);
    }
    // Only after success: a failed name is retried as part of the start.
    this.atStart.delete(name);
  }

  private async create(name: string, desired: Desired): Promise<void> {
    await unlessRaced(() => this.context.client.add(this.manifest(name, desired)));
  }

  private async update(name: string, desired: Desired): Promise<void> {
    const { client } = this.context;
    const live = await client.find(this.reference(name));
    if (live === undefined) return;
    const { metadata, spec } = this.manifest(name, desired);
    const labels = { ...live.metadata.labels, ...(metadata["labels"] as object) };
    const updated = { ...live, metadata: { ...live.metadata, labels }, spec };
    await unlessRaced(() => client.update(updated));
  }

  private async remove(name: string): Promise<void> {
    await unlessRaced(() => this.context.client.delete(this.reference(name)));
  }

  private reference(name: string): { apiVersion: string; kind: string; name: string } {
    const { apiVersion, kind } = resourceOf(APIService, this.context.registry.vocabulary);
    return { apiVersion, kind: kind.name, name };
  }

  private manifest(name: string, { group, version, priority, label }: Desired): NewObject {
    const { vocabulary } = this.context.registry;
    const { apiVersion, kind } = this.reference(name);
    const spec = {
      ...(group === "" ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    };
    return { apiVersion, kind, metadata: { name, labels: { [automanagedLabel(vocabulary)]: label } }, spec };
  }
}

function isUpToDate(live: ApiServiceRecord, { priority, label }: Desired): boolean {
  return (
    live.remote === undefined &&
    live.automanaged === label &&
    live.priority.group === priority.group &&
    live.priority.version === priority.version
  );
}

/** Returns the names of the group versions that a stored definition serves. */
function versionsIn(entry: Entry): string[] {
  const { spec } = definitionOutline(entry);
  const served = (spec.versions ?? []).filter((one) => one.served);
  return served.map((one) => `${one.name}.${spec.group}`);
}
