import { createHash, type Hash } from "node:crypto";
import type { ApiServices } from "../../../aggregation/api-services.ts";
import { renamed, type RemoteSpecification } from "../../../aggregation/specification.ts";
import { encodeJson } from "../../../base/json/encode.ts";
import { createYielder, type YieldIfDue } from "../../../base/turns/yielding.ts";
import type { Registry, Resource, ServedGroupVersion } from "../../../resources/registry/registry.ts";
import type { Definitions } from "../../../schema/openapi/definitions.ts";
import type { DocumentForm, DocumentMap } from "./document-forms.ts";
import type { DocumentMembers } from "./document-text.ts";
import { PackedMembers } from "./packed-members.ts";
import { ResourceDescriptions, type Description } from "./resource-descriptions.ts";

/** A document with its hash. */
export interface StreamedDocument {
  /** Changes with the document; known before the document is created. */
  readonly hash: string;
  /** The bytes in order, in pieces that are small enough to be sent in one turn. */
  pieces(): AsyncGenerator<Uint8Array>;
}

/** Descriptions of the built-in group versions, as texts. */
export interface BuiltInDescription {
  readonly paths: DocumentMembers;
  readonly definitions: DocumentMembers;
}

/** Sources of the document. */
export interface WholeDocumentSources {
  readonly registry: Registry;
  readonly apiServices: ApiServices;
  /** Returns the group versions that this server serves itself. */
  readonly own: () => readonly ServedGroupVersion[];
  readonly builtIn: (yieldIfDue: YieldIfDue) => Promise<BuiltInDescription>;
  /** Collects definitions that are referred to and aren't built in. */
  readonly definitions: (builtIn: BuiltInDescription) => Definitions;
  readonly head: object;
  /** Reports why a custom resource type was left out. */
  readonly failed: (error: unknown, resource: Resource) => void;
}

/** Creates a part of the document. */
type Part = () => Promise<Description>;

/**
 * The whole API in OpenAPI 2.0. It can be large, so it is sent while it is assembled from the compressed descriptions
 * of custom resource types: it is never in memory as a whole, and a changed definition requires only its own
 * description to be created again.
 */
export class WholeDocument {
  private packed: { readonly of: BuiltInDescription; readonly description: Promise<Description> } | undefined;
  private custom:
    { readonly of: BuiltInDescription; readonly descriptions: ResourceDescriptions } | undefined;
  private cachedHash: { readonly key: string; readonly hash: string } | undefined;
  private readonly remoteHashes = new WeakMap<RemoteSpecification, string>();
  private readonly builtInHashes = new WeakMap<BuiltInDescription, string>();

  constructor(
    private readonly form: DocumentForm,
    private readonly sources: WholeDocumentSources,
  ) {}

  async document(): Promise<StreamedDocument> {
    const yieldIfDue = createYielder();
    const builtIn = await this.sources.builtIn(yieldIfDue);
    return {
      hash: await this.hash(builtIn, yieldIfDue),
      pieces: () => this.pieces(builtIn),
    };
  }

  private async *pieces(builtIn: BuiltInDescription): AsyncGenerator<Uint8Array> {
    const yieldIfDue = createYielder();
    const parts = this.parts(builtIn, yieldIfDue);
    let joined: Uint8Array[] = [];
    let length = 0;
    for (const map of ["paths", "definitions"] as const) {
      for await (const bytes of this.map(map, parts, yieldIfDue)) {
        joined.push(bytes);
        length += bytes.length;
        if (length < pieceBytes) continue;
        yield Buffer.concat(joined);
        [joined, length] = [[], 0];
      }
    }
    yield Buffer.concat([...joined, this.form.end]);
  }

  private async *map(
    map: DocumentMap,
    parts: readonly Part[],
    yieldIfDue: YieldIfDue,
  ): AsyncGenerator<Uint8Array> {
    const { form, sources } = this;
    const repeated: ReadonlySet<string>[] = [];
    const seen = new Set<string>();
    let bytes = 0;
    for (const part of parts) {
      const members = (await part())[map];
      const before = new Set(members.names.filter((name) => seen.has(name)));
      for (const name of members.names) seen.add(name);
      bytes += members.bytesWithout(before);
      repeated.push(before);
      await yieldIfDue();
    }
    yield form.before(map, sources.head, bytes);
    let isFirst = form.name === "json";
    for (const [index, part] of parts.entries()) {
      const members = await (await part())[map].without(repeated[index]!);
      // The first member has no comma before it.
      const sent = isFirst ? members.subarray(1) : members;
      if (members.length > 0) isFirst = false;
      for (let at = 0; at < sent.length; at += pieceBytes) yield sent.subarray(at, at + pieceBytes);
      await yieldIfDue();
    }
  }

