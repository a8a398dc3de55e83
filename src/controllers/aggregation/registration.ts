import { automanagedLabel, type ApiServiceRecord, type ApiServices } from "../../aggregation/api-services.ts";
import {
  builtInPriority,
  customPriority,
  isRegistration,
  type Priority,
} from "../../aggregation/priorities.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import type { NewObject } from "../../resources/client.ts";
import { outlineOf } from "../../resources/definition-outline.ts";
import { Follower } from "../../resources/follower.ts";
import { unlessRaced } from "../../resources/races.ts";
import { namesOf, resourceOf } from "../../resources/registry.ts";
import { asBuffer } from "../../resources/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

/** Dependencies of {@link apiServiceRegistration}. */
export interface RegistrationDependencies
  extends QueueDependencies, Pick<ControllerContext, "client" | "registry" | "store"> {
  readonly apiServices: ApiServices;
}

/** Values of the label: the APIService is looked after at the start only, or as long as the server runs. */
const onStart = "onstart";
const always = "true";

/**
 * Keeps an APIService for each group version that the server serves itself, with the reference's priorities: those of built-in
 * kinds are brought up to date at the start, those of custom kinds come and go with their definitions. What an operator made
 * under such a name, which lacks the label, is left alone.
 */
export const apiServiceRegistration: Controller<RegistrationDependencies> = {
  name: "apiservice-registration",
  // What it writes is the same whoever writes it.
  onEveryServer: true,
  start(context) {
    if (!context.registry.serves(APIService)) return { close: () => Promise.resolve() };
    const registration = new Registration(context, this.name);
    return { failing: () => registration.failing, close: () => registration.close() };
  },
};

/** What of an APIService is kept up to date. */
interface Wanted {
  readonly group: string;
  readonly version: string;
  readonly priority: Priority;
  readonly label: typeof onStart | typeof always;
}

class Registration {
  /** Names of the group versions that each definition serves. */
  private readonly byDefinition = new Map<string, readonly string[]>();
  /** How many definitions serve each group version, by its name. */
  private readonly custom = new Map<
    string,
    { readonly group: string; readonly version: string; definitions: number }
  >();
  private readonly builtIn: ReadonlyMap<string, Wanted>;
  /** Names that still are to be looked at once because the server has started. */
  private readonly atStart: Set<string>;
  private readonly queue: WorkQueue;
  private readonly listener = (name: string) => this.queue.add(name);
  private readonly follower: Follower;
  private begun = false;
  private closed = false;

  constructor(
    private readonly context: RegistrationDependencies,
    controller: string,
  ) {
    const { clock, store, registry, apiServices } = context;
    const failed = (key: string, error: unknown) => context.failed(controller, key, error);
    this.queue = new WorkQueue(clock, (name) => this.work(name), failed, context.queueObserver?.(controller));
    this.builtIn = this.builtInVersions();
    const known = [...apiServices.list()];
    this.atStart = new Set([...this.builtIn.keys(), ...known.map(({ name }) => name)]);
    const { storePrefix } = resourceOf(CustomResourceDefinition, registry.vocabulary);
    const handler = {
      put: (entry: Entry) => this.defined(namesOf(entry.key).name, versionsIn(entry)),
      remove: (key: string) => this.defined(namesOf(key).name, []),
      // Before the definitions are known, what is there of custom kinds must not be taken for left over.
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

  /** Everything that is stored is known, perhaps once more. */
  private begin(): void {
    if (this.begun || this.closed) return;
    this.begun = true;
    // At the same time, so that what is written is synced as one; what fails has its turn in the queue.
    for (const name of this.atStart) this.work(name).catch(() => this.queue.add(name));
    this.context.apiServices.listen(this.listener);
  }

  private builtInVersions(): ReadonlyMap<string, Wanted> {
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

  /** A definition serves these group versions, by their names, from now on. */
  private defined(definition: string, names: readonly string[]): void {
    const before = this.byDefinition.get(definition) ?? [];
    for (const name of names) this.count(name, 1);
    for (const name of before) this.count(name, -1);
    if (names.length === 0) this.byDefinition.delete(definition);
    else this.byDefinition.set(definition, names);
  }

  private count(name: string, change: number): void {
    const dot = name.indexOf(".");
    const known = this.custom.get(name) ?? {
      version: name.slice(0, dot),
      group: name.slice(dot + 1),
      definitions: 0,
    };
    known.definitions += change;
    if (known.definitions === 0) this.custom.delete(name);
    else this.custom.set(name, known);
    this.queue.add(name);
  }

  private wanted(name: string): Wanted | undefined {
    const custom = this.custom.get(name);
    if (custom === undefined) return this.builtIn.get(name);
    return { ...custom, priority: customPriority, label: always };
  }

  private async work(name: string): Promise<void> {
    const isStart = this.atStart.has(name);
    const wanted = this.wanted(name);
    const live = this.context.apiServices.get(name);
    if (live === undefined) {
      if (wanted !== undefined && (isStart || wanted.label === always)) await this.create(name, wanted);
    } else if (live.automanaged === always || (live.automanaged === onStart && isStart)) {
      if (wanted === undefined) await this.remove(name);
      else if (!isAsWanted(live, wanted)) await this.update(name, wanted);
    }
    // Only now: what fails is tried again as a part of the start.
    this.atStart.delete(name);
  }

  private async create(name: string, wanted: Wanted): Promise<void> {
    await unlessRaced(() => this.context.client.add(this.manifest(name, wanted)));
  }

  private async update(name: string, wanted: Wanted): Promise<void> {
    const { client } = this.context;
    const live = await client.find(this.reference(name));
    if (live === undefined) return;
    const { metadata, spec } = this.manifest(name, wanted);
    const labels = { ...live.metadata.labels, ...(metadata["labels"] as object) };
    const updated = { ...live, metadata: { ...live.metadata, labels }, spec };
    await unlessRaced(() => client.update(updated as unknown as NewObject));
  }

  private async remove(name: string): Promise<void> {
    await unlessRaced(() => this.context.client.delete(this.reference(name)));
  }

  private reference(name: string): { apiVersion: string; kind: string; name: string } {
    const { apiVersion, kind } = resourceOf(APIService, this.context.registry.vocabulary);
    return { apiVersion, kind: kind.name, name };
  }

  private manifest(name: string, { group, version, priority, label }: Wanted): NewObject {
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

function isAsWanted(live: ApiServiceRecord, { priority, label }: Wanted): boolean {
  return (
    live.remote === undefined &&
    live.automanaged === label &&
    live.priority.group === priority.group &&
    live.priority.version === priority.version
  );
}

/** The names of the group versions that a stored definition serves. */
function versionsIn(entry: Entry): string[] {
  const { spec } = outlineOf(asBuffer(entry.body));
  const served = (spec.versions ?? []).filter((one) => one.served);
  return served.map((one) => `${one.name}.${spec.group}`);
}
