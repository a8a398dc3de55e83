import type { Clock } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { comparePriority } from "../../base/version-priority.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { customKinds, type CustomKinds, type CustomKindServices } from "./custom-kind.ts";
import { DefinitionWatches } from "../conversion/definition-watches.ts";
import { DefinitionStorage } from "../conversion/definition-storage.ts";
import type { Kind } from "../../schema/kind.ts";
import type { Entry, Revision, Store, WriteCondition } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { compressedDefinition, CompressedDefinition } from "./compressed-definition.ts";
import {
  keyOf,
  namesOf,
  resourceOf,
  type ChangingResources,
  type Resource,
  type ServedGroupVersion,
} from "../../resources/registry/registry.ts";

/** Dependencies of {@link CustomResources}. */
export interface CustomResourceSources {
  readonly store: Store;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Whether a definition of the resource has no effect; see {@link Registry.reserves}. */
  readonly reserves: (group: string, resource: string) => boolean;
  readonly kinds: CustomKindServices;
  /** Called when definitions can't be loaded; loading is retried. */
  readonly failed: (error: unknown) => void;
}

/** The resource types of one definition. */
interface Defined {
  readonly watches: DefinitionWatches;
  /** See {@link statusBasisOf}. */
  readonly statusBasis: string;
  /** Revision of the definition. */
  readonly revision: Revision;
  /** In the storage version; undefined before the definition is established. */
  readonly stored: Resource | undefined;
  /** By version name, in the order of discovery. */
  readonly served: ReadonlyMap<string, Resource>;
}

/**
 * The resource types of custom kinds (spec: conventions 9.3). It follows the CustomResourceDefinitions and parses each when its group is
 * first requested, because most custom kinds of a server are never requested.
 */
export class CustomResources implements ChangingResources {
  revision = 0;
  private readonly definitions: Resource;
  private readonly follower: Follower;
  /** Definitions by group and name, parsed or not. */
  private readonly groups = new Map<string, Map<string, Defined | CompressedDefinition>>();
  /** The watches of the parsed definitions, by name. */
  private readonly watches = new Map<string, DefinitionWatches>();
  /** Latest revision of each definition, by name. */
  private readonly revisions = new Map<string, Revision>();
  /** Number of definitions that are not parsed. */
  private unparsed = 0;
  private parsing: Promise<void> | undefined;
  private cachedVersions:
    { readonly revision: number; readonly versions: readonly ServedGroupVersion[] } | undefined;

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
    if (this.unparsed === 0) return undefined;
    this.parsing ??= this.parseInTurns().finally(() => (this.parsing = undefined));
    return this.parsing;
  }

  private async parseInTurns(): Promise<void> {
    const yieldIfDue = createYielder();
    for (const definitions of this.groups.values()) {
      for (const name of definitions.keys()) {
        this.defined(definitions, name);
        await yieldIfDue();
      }
    }
  }

  revisionOf(group: string): string {
    const definitions = this.groups.get(group) ?? new Map<string, Defined | CompressedDefinition>();
    return [...definitions]
      .map(([name, { revision }]) => `${name}@${revision}`)
      .toSorted()
      .join();
  }

  get groupVersions(): readonly ServedGroupVersion[] {
    const { revision } = this;
    if (this.cachedVersions?.revision !== revision)
      this.cachedVersions = { revision, versions: this.collect() };
    return this.cachedVersions.versions;
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

  private defined(definitions: Map<string, Defined | CompressedDefinition>, name: string): Defined {
    const definition = definitions.get(name)!;
    if (!(definition instanceof CompressedDefinition)) return definition;
    const defined = parseDefinition(definition, this.sources, this.watches.get(name));
    this.watches.set(name, defined.watches);
    this.setDefinition(definitions, name, defined);
    return defined;
  }

  private put(entry: Entry): void {
    const { name } = namesOf(entry.key);
    this.revisions.set(name, entry.revision);
    const group = groupOf(name);
    let definitions = this.groups.get(group);
    if (definitions === undefined) this.groups.set(group, (definitions = new Map()));
    const compressed = compressedDefinition(entry);
    const before = definitions.get(name);
    const watches = this.watches.get(name);
    const isSame = watches === undefined || watches.basis === basisOf(compressed.outline, compressed);
    // Most writes of a definition change only its status, which doesn't affect the resource types.
    if (
      isSame &&
      before !== undefined &&
      !(before instanceof CompressedDefinition) &&
      before.statusBasis === statusBasisOf(compressed.outline)
    )
      return;
    this.setDefinition(definitions, name, compressed);
    this.revision++;
    if (!isSame) this.endWatches(name);
  }

  private setDefinition(
    definitions: Map<string, Defined | CompressedDefinition>,
    name: string,
    one: Defined | CompressedDefinition | undefined,
  ): void {
    if (definitions.get(name) instanceof CompressedDefinition) this.unparsed--;
    if (one instanceof CompressedDefinition) this.unparsed++;
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
    this.endWatches(name);
  }

  /** Ends the watches that show objects as the replaced definition reads them. */
  private endWatches(name: string): void {
    const watches = this.watches.get(name);
    this.watches.delete(name);
    watches?.end(this.sources.failed);
  }
}

