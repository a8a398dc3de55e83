import { gitVersionOf } from "../../../base/releases.ts";
import { createHash } from "node:crypto";
import type { ApiServices } from "../../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../../aggregation/remote-api-service.ts";
import { type YieldIfDue, createYielder } from "../../../base/turns/yielding.ts";
import type { Registry, Resource, ServedGroupVersion } from "../../../resources/registry/registry.ts";
import { DefinitionNames } from "../../../schema/openapi/definition-names.ts";
import { Definitions } from "../../../schema/openapi/definitions.ts";
import type { Dialect } from "../../../schema/openapi/schema-object.ts";
import { binaryForm, jsonForm } from "./document-forms.ts";
import { DocumentMembers, jsonPieces } from "./document-text.ts";
import { resourcePaths } from "./paths.ts";
import { subscriptionPath } from "./subscription-path.ts";
import { WholeDocument, type StreamedDocument, type WholeDocumentSources } from "./whole-document.ts";
import { RecentMap } from "../../../base/collections/recent-map.ts";

/** A document with its hash. */
export interface Document {
  /** Changes with the document; undefined if it isn't known before the document is created. */
  readonly hash: string | undefined;
  read(): Promise<DocumentBytes>;
}

/** The descriptions of one or several group versions. */
interface Described {
  readonly paths: DocumentMembers;
  readonly definitions: DocumentMembers;
}

/**
 * The OpenAPI documents of a server. Each is created at its first request; the parts of a large document aren't kept
 * while it is created.
 */
export class OpenApiDocuments {
  private readonly kept = new DocumentCache();
  /** Description of the built-in group versions that this server serves itself. */
  private builtIn: { readonly paths: string; readonly described: Promise<Described> } | undefined;
  private knownNames: DefinitionNames | undefined;

  private readonly json: WholeDocument;
  private readonly binary: WholeDocument;

  /**
   * @param hasEnums whether fields of built-in kinds have their allowed values.
   * @param failed called with the reason why a custom resource type was left out.
   */
  constructor(
    private readonly registry: Registry,
    private readonly apiServices: ApiServices,
    private readonly hasEnums: boolean,
    private readonly failed: (error: unknown, resource: Resource) => void,
  ) {
    const sources: WholeDocumentSources = {
      registry,
      apiServices,
      own: () => this.own(),
      builtIn: (yieldIfDue) => this.describedBuiltIn(yieldIfDue),
      definitions: (builtIn) => this.definitions("v2", builtIn.definitions),
      head: { swagger: "2.0", info: this.info(), ...security },
      failed,
    };
    this.json = new WholeDocument(jsonForm, sources);
    this.binary = new WholeDocument(binaryForm, sources);
  }

  /** Returns the whole API in OpenAPI 2.0. */
  whole(): Promise<StreamedDocument> {
    return this.json.document();
  }

  /** Returns the whole API in OpenAPI 2.0, in protobuf. */
  wholeBinary(): Promise<StreamedDocument> {
    return this.binary.document();
  }

  /** Returns the paths with their own document: `subscriptions`, and those of the group versions: `api/v1`, `apis/apps/v1`. */
  groupPaths(): string[] {
    return [...this.own().map(groupPath), subscriptions].toSorted();
  }

  /** Returns the hash of a group version's document by its path; undefined if there is none. */
  async listed(path: string): Promise<{ readonly hash: string } | undefined> {
    const document = this.group(path);
    return document?.hash === undefined ? await document?.read() : { hash: document.hash };
  }

  /** Returns a group version, or the path of subscriptions, in OpenAPI 3.0 by its path; undefined if there is none. */
  group(path: string): Document | undefined {
    if (path === subscriptions) return this.subscriptions();
    const match = this.own().find((one) => groupPath(one) === path);
    if (match === undefined) return undefined;
    const { group } = match;
    const revision = this.registry.revisionOf(group);
    const key = `group ${path}`;
    const read = () => this.kept.get(key, revision, (yieldIfDue) => this.groupDocument(match, yieldIfDue));
    if (this.registry.isBuiltIn(group)) return { hash: this.kept.hashOf(key, revision), read };
    // Computed from the sources, without creating the document, because a server can have thousands of definitions.
    const info = JSON.stringify(this.info());
    const hash = createHash("sha256").update(`${info} ${path} ${revision}`).digest("hex").toUpperCase();
    return { hash, read: async () => ({ ...(await read()), hash }) };
  }

  private subscriptions(): Document {
    const paths = new DocumentMembers();
    paths.add(subscriptionPath("v3"));
    const read = () =>
      this.kept.get(subscriptions, "", (yieldIfDue) =>
        this.document3({ paths, definitions: new DocumentMembers() }, yieldIfDue),
      );
    return { hash: this.kept.hashOf(subscriptions, ""), read };
  }

  /** Returns the extension servers that publish an OpenAPI 3.0 document of their group version. */
  others(): RemoteApiService[] {
    return [...this.apiServices.list()].flatMap(({ group, version, remote }) => {
      const routed = this.apiServices.find(group, version) === remote;
      return routed && remote?.specificationUrl !== undefined ? [remote] : [];
    });
  }

  /** Returns the group versions that this server serves itself. */
  private own(): readonly ServedGroupVersion[] {
    const { groupVersions } = this.registry;
    return groupVersions.filter(({ group, version }) => this.apiServices.find(group, version) === undefined);
  }

