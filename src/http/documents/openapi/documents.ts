import { createHash } from "node:crypto";
import type { ApiServices } from "../../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../../aggregation/remote-api-service.ts";
import { renamed } from "../../../aggregation/specification.ts";
import type { GiveTurn } from "../../../base/turns.ts";
import type { ServedGroupVersion, Registry } from "../../../resources/registry.ts";
import { binaryDocument } from "../../../schema/openapi/binary-document.ts";
import { DefinitionNames } from "../../../schema/openapi/definition-names.ts";
import { Definitions } from "../../../schema/openapi/definitions.ts";
import type { Dialect } from "../../../schema/openapi/schema-object.ts";
import { DocumentMembers, jsonPieces } from "./document-text.ts";
import { KeptDocuments, type DocumentBytes, type MakeDocument } from "./kept-documents.ts";
import { resourcePaths } from "./paths.ts";

/** A document that a client may have already. */
export interface Document {
  /** Changes when the document does; undefined where it must be made first. */
  readonly hash: string | undefined;
  read(): Promise<DocumentBytes>;
}

/** What a document says of one API or of several. */
interface Described {
  readonly paths: DocumentMembers;
  readonly definitions: DocumentMembers;
}

/**
 * The documents in which a server describes its API. Each is made when it is first asked for; what a large one is made of
 * isn't kept while it is made.
 */
export class OpenApiDocuments {
  private readonly kept = new KeptDocuments();
  /** Of the built-in group versions that this server serves itself. */
  private builtIn: { readonly paths: string; readonly described: Promise<Described> } | undefined;
  private knownNames: DefinitionNames | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly apiServices: ApiServices,
  ) {}

  /** The whole API in OpenAPI 2.0. */
  whole(): Document {
    return this.wholeAs("json", async (giveTurn) => {
      const { paths, definitions } = await this.described(giveTurn);
      const head = { swagger: "2.0", info: this.info() };
      return jsonPieces({ ...head, paths, definitions, ...security }, giveTurn);
    });
  }

  /** The same in binary. */
  wholeBinary(): Document {
    return this.wholeAs("binary", async (giveTurn) => {
      const { paths, definitions } = await this.described(giveTurn);
      const head = { swagger: "2.0", info: this.info(), ...security };
      return binaryDocument(head, paths.values(), definitions.values(), giveTurn);
    });
  }

  /** The paths of the group versions that have a document of their own: `api/v1`, `apis/apps/v1`. */
  groupPaths(): string[] {
    return this.own().map(groupPath).toSorted();
  }

  /** The document of a group version, by its path, with its hash; undefined when there is none. */
  async listed(path: string): Promise<{ readonly hash: string } | undefined> {
    const document = this.group(path);
    return document?.hash === undefined ? await document?.read() : { hash: document.hash };
  }

  /** A group version in OpenAPI 3.0, by its path; undefined when there is none. */
  group(path: string): Document | undefined {
    const found = this.own().find((one) => groupPath(one) === path);
    if (found === undefined) return undefined;
    const { group } = found;
    const revision = this.registry.revisionOf(group);
    const key = `group ${path}`;
    const read = () => this.kept.get(key, revision, (giveTurn) => this.groupDocument(found, giveTurn));
    if (this.registry.isBuiltIn(group)) return { hash: this.kept.hashOf(key, revision), read };
    // What it is made of is known without making it: a server may have thousands of definitions.
    const info = JSON.stringify(this.info());
    const hash = createHash("sha256").update(`${info} ${path} ${revision}`).digest("hex").toUpperCase();
    return { hash, read: async () => ({ ...(await read()), hash }) };
  }

  /** Extension servers that publish an OpenAPI 3.0 document of their group version. */
  others(): RemoteApiService[] {
    return [...this.apiServices.list()].flatMap(({ group, version, remote }) => {
      const routed = this.apiServices.find(group, version) === remote;
      return routed && remote?.specificationUrl !== undefined ? [remote] : [];
    });
  }

  /** The group versions that this server serves itself. */
  private own(): readonly ServedGroupVersion[] {
    const { groupVersions } = this.registry;
    return groupVersions.filter(({ group, version }) => this.apiServices.find(group, version) === undefined);
  }

  private wholeAs(key: string, make: MakeDocument): Document {
    const revision = `${this.registry.revision}/${this.apiServices.specificationRevision}`;
    return { hash: this.kept.hashOf(key, revision), read: () => this.kept.get(key, revision, make) };
  }

  private async described(giveTurn: GiveTurn): Promise<Described> {
    const custom = this.own().filter(({ group }) => !this.registry.isBuiltIn(group));
    const builtIn = await this.describedBuiltIn(giveTurn);
    const { paths, definitions } = await this.describe("v2", custom, giveTurn);
    paths.addAll(builtIn.paths);
    definitions.addAll(builtIn.definitions);
    for (const { group, version, remote } of this.apiServices.list()) {
      const specification =
        this.apiServices.find(group, version) === remote ? remote?.specification : undefined;
      if (specification === undefined) continue;
      const other = renamed(specification, (name) => definitions.text(name));
      for (const [path, item] of Object.entries(other.paths)) paths.set(path, item);
      definitions.add(other.definitions);
      await giveTurn();
    }
    return { paths, definitions };
  }

  private describedBuiltIn(giveTurn: GiveTurn): Promise<Described> {
    const own = this.own().filter(({ group }) => this.registry.isBuiltIn(group));
    const paths = own.map(groupPath).join();
    if (this.builtIn?.paths !== paths) {
      this.builtIn = { paths, described: this.describe("v2", own, giveTurn) };
    }
    return this.builtIn.described;
  }

  /** What resource types look like; what is made for each of them isn't kept but as text. */
  private async describe(
    dialect: Dialect,
    groupVersions: readonly ServedGroupVersion[],
    giveTurn: GiveTurn,
  ): Promise<Described> {
    const described = { paths: new DocumentMembers(), definitions: new DocumentMembers() };
    for (const one of groupVersions) {
      for (const resource of one.resources) {
        const needed = this.definitions(dialect, described.definitions);
        described.paths.add(resourcePaths(`/${groupPath(one)}`, resource, needed));
        described.definitions.add(needed.all);
        await giveTurn();
      }
    }
    return described;
  }

  private async groupDocument(one: ServedGroupVersion, giveTurn: GiveTurn): Promise<readonly Buffer[]> {
    const { paths, definitions: schemas } = await this.describe("v3", [one], giveTurn);
    const { security: needed, securityDefinitions: securitySchemes } = security;
    const components = { schemas, securitySchemes };
    return jsonPieces({ openapi: "3.0.0", info: this.info(), paths, components, security: needed }, giveTurn);
  }

  private definitions(dialect: Dialect, made: DocumentMembers): Definitions {
    const { registry } = this;
    this.knownNames ??= new DefinitionNames(registry.vocabulary);
    return new Definitions(this.knownNames, registry.vocabulary, dialect, (name) => made.has(name));
  }

  private info(): object {
    const { name, gitVersion } = this.registry.vocabulary;
    return { title: name[0]!.toUpperCase() + name.slice(1), version: gitVersion };
  }
}

const bearerToken = { description: "A bearer token.", type: "apiKey", name: "authorization", in: "header" };
const security = { securityDefinitions: { BearerToken: bearerToken }, security: [{ BearerToken: [] }] };

function groupPath({ group, version }: ServedGroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}
