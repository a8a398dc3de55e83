import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { WorkQueue, type QueueObserver } from "../work-queue.ts";
import { defaultLevels, defaultSchemas, type DefaultObject } from "../../flow/default-objects.ts";
import type { FlowControl } from "../../flow/flow-control.ts";
import type { FlowSchemaObject, PriorityLevelObject } from "../../flow/objects.ts";
import { FlowSchema, FlowSchemaV1 } from "../../kinds/flowcontrol/flow-schema.ts";
import {
  PriorityLevelConfiguration,
  PriorityLevelConfigurationV1,
} from "../../kinds/flowcontrol/priority-level-configuration.ts";
import type { Client, NewObject } from "../../resources/clients/client.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { EntryValues, Follower } from "../../resources/followers/follower.ts";
import { namesOf, resourceOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { danglingUpdate, changeFor, writeChange, type Change, type StoredObject } from "./default-upkeep.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

interface Setup {
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly store: Store;
  readonly client: Client;
  /**
   * Undefined if priority and fairness is turned off. Then default objects are still maintained, but not the condition
   * `Dangling`.
   */
  readonly control: FlowControl | undefined;
  /** Returns the observer of a queue, by the name of the reference's queue. */
  queueObserver?(name: string): QueueObserver;
}

/** The stored objects of entries, in the version that {@link FlowConfiguration} uses. */
const storedEntries = new EntryValues<StoredObject>();

/** A kind of the group, in the version that this class writes. */
type FlowKind =
  | typeof FlowSchema
  | typeof FlowSchemaV1
  | typeof PriorityLevelConfiguration
  | typeof PriorityLevelConfigurationV1;

type AnyDefault = DefaultObject<FlowSchemaObject> | DefaultObject<PriorityLevelObject>;

/** FlowSchema and PriorityLevelConfiguration in the versions that a release may serve, in order of preference. */
const flowKinds: readonly (readonly [FlowKind, FlowKind])[] = [
  [FlowSchema, PriorityLevelConfiguration],
  [FlowSchemaV1, PriorityLevelConfigurationV1],
];

/**
 * The stored flow schemas and priority levels: follows them, updates the default ones, and records in each schema
 * whether its level is missing.
 */
export class FlowConfiguration {
  private readonly schemas = new Map<string, StoredObject>();
  private readonly levels = new Map<string, StoredObject>();
  private readonly annotation: string;
  private readonly defaultSchemas: readonly DefaultObject<FlowSchemaObject>[];
  private readonly defaultLevels: readonly DefaultObject<PriorityLevelObject>[];
  private follower: Follower | undefined;
  /** Undefined until default objects are maintained. */
  private queue: WorkQueue | undefined;
  private readonly prefix: string;
  private readonly schemaKind: FlowKind;
  private readonly levelKind: FlowKind;
  /** False while the stored objects are being loaded; the configuration is applied once afterwards. */
  private loaded = false;

  constructor(private readonly setup: Setup) {
    const { vocabulary, registry } = setup;
    const served = flowKinds.find((pair) => pair.every((kind) => registry.serves(kind)));
    [this.schemaKind, this.levelKind] = served ?? flowKinds[0]!;
    this.annotation = labelKey(vocabulary.domain, "autoupdate-spec", "apf");
    this.defaultSchemas = defaultSchemas(vocabulary, registry.release);
    this.defaultLevels = defaultLevels(registry.release);
    this.prefix = `/${groupName(FlowSchema.group, vocabulary)}/`;
  }

  /** Resolves when the stored objects, and the default objects that are missing, are applied. */
  async follow(): Promise<void> {
    const { store, clock, log } = this.setup;
    const failed = (error: unknown) =>
      log.error({ error: stackOf(error) }, "following flow schemas and priority levels failed");
    const handler = {
      put: (entry: Entry, _created: boolean, lasting: boolean) => this.changed(entry.key, entry, lasting),
      remove: (key: string) => this.changed(key, undefined),
      failed,
    };
    this.follower = new Follower(store, this.prefix, handler, clock);
    await this.follower.start();
    this.loaded = true;
    this.configure();
  }

  /**
   * Stores the default objects and maintains them from then on; may be called again after a failure. If the kinds
   * aren't served nothing is written; the stored and the default objects are still applied.
   *
   * @param client writes the default objects now; later changes are written by the client of the set-up.
   * @param upToDate whether the default objects are stored already.
   */
  async ensureDefaults(client: Client, upToDate = false): Promise<void> {
    const { clock, log, registry } = this.setup;
    if (this.queue !== undefined) return;
    if (!registry.serves(this.schemaKind) || !registry.serves(this.levelKind)) return;
    if (!upToDate) {
      const defaults = [...this.defaultLevels, ...this.defaultSchemas];
      await Promise.all(defaults.map((one) => this.maintain(one, client)));
      await Promise.all(this.obsolete().map((one) => this.remove(one, client)));
      await Promise.all([...this.schemas.keys()].map((name) => this.updateDangling(name, client)));
    }
    this.queue = new WorkQueue(
      clock,
      (key) => this.work(key),
      (key, error) =>
        log.warn({ key, error: String(error) }, "upkeep of flow control failed and will be tried again"),
      this.setup.queueObserver?.("priority_and_fairness_config_queue"),
    );
    // From now on missing suggested objects aren't applied.
    this.configure();
    if (upToDate) return;
    // An object that another server changed at the same time may still differ; it is checked again.
    for (const one of [...this.defaultLevels, ...this.defaultSchemas]) {
      if (this.changeOf(one) !== undefined) this.queue.add(keyOf(one));
    }
    for (const name of this.schemas.keys()) {
      if (this.danglingChangeOf(name) !== undefined) this.queue.add(`schema/${name}`);
    }
  }

  async close(): Promise<void> {
    this.follower?.close();
    await this.queue?.close();
  }

  /** Called when an object was stored or deleted. */
  private changed(key: string, entry: Entry | undefined, lasting = false): void {
    const { name } = namesOf(key);
    const ofLevels = key.startsWith(`${this.prefix}${PriorityLevelConfiguration.resource}/`);
    const storedObjects = ofLevels ? this.levels : this.schemas;
    if (entry === undefined) storedObjects.delete(name);
    else {
      const kind = ofLevels ? this.levelKind : this.schemaKind;
      storedObjects.set(
        name,
        storedEntries.of(entry, lasting, () => this.read(kind, entry)),
      );
    }
    if (this.loaded) this.configure();
    this.queue?.add(`${ofLevels ? "level" : "schema"}/${name}`);
  }

  /** Decodes an object and converts it to the version that this class uses, with the fields of the release. */
  private read(kind: FlowKind, entry: Entry): StoredObject {
    const { vocabulary, registry } = this.setup;
    const context = { vocabulary, enabled: () => true, release: registry.release, subresource: "" };
    const resource = registry.serves(kind) ? registry.require(kind) : resourceOf(kind, vocabulary);
    const object = fromStored(resource, decodeEntry(entry), context);
    return objectAs<StoredObject>(object);
  }

  private resource(kind: FlowKind): Resource {
    return this.setup.registry.require(kind);
  }

  /**
   * Applies the stored objects, and default objects that aren't stored: all of them until the default objects are written, afterwards only
   * the mandatory ones.
   */
  private configure(): void {
    const { control } = this.setup;
    if (control === undefined) return;
    // Suggested objects may have been deleted on purpose.
    const stored = this.queue !== undefined;
    control.configure({
      levels: merge(this.levels, this.defaultLevels, stored),
      schemas: merge(this.schemas, this.defaultSchemas, stored),
    });
  }

  private async work(key: string): Promise<void> {
    const [type, name] = key.split("/") as ["level" | "schema", string];
    const defaults: readonly AnyDefault[] = type === "level" ? this.defaultLevels : this.defaultSchemas;
    const one = defaults.find(({ object }) => object.metadata.name === name);
    if (one !== undefined) await this.maintain(one);
    if (type === "schema") return this.updateDangling(name);
    const concerned = [...this.schemas].filter(([, schema]) => levelOf(schema) === name);
    for (const [schema] of concerned) await this.updateDangling(schema);
  }

  /** The objects that an earlier release created and maintained, and this one doesn't have. */
  private obsolete(): readonly StoredObject[] {
    const names = new Set([...this.defaultLevels, ...this.defaultSchemas].map(keyOf));
    const isObsolete = (key: string, { metadata }: StoredObject) =>
      metadata.annotations?.[this.annotation] === "true" && !names.has(key);
    const of = (type: "level" | "schema", objects: ReadonlyMap<string, StoredObject>) =>
      [...objects].flatMap(([name, one]) => (isObsolete(`${type}/${name}`, one) ? [one] : []));
    return [...of("schema", this.schemas), ...of("level", this.levels)];
  }

  private async remove({ apiVersion, kind, metadata }: StoredObject, client: Client): Promise<void> {
    const { name, uid = "", resourceVersion } = metadata;
    const only = { uid, resourceVersion: String(resourceVersion) };
    await unlessRaced(() => client.delete({ apiVersion, kind, name }, only));
  }

  /** Updates a default object if it differs from the desired state. */
  private async maintain(one: AnyDefault, client = this.setup.client): Promise<void> {
    const change = this.changeOf(one);
    if (change !== undefined) await unlessRaced(() => writeChange(client, change));
  }

  private changeOf(one: AnyDefault): Change | undefined {
    const storedObjects = isSchema(one) ? this.schemas : this.levels;
    const { apiVersion, kind } = this.resource(isSchema(one) ? this.schemaKind : this.levelKind);
    const type = { apiVersion, kind: kind.name };
    return changeFor(one, storedObjects.get(one.object.metadata.name), type, this.annotation);
  }

  private async updateDangling(name: string, client = this.setup.client): Promise<void> {
    const update = this.danglingChangeOf(name);
    if (update !== undefined) await unlessRaced(() => client.update(update, "status"));
  }

  private danglingChangeOf(name: string): NewObject | undefined {
    const schema = this.schemas.get(name);
    if (schema === undefined || this.setup.control === undefined) return undefined;
    const level = levelOf(schema);
    return danglingUpdate(schema, level, this.levels.has(level), new Timestamps(this.setup.clock).now());
  }
}

function isSchema({ object }: AnyDefault): boolean {
  return "matchingPrecedence" in object.spec;
}

/** Returns the queue key of a default object. */
function keyOf(one: AnyDefault): string {
  return `${isSchema(one) ? "schema" : "level"}/${one.object.metadata.name}`;
}

function levelOf({ spec }: StoredObject): string {
  return (spec as FlowSchemaObject["spec"]).priorityLevelConfiguration.name;
}

function merge<O extends { readonly metadata: { readonly name: string } }>(
  storedObjects: ReadonlyMap<string, StoredObject>,
  defaults: readonly DefaultObject<O>[],
  mandatoryOnly: boolean,
): O[] {
  const missing = defaults.filter(
    ({ object, mandatory }) => !storedObjects.has(object.metadata.name) && (mandatory || !mandatoryOnly),
  );
  return [...objectAs<O[]>([...storedObjects.values()]), ...missing.map(({ object }) => object)];
}
