import { Timestamps } from "../../base/timestamps.ts";
import { WorkQueue, type QueueObserver } from "../work-queue.ts";
import { defaultLevels, defaultSchemas, type DefaultObject } from "../../flow/default-objects.ts";
import type { FlowControl } from "../../flow/flow-control.ts";
import type { FlowSchemaObject, PriorityLevelObject } from "../../flow/objects.ts";
import { FlowSchema } from "../../kinds/flowcontrol/flow-schema.ts";
import { PriorityLevelConfiguration } from "../../kinds/flowcontrol/priority-level-configuration.ts";
import type { Client, NewObject } from "../../resources/clients/client.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf, resourceOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { danglingUpdate, upkeepOf, writeChange, type Change, type StoredObject } from "./default-upkeep.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/clock.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

interface Setup {
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly store: Store;
  readonly client: Client;
  /**
   * Undefined where priority and fairness are turned off; the default objects are kept up nonetheless. A status isn't: nobody looks
   * for the level of a schema then.
   */
  readonly control: FlowControl | undefined;
  /** Told what happens in the queue; the reference's name of it is given. */
  queueObserver?(name: string): QueueObserver;
}

type AnyDefault = DefaultObject<FlowSchemaObject> | DefaultObject<PriorityLevelObject>;

/**
 * The stored flow schemas and priority levels: follows them live, brings the default ones to what they should be and says
 * at each schema whether its level is missing.
 */
export class FlowConfiguration {
  private readonly schemas = new Map<string, StoredObject>();
  private readonly levels = new Map<string, StoredObject>();
  private readonly annotation: string;
  private readonly defaultSchemas: readonly DefaultObject<FlowSchemaObject>[];
  private readonly defaultLevels = defaultLevels();
  private follower: Follower | undefined;
  /** Undefined where nothing is kept up. */
  private queue: WorkQueue | undefined;
  private readonly prefix: string;
  /** Until then what is stored is taken in, and counts as a whole afterwards. */
  private loaded = false;

  constructor(private readonly setup: Setup) {
    const { vocabulary } = setup;
    this.annotation = `apf.${vocabulary.domain}/autoupdate-spec`;
    this.defaultSchemas = defaultSchemas(vocabulary);
    this.prefix = `/${groupName(FlowSchema.group, vocabulary)}/`;
  }

  /** Resolves when everything that is stored counts; default objects that are missing do too. */
  async follow(): Promise<void> {
    const { store, clock, log } = this.setup;
    const failed = (error: unknown) =>
      log.error({ error: stackOf(error) }, "following flow schemas and priority levels failed");
    const handler = {
      put: (entry: Entry) => this.changed(entry.key, entry),
      remove: (key: string) => this.changed(key, undefined),
      failed,
    };
    this.follower = new Follower(store, this.prefix, handler, clock);
    await this.follower.start();
    this.loaded = true;
    this.configure();
  }

  /**
   * Stores the default objects and keeps them up from then on; may be called again after a failure. Where the objects aren't
   * served they aren't written either: those that are stored count, and the default ones.
   */
  async ensureDefaults(): Promise<void> {
    const { clock, log, registry } = this.setup;
    if (this.queue !== undefined) return;
    if (!registry.serves(FlowSchema) || !registry.serves(PriorityLevelConfiguration)) return;
    await Promise.all([...this.defaultLevels, ...this.defaultSchemas].map((one) => this.keep(one)));
    await Promise.all([...this.schemas.keys()].map((name) => this.updateDangling(name)));
    this.queue = new WorkQueue(
      clock,
      (key) => this.work(key),
      (key, error) =>
        log.warn({ key, error: String(error) }, "upkeep of flow control failed and will be tried again"),
      this.setup.queueObserver?.("priority_and_fairness_config_queue"),
    );
    // Suggested objects that are missing don't count any more.
    this.configure();
    // Something may not be as it should because another server wrote at the same time: it is looked at again.
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

  /** An object was stored or removed. */
  private changed(key: string, entry: Entry | undefined): void {
    const { name } = namesOf(key);
    const ofLevels = key.startsWith(`${this.prefix}${PriorityLevelConfiguration.resource}/`);
    const known = ofLevels ? this.levels : this.schemas;
    if (entry === undefined) known.delete(name);
    else known.set(name, this.read(ofLevels ? PriorityLevelConfiguration : FlowSchema, entry));
    if (this.loaded) this.configure();
    this.queue?.add(`${ofLevels ? "level" : "schema"}/${name}`);
  }

  /** What is stored, in the version in which it is worked with. */
  private read(kind: typeof FlowSchema | typeof PriorityLevelConfiguration, entry: Entry): StoredObject {
    const { vocabulary } = this.setup;
    const context = { vocabulary, enabled: () => true, subresource: "" };
    const object = fromStored(resourceOf(kind, vocabulary), decodeEntry(entry), context);
    return object as unknown as StoredObject;
  }

  private resource(kind: typeof FlowSchema | typeof PriorityLevelConfiguration): Resource {
    return this.setup.registry.require(kind);
  }

  /** Hands over what is stored; mandatory objects that are missing count nonetheless. */
  private configure(): void {
    const { control } = this.setup;
    if (control === undefined) return;
    // Suggested objects may be missing on purpose.
    const stored = this.queue !== undefined;
    control.configure({
      levels: together(this.levels, this.defaultLevels, stored),
      schemas: together(this.schemas, this.defaultSchemas, stored),
    });
  }

  private async work(key: string): Promise<void> {
    const [type, name] = key.split("/") as ["level" | "schema", string];
    const defaults: readonly AnyDefault[] = type === "level" ? this.defaultLevels : this.defaultSchemas;
    const one = defaults.find(({ object }) => object.metadata.name === name);
    if (one !== undefined) await this.keep(one);
    if (type === "schema") return this.updateDangling(name);
    const concerned = [...this.schemas].filter(([, schema]) => levelOf(schema) === name);
    for (const [schema] of concerned) await this.updateDangling(schema);
  }

  /** Brings a default object to what it should be. */
  private async keep(one: AnyDefault): Promise<void> {
    const change = this.changeOf(one);
    if (change !== undefined) await unlessRaced(() => writeChange(this.setup.client, change));
  }

  private changeOf(one: AnyDefault): Change | undefined {
    const known = isSchema(one) ? this.schemas : this.levels;
    const { apiVersion, kind } = this.resource(isSchema(one) ? FlowSchema : PriorityLevelConfiguration);
    const type = { apiVersion, kind: kind.name };
    return upkeepOf(one, known.get(one.object.metadata.name), type, this.annotation);
  }

  private async updateDangling(name: string): Promise<void> {
    const update = this.danglingChangeOf(name);
    if (update !== undefined) await unlessRaced(() => this.setup.client.update(update, "status"));
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

/** What the queue calls a default object. */
function keyOf(one: AnyDefault): string {
  return `${isSchema(one) ? "schema" : "level"}/${one.object.metadata.name}`;
}

function levelOf({ spec }: StoredObject): string {
  return (spec as FlowSchemaObject["spec"]).priorityLevelConfiguration.name;
}

function together<O extends { readonly metadata: { readonly name: string } }>(
  known: ReadonlyMap<string, StoredObject>,
  defaults: readonly DefaultObject<O>[],
  mandatoryOnly: boolean,
): O[] {
  const missing = defaults.filter(
    ({ object, mandatory }) => !known.has(object.metadata.name) && (mandatory || !mandatoryOnly),
  );
  return [...([...known.values()] as unknown as O[]), ...missing.map(({ object }) => object)];
}