  private describedBuiltIn(yieldIfDue: YieldIfDue): Promise<Described> {
    const own = this.own().filter(({ group }) => this.registry.isBuiltIn(group));
    const paths = own.map(groupPath).join();
    if (this.builtIn?.paths !== paths) {
      const described = this.describe("v2", own, yieldIfDue).then((all) => {
        all.paths.add(subscriptionPath("v2"));
        return all;
      });
      this.builtIn = { paths, described };
    }
    return this.builtIn.described;
  }

  /** Describes resource types; the description of each is kept only as text. */
  private async describe(
    dialect: Dialect,
    groupVersions: readonly ServedGroupVersion[],
    yieldIfDue: YieldIfDue,
  ): Promise<Described> {
    const described = { paths: new DocumentMembers(), definitions: new DocumentMembers() };
    for (const one of groupVersions) {
      for (const resource of one.resources) {
        this.add(described, dialect, `/${groupPath(one)}`, resource);
        await yieldIfDue();
      }
    }
    return described;
  }

  /** Adds a resource type. One that can't be described is left out, so that the document can still be served. */
  private add(described: Described, dialect: Dialect, path: string, resource: Resource): void {
    try {
      const needed = this.definitions(dialect, described.definitions);
      const [paths, definitions] = [new DocumentMembers(), new DocumentMembers()];
      paths.add(resourcePaths(path, resource, needed));
      definitions.add(needed.all);
      described.paths.addAll(paths);
      described.definitions.addAll(definitions);
    } catch (error) {
      if (resource.kind.custom === undefined) throw error;
      this.failed(error, resource);
    }
  }

  private async groupDocument(one: ServedGroupVersion, yieldIfDue: YieldIfDue): Promise<readonly Buffer[]> {
    return this.document3(await this.describe("v3", [one], yieldIfDue), yieldIfDue);
  }

  private document3(
    { paths, definitions: schemas }: Described,
    yieldIfDue: YieldIfDue,
  ): Promise<readonly Buffer[]> {
    const { security: needed, securityDefinitions: securitySchemes } = security;
    const components = { schemas, securitySchemes };
    return jsonPieces(
      { openapi: "3.0.0", info: this.info(), paths, components, security: needed },
      yieldIfDue,
    );
  }

  private definitions(dialect: Dialect, members: DocumentMembers): Definitions {
    const { registry } = this;
    this.knownNames ??= new DefinitionNames(registry.vocabulary);
    const { vocabulary, release } = registry;
    return new Definitions(this.knownNames, vocabulary, dialect, release, this.hasEnums, (name) =>
      members.has(name),
    );
  }

  private info(): object {
    const { vocabulary, release } = this.registry;
    const { name } = vocabulary;
    return { title: name[0]!.toUpperCase() + name.slice(1), version: gitVersionOf(release) };
  }
}

const bearerToken = { description: "A bearer token.", type: "apiKey", name: "authorization", in: "header" };
const security = { securityDefinitions: { BearerToken: bearerToken }, security: [{ BearerToken: [] }] };

/** Path of the document of subscriptions, which belong to no group version. */
const subscriptions = "subscriptions";

function groupPath({ group, version }: ServedGroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** An encoded document. */
interface DocumentBytes {
  /** The bytes in order, in pieces that are small enough to be sent in one turn. */
  readonly pieces: readonly Uint8Array[];
  /** Total number of bytes. */
  readonly length: number;
  /** Changes with the document. */
  readonly hash: string;
}

/** Encodes a document in pieces; yields to other requests in between. */
type MakeDocument = (yieldIfDue: YieldIfDue) => Promise<readonly Uint8Array[]>;

/** Maximum size of the cache, in bytes. A larger document is encoded for each request. */
const maxCacheBytes = 32 * 1024 * 1024;
/** Larger than the number of group versions of any server. */
const maxDocuments = 10_000;

/** A cache of recently requested documents. A document is encoded once for all concurrent requests. */
export class DocumentCache {
  private readonly making = new Map<string, Promise<DocumentBytes>>();
  private readonly cache = new RecentMap<DocumentBytes>({ entries: maxDocuments, cost: maxCacheBytes });
  /** Hashes of the last encoded documents by key, which remain when the bytes are evicted. */
  private readonly hashes = new RecentMap<{ readonly revision: string; readonly hash: string }>({
    entries: maxDocuments,
    cost: Infinity,
  });

  /**
   * Returns a document from the cache, or encodes it.
   *
   * @param key identifies the document.
   * @param revision revision of its sources; a document of another revision is encoded again.
   */
  get(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const id = `${key} ${revision}`;
    const cached = this.cache.get(id);
    if (cached !== undefined) return Promise.resolve(cached);
    let making = this.making.get(id);
    if (making === undefined) {
      making = this.make(key, revision, make).finally(() => this.making.delete(id));
      this.making.set(id, making);
    }
    return making;
  }

  /** Returns the hash of an encoded document, whose bytes may have been evicted. */
  hashOf(key: string, revision: string): string | undefined {
    const hash = this.hashes.get(key);
    return hash?.revision === revision ? hash.hash : undefined;
  }

  private async make(key: string, revision: string, make: MakeDocument): Promise<DocumentBytes> {
    const yieldIfDue = createYielder();
    const pieces = await make(yieldIfDue);
    const summed = createHash("sha256");
    let length = 0;
    for (const piece of pieces) {
      summed.update(piece);
      length += piece.length;
      await yieldIfDue();
    }
    const hash = summed.digest("hex").toUpperCase();
    const document = { pieces, length, hash };
    const before = this.hashes.get(key);
    if (before !== undefined) this.cache.delete(`${key} ${before.revision}`);
    this.hashes.set(key, { revision, hash });
    this.cache.set(`${key} ${revision}`, document, length);
    return document;
  }
}
