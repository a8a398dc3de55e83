import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { turnGiver } from "../base/turns.ts";
import { comparePriority } from "../base/version-priority.ts";
import { CustomResourceDefinition } from "../kinds/apiextensions/custom-resource-definition.ts";
import { customKinds, type CustomKindServices } from "../kinds/custom/custom-kind.ts";
import type { Entry, Revision, Store, WriteCondition } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { Follower } from "./follower.ts";
import { KeptDefinition } from "./kept-definition.ts";
import {
  keyOf,
  namesOf,
  resourceOf,
  type ChangingResources,
  type Resource,
  type ServedGroupVersion,
} from "./registry.ts";

/** What custom resources are followed with. */
export interface CustomResourceSources {
  readonly store: Store;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Whether a resource is the server's own, so that a definition of it has no effect: see {@link Registry.reserves}. */
  readonly reserves: (group: string, resource: string) => boolean;
  /** With what custom kinds are made. */
  readonly kinds: CustomKindServices;
  /** Called when definitions can't be loaded; that is tried again. */
  readonly failed: (error: unknown) => void;
}

/** The resource types of one definition. */
interface Defined {
  /** What it was read from: see {@link basisOf}. */
  readonly basis: string;
  /** Of the definition as it was read. */
  readonly revision: Revision;
  /** In the version in which the objects are stored; undefined before the definition is established. */
  readonly stored: Resource | undefined;
  /** By the names of their versions, in the order of discovery. */
  readonly served: ReadonlyMap<string, Resource>;
}

/**
 * The resource types of custom kinds, by what CustomResourceDefinitions say (spec: conventions 9.3): it follows them, and reads
 * each when something of its group is first asked for, since most kinds of most servers never are.
 */
export class CustomResources implements ChangingResources {
  revision = 0;
  private readonly definitions: Resource;
  private readonly follower: Follower;
  /** Definitions by group and name: what was read of them, or still is to be read. */
  private readonly groups = new Map<string, Map<string, Defined | KeptDefinition>>();
  /** The newest revisions of the definitions, by their names. */
  private readonly revisions = new Map<string, Revision>();
  /** How many are still to be read. */
  private unread = 0;
  private reading: Promise<void> | undefined;
  private whole: { readonly revision: number; readonly versions: readonly ServedGroupVersion[] } | undefined;

  constructor(private readonly sources: CustomResourceSources) {
    const { store, vocabulary, clock, failed } = sources;
    this.definitions = resourceOf(CustomResourceDefinition, vocabulary);
    const handler = {
      put: (entry: Entry) => this.put(entry),
      remove: (key: string) => this.remove(key),
      failed,
    };
    this.follower = new Follower(store, this.definitions.storePrefix, handler, clock);
  }

  /** Loads the definitions. */
  start(): Promise<void> {
    return this.follower.start();
  }

  close(): void {
    this.follower.close();
  }

  sync(): MaybePromise<void> {
    return this.follower.sync();
  }

  knows(group: string): boolean {
    return this.groups.has(group);
  }

  find(group: string, version: string, name: string): Resource | undefined {
    const definitions = this.groups.get(group);
    const definition = `${name}.${group}`;
    return definitions?.has(definition) === true
      ? this.defined(definitions, definition).served.get(version)
      : undefined;
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    const definitions = this.groups.get(group);
    if (definitions === undefined) return undefined;
    for (const name of definitions.keys()) {
      const resource = this.defined(definitions, name).served.get(version);
      if (resource?.kind.name === kind) return resource;
    }
    return undefined;
  }

  versionsOf(group: string, name: string): readonly Resource[] {
    const definitions = this.groups.get(group);
    const definition = `${name}.${group}`;
    if (definitions?.has(definition) !== true) return [];
    return [...this.defined(definitions, definition).served.values()];
  }

  definitionCondition(group: string, name: string): WriteCondition | undefined {
    const definition = `${name}.${group}`;
    const revision = this.revisions.get(definition);
    return revision && { key: keyOf(this.definitions, "", definition), revision };
  }