/** The group of a definition, whose name is `plural.group`. */
function groupOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/**
 * Creates the resource types of a stored definition. There are none before it is established, and none under a reserved name: the objects
 * would have the store prefix of the built-in ones and be deleted with the definition.
 */
function parseDefinition(
  compressed: CompressedDefinition,
  { vocabulary, kinds: services, reserves }: CustomResourceSources,
  openWatches: DefinitionWatches | undefined,
): Defined {
  const definition = compressed.outline;
  const watches = openWatches ?? new DefinitionWatches(basisOf(definition, compressed));
  const statusBasis = statusBasisOf(definition);
  const { revision } = compressed;
  const { group, names } = definition.spec;
  if (!isEstablished(definition) || reserves(group, names.plural))
    return { watches, statusBasis, revision, stored: undefined, served: new Map() };
  const source = { outline: definition, revision, schemas: compressed.schemasOf(definition) };
  const kinds = customKinds(source, vocabulary, services);
  const resources = resourcesOf(kinds, revision, watches, vocabulary);
  const served = (definition.spec.versions ?? [])
    .filter((version) => version.served)
    .toSorted((a, b) => comparePriority(a.name, b.name))
    .map(({ name }) => [name, resources.of(kinds.versions.get(name)!)] as const);
  return { watches, statusBasis, revision, stored: resources.stored, served: new Map(served) };
}

/** The resource types of a definition's kinds; they share the one of the storage version. */
function resourcesOf(
  { stored: storedKind, converter }: CustomKinds,
  since: Revision,
  watches: DefinitionWatches,
  vocabulary: Vocabulary,
): { readonly stored: Resource; readonly of: (kind: Kind) => Resource } {
  const plain = resourceOf(storedKind, vocabulary);
  const storage = new DefinitionStorage(plain, since, watches, converter);
  const stored: Resource = Object.assign(plain, { storage: storage.inVersion(plain) });
  return {
    stored,
    of(kind) {
      if (kind === storedKind) return stored;
      const resource = resourceOf(kind, vocabulary);
      Object.assign(resource, { storage: storage.inVersion(resource) });
      return kind.conversion === undefined ? resource : { ...resource, stored };
    },
  };
}

/**
 * A text that changes with everything on which the reading of objects depends. The generation doesn't suffice: after an older state was
 * restored, another spec may have the same one.
 */
function basisOf(outline: CustomResourceDefinition, { schemaDigests }: CompressedDefinition): string {
  return JSON.stringify([outline.metadata.uid, isEstablished(outline), outline.spec, schemaDigests]);
}

/** A text that changes with everything else on which the resource types depend. */
function statusBasisOf({ metadata, status }: CustomResourceDefinition): string {
  return JSON.stringify([metadata.deletionTimestamp, status?.storedVersions]);
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
}