  /** Returns the parts in order. A name that occurs in one part is left out of later ones. */
  private parts(builtIn: BuiltInDescription, yieldIfDue: YieldIfDue): readonly Part[] {
    const { registry, apiServices, own } = this.sources;
    const descriptions = this.descriptions(builtIn);
    const custom = own()
      .filter(({ group }) => !registry.isBuiltIn(group))
      .flatMap(({ group, version, resources }) =>
        // In an order that doesn't depend on the creation of the definitions.
        resources.toSorted(byName).map(
          (resource): Part =>
            () =>
              descriptions.get(`/apis/${group}/${version}`, resource, this.form, yieldIfDue),
        ),
      );
    const specifications = specificationsOf(apiServices);
    const remote = specifications.map((one): Part => {
      let description: Promise<Description> | undefined;
      return () => (description ??= this.remote(one, builtIn, custom, yieldIfDue));
    });
    return [() => this.builtIn(builtIn, yieldIfDue), ...custom, ...remote];
  }

  private descriptions(builtIn: BuiltInDescription): ResourceDescriptions {
    if (this.custom?.of !== builtIn) {
      const { definitions, failed } = this.sources;
      this.custom = {
        of: builtIn,
        descriptions: new ResourceDescriptions(() => definitions(builtIn), failed),
      };
    }
    return this.custom.descriptions;
  }

  private builtIn(described: BuiltInDescription, yieldIfDue: YieldIfDue): Promise<Description> {
    if (this.packed?.of !== described) {
      const description = this.pack(described.paths.values(), described.definitions.values(), yieldIfDue);
      this.packed = { of: described, description };
    }
    return this.packed.description;
  }

  /** Returns the part of an extension server; its definitions are renamed if another part uses their names. */
  private async remote(
    specification: RemoteSpecification,
    builtIn: BuiltInDescription,
    custom: readonly Part[],
    yieldIfDue: YieldIfDue,
  ): Promise<Description> {
    const customNames = new Set<string>();
    for (const part of custom) for (const name of (await part()).definitions.names) customNames.add(name);
    const textOf = (name: string) =>
      builtIn.definitions.text(name) ?? (customNames.has(name) ? unlikeAny : undefined);
    const { paths, definitions } = renamed(specification, textOf);
    return this.pack(Object.entries(paths), Object.entries(definitions), yieldIfDue);
  }

  private async pack(paths: Values, definitions: Values, yieldIfDue: YieldIfDue): Promise<Description> {
    const packMembers = async (map: DocumentMap, values: Values): Promise<PackedMembers> => {
      const members: (readonly [string, Buffer])[] = [];
      for (const [name, value] of values) {
        members.push([name, this.form.member(map, name, value)]);
        await yieldIfDue();
      }
      return PackedMembers.of(members);
    };
    return {
      paths: await packMembers("paths", paths),
      definitions: await packMembers("definitions", definitions),
    };
  }

  /** Computes the hash of the sources: texts of built-in versions, revisions of definitions, documents of extension servers. */
  private async hash(builtIn: BuiltInDescription, yieldIfDue: YieldIfDue): Promise<string> {
    const { registry, apiServices, own, head } = this.sources;
    const key = `${registry.revision}/${apiServices.specificationRevision}`;
    if (this.cachedHash?.key === key) return this.cachedHash.hash;
    const summed = createHash("sha256").update(`${this.form.name} ${encodeJson({ ...head })} `);
    summed.update(await this.builtInHash(builtIn, yieldIfDue));
    const groups = new Set(own().map(({ group }) => group));
    for (const group of [...groups].toSorted()) {
      summed.update(`${group} ${registry.revisionOf(group)} `);
      await yieldIfDue();
    }
    for (const specification of specificationsOf(apiServices)) summed.update(this.remoteHash(specification));
    const hash = hashOf(summed);
    this.cachedHash = { key, hash };
    return hash;
  }

  private async builtInHash(builtIn: BuiltInDescription, yieldIfDue: YieldIfDue): Promise<string> {
    let hash = this.builtInHashes.get(builtIn);
    if (hash === undefined) {
      const summed = createHash("sha256");
      for (const members of [builtIn.paths, builtIn.definitions]) {
        for (const [name, text] of members.inOrder()) {
          summed.update(name).update(text);
          await yieldIfDue();
        }
      }
      this.builtInHashes.set(builtIn, (hash = hashOf(summed)));
    }
    return hash;
  }

  private remoteHash(specification: RemoteSpecification): string {
    let hash = this.remoteHashes.get(specification);
    if (hash === undefined) {
      const { paths, definitions } = specification;
      hash = hashOf(createHash("sha256").update(encodeJson([paths, definitions])));
      this.remoteHashes.set(specification, hash);
    }
    return hash;
  }
}

type Values = Iterable<readonly [name: string, value: unknown]>;

/** Writing a piece to a client takes about a millisecond; many small pieces would take longer in total. */
const pieceBytes = 128 * 1024;
/** Differs from the JSON of every definition. */
const unlikeAny = "";

function hashOf(summed: Hash): string {
  return summed.digest("hex").toUpperCase();
}

function byName(one: Resource, other: Resource): number {
  return one.name < other.name ? -1 : 1;
}

/** Returns the documents that extension servers publish for their group versions. */
function specificationsOf(apiServices: ApiServices): readonly RemoteSpecification[] {
  return [...apiServices.list()].flatMap(({ group, version, remote }) => {
    const specification = apiServices.find(group, version) === remote ? remote?.specification : undefined;
    return specification === undefined ? [] : [specification];
  });
}