  readAll(): MaybePromise<void> {
    if (this.unread === 0) return undefined;
    this.reading ??= this.readInTurns().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readInTurns(): Promise<void> {
    const giveTurn = turnGiver();
    for (const definitions of this.groups.values()) {
      for (const name of definitions.keys()) {
        this.defined(definitions, name);
        await giveTurn();
      }
    }
  }

  revisionOf(group: string): string {
    const definitions = this.groups.get(group) ?? new Map<string, Defined | KeptDefinition>();
    return [...definitions]
      .map(([name, { revision }]) => `${name}@${revision}`)
      .toSorted()
      .join();
  }

  get groupVersions(): readonly ServedGroupVersion[] {
    const { revision } = this;
    if (this.whole?.revision !== revision) this.whole = { revision, versions: this.collect() };
    return this.whole.versions;
  }

  get stored(): readonly Resource[] {
    return this.all().flatMap(({ stored }) => (stored === undefined ? [] : [stored]));
  }

  private collect(): ServedGroupVersion[] {
    const versions = new Map<string, { group: string; version: string; resources: Resource[] }>();
    for (const { served } of this.all()) {
      for (const resource of served.values()) {
        const { group, version, apiVersion } = resource;
        const one = versions.get(apiVersion);
        if (one === undefined) versions.set(apiVersion, { group, version, resources: [resource] });
        else one.resources.push(resource);
      }
    }
    return [...versions.values()].toSorted((a, b) =>
      a.group === b.group ? comparePriority(a.version, b.version) : a.group < b.group ? -1 : 1,
    );
  }

  private all(): Defined[] {
    return [...this.groups.values()].flatMap((definitions) =>
      [...definitions.keys()].map((name) => this.defined(definitions, name)),
    );
  }

  private defined(definitions: Map<string, Defined | KeptDefinition>, name: string): Defined {
    const found = definitions.get(name)!;
    if (!(found instanceof KeptDefinition)) return found;
    const defined = readDefinition(found, this.sources);
    this.setDefinition(definitions, name, defined);
    return defined;
  }

  private put(entry: Entry): void {
    const { name } = namesOf(entry.key);
    this.revisions.set(name, entry.revision);
    const group = groupOf(name);
    let definitions = this.groups.get(group);
    if (definitions === undefined) this.groups.set(group, (definitions = new Map()));
    const kept = new KeptDefinition(entry);
    const before = definitions.get(name);
    // Most writes of a definition that is in use change its status only, and nothing that is served.
    if (before !== undefined && !(before instanceof KeptDefinition) && before.basis === basisOf(kept.outline))
      return;
    this.setDefinition(definitions, name, kept);
    this.revision++;
  }

  private setDefinition(
    definitions: Map<string, Defined | KeptDefinition>,
    name: string,
    one: Defined | KeptDefinition | undefined,
  ): void {
    if (definitions.get(name) instanceof KeptDefinition) this.unread--;
    if (one instanceof KeptDefinition) this.unread++;
    if (one === undefined) definitions.delete(name);
    else definitions.set(name, one);
  }

  private remove(key: string): void {
    const { name } = namesOf(key);
    this.revisions.delete(name);
    const definitions = this.groups.get(groupOf(name));
    if (definitions !== undefined) this.setDefinition(definitions, name, undefined);
    if (definitions?.size === 0) this.groups.delete(groupOf(name));
    this.revision++;
  }
}

/** The group of a definition, whose name is `plural.group`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/**
 * The resource types of a stored definition. Before it is established nothing is served, nor is what is the server's own: its objects
 * would be stored in the same place as the built-in ones, and deleted with the definition.
 */
function readDefinition(
  kept: KeptDefinition,
  { vocabulary, kinds: services, reserves }: CustomResourceSources,
): Defined {
  const definition = kept.outline;
  const basis = basisOf(definition);
  const { revision } = kept;
  const { group, names } = definition.spec;
  if (!isEstablished(definition) || reserves(group, names.plural))
    return { basis, revision, stored: undefined, served: new Map() };
  const { stored, versions: kinds } = customKinds(
    { outline: definition, revision, schemas: kept.schemas },
    vocabulary,
    services,
  );
  const resources = new Map([...kinds].map(([version, kind]) => [version, resourceOf(kind, vocabulary)]));
  const served = (definition.spec.versions ?? [])
    .filter((version) => version.served)
    .toSorted((a, b) => comparePriority(a.name, b.name))
    .map(({ name }) => [name, resources.get(name)!] as const);
  return { basis, revision, stored: resourceOf(stored, vocabulary), served: new Map(served) };
}

/** What the resource types of a definition depend on; its schemas and names by its generation. */
function basisOf(definition: CustomResourceDefinition): string {
  const { uid, generation, deletionTimestamp } = definition.metadata;
  const { storedVersions } = definition.status ?? {};
  return JSON.stringify([uid, generation, deletionTimestamp, storedVersions, isEstablished(definition)]);
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
}
