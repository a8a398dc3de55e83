import { createHash } from "node:crypto";
import type { ApiServices } from "../../../aggregation/api-services.ts";
import type { RemoteApiService } from "../../../aggregation/remote-api-service.ts";
import { renamed } from "../../../aggregation/specification.ts";
import type { JsonObject } from "../../../base/json/value.ts";
import { turnGiver, type GiveTurn } from "../../../base/turns.ts";
import type { ServedGroupVersion, Registry, Resource } from "../../../resources/registry.ts";
import { binaryDocument } from "../../../schema/openapi/binary-document.ts";
import { DefinitionNames } from "../../../schema/openapi/definition-names.ts";
import { Definitions } from "../../../schema/openapi/definitions.ts";
import { sorted, type Dialect } from "../../../schema/openapi/schema-object.ts";
import type { Kind, Subresource, Verb } from "../../../schema/kind.ts";
import { operationOf, type Place } from "./operations.ts";
import {
  nameParameter,
  namespaceParameter,
  parameterObject,
  prettyParameter,
  restParameter,
} from "./parameters.ts";

/** A document as it goes out. */
export interface DocumentBytes {
  readonly bytes: Buffer;
  /** Changes when the document does. */
  readonly hash: string;
}

/**
 * The documents in which a server describes its API. Each is made when it is first asked for, and kept; making them gives
 * others their turn.
 */
export class OpenApiDocuments {
  private readonly kept = new Map<
    string,
    { readonly revision: string; readonly made: Promise<DocumentBytes> }
  >();
  private knownNames: DefinitionNames | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly apiServices: ApiServices,
  ) {}

  /** The whole API in OpenAPI 2.0. */
  whole(): Promise<DocumentBytes> {
    return this.keep("json", async (giveTurn) => jsonBytes(await this.wholeDocument(giveTurn), giveTurn));
  }

  /** The same in binary. */
  wholeBinary(): Promise<DocumentBytes> {
    return this.keep("binary", async (giveTurn) =>
      binaryDocument(await this.wholeDocument(giveTurn), giveTurn),
    );
  }

  /** The paths of the group versions that have a document of their own: `api/v1`, `apis/apps/v1`. */
  groupPaths(): string[] {
    return this.own().map(groupPath).toSorted();
  }

  /** A group version in OpenAPI 3.0, by its path; undefined when there is none. */
  group(path: string): Promise<DocumentBytes> | undefined {
    const found = this.own().find((one) => groupPath(one) === path);
    if (found === undefined) return undefined;
    const revision = this.registry.isBuiltIn(found.group) ? "" : String(this.registry.revision);
    const make = async (giveTurn: GiveTurn) => jsonBytes(await this.groupDocument(found, giveTurn), giveTurn);
    return this.keep(`group ${path}`, make, revision);
  }

  /** @param revision of what the document is about; one of an earlier revision is made anew. */
  private keep(
    key: string,
    make: (giveTurn: GiveTurn) => Promise<Buffer>,
    revision = `${this.registry.revision}/${this.apiServices.specificationRevision}`,
  ): Promise<DocumentBytes> {
    const found = this.kept.get(key);
    if (found?.revision === revision) return found.made;
    const made = make(turnGiver()).then((bytes) => {
      return { bytes, hash: createHash("sha256").update(bytes).digest("hex").toUpperCase() };
    });
    this.kept.set(key, { revision, made });
    return made;
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

  private async wholeDocument(giveTurn: GiveTurn): Promise<object> {
    const own = this.definitions("v2");
    const paths = await pathsOf(this.own(), own, giveTurn);
    const definitions = { ...own.all } as JsonObject;
    for (const { group, version, remote } of this.apiServices.list()) {
      const specification =
        this.apiServices.find(group, version) === remote ? remote?.specification : undefined;
      if (specification === undefined) continue;
      const other = renamed(specification, definitions);
      Object.assign(paths, other.paths);
      Object.assign(definitions, other.definitions);
      await giveTurn();
    }
    return {
      swagger: "2.0",
      info: this.info(),
      paths,
      definitions,
      securityDefinitions: { BearerToken: bearerToken },
      security: [{ BearerToken: [] }],
    };
  }

  private async groupDocument(one: ServedGroupVersion, giveTurn: GiveTurn): Promise<object> {
    const definitions = this.definitions("v3");
    const paths = await pathsOf([one], definitions, giveTurn);
    return {
      openapi: "3.0.0",
      info: this.info(),
      paths,
      components: { schemas: definitions.all, securitySchemes: { BearerToken: bearerToken } },
      security: [{ BearerToken: [] }],
    };
  }

  private definitions(dialect: Dialect): Definitions {
    const { registry } = this;
    this.knownNames ??= new DefinitionNames(registry.vocabulary);
    return new Definitions(this.knownNames, registry.vocabulary, dialect);
  }

  private info(): object {
    const { name, gitVersion } = this.registry.vocabulary;
    return { title: name[0]!.toUpperCase() + name.slice(1), version: gitVersion };
  }
}

const bearerToken = { description: "A bearer token.", type: "apiKey", name: "authorization", in: "header" };

function groupPath({ group, version }: ServedGroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

type PathItem = Record<string, unknown>;

/** The paths of every resource type, with their operations. */
async function pathsOf(
  groupVersions: readonly ServedGroupVersion[],
  definitions: Definitions,
  giveTurn: GiveTurn,
): Promise<Record<string, PathItem>> {
  const paths: Record<string, PathItem> = {};
  for (const one of groupVersions) {
    for (const resource of one.resources) {
      addResource(paths, `/${groupPath(one)}`, resource, definitions);
      await giveTurn();
    }
  }
  return sorted(paths);
}

/** A document as JSON, written member by member: the large ones are maps of paths and of definitions. */
async function jsonBytes(document: object, giveTurn: GiveTurn): Promise<Buffer> {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(document) as [string, object][]) {
    parts.push(`${parts.length === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    if (name === "components") parts.push((await jsonBytes(value, giveTurn)).toString());
    else if (name === "paths" || name === "definitions" || name === "schemas") {
      const members: string[] = [];
      for (const [key, member] of Object.entries(value)) {
        members.push(`${JSON.stringify(key)}:${JSON.stringify(member)}`);
        await giveTurn();
      }
      parts.push(`{${members.join(",")}}`);
    } else parts.push(JSON.stringify(value));
  }
  return Buffer.from(`${parts.join("")}}`);
}

function addResource(
  paths: Record<string, PathItem>,
  base: string,
  resource: Resource,
  definitions: Definitions,
): void {
  const { kind, name, namespaced } = resource;
  const scope = namespaced ? `${base}/namespaces/{namespace}/${name}` : `${base}/${name}`;
  const place = { resource, kind, connection: undefined, subresource: "", inNamespace: namespaced };
  const add = (path: string, verbs: readonly Verb[], at: Place) => {
    const item = pathItem(
      path,
      verbs.filter((verb) => kind.verbs.includes(verb) || at.subresource !== ""),
      at,
      definitions,
    );
    if (item !== undefined) paths[path] = item;
  };
  add(scope, ["list", "create", "deletecollection"], place);
  add(`${scope}/{name}`, ["get", "update", "patch", "delete"], place);
  if (namespaced) add(`${base}/${name}`, ["list"], { ...place, inNamespace: false });
  for (const [subresource, declared] of Object.entries(kind.subresources)) {
    const path = `${scope}/{name}/${subresource}`;
    const at = { ...place, subresource, ...shownAt(kind, declared) };
    add(path, declared.verbs, at);
    if (subresource === "proxy") add(`${path}/{path}`, declared.verbs, { ...at, withPath: true });
  }
}

/** What a subresource takes and answers. */
function shownAt(kind: Kind, subresource: Subresource): Pick<Place, "kind" | "connection"> {
  switch (subresource.shape) {
    case "view":
    case "action":
      return { kind: subresource.kind(), connection: undefined };
    case "connect":
      return { kind, connection: subresource.optionsKind };
    case undefined:
      return { kind, connection: undefined };
  }
}

function pathItem(
  path: string,
  verbs: readonly Verb[],
  place: Place,
  definitions: Definitions,
): PathItem | undefined {
  const item: PathItem = {};
  for (const verb of verbs) {
    const made = operationOf(verb, place, definitions);
    if (made !== undefined) item[made.method] = made.operation;
  }
  if (Object.keys(item).length === 0) return undefined;
  const parameters = [
    ...(path.includes("{name}") ? [nameParameter(place.resource.kind.name)] : []),
    ...(path.includes("{namespace}") ? [namespaceParameter] : []),
    ...(path.includes("{path}") ? [restParameter] : []),
    prettyParameter,
  ];
  return { ...item, parameters: parameters.map((one) => parameterObject(one, definitions.dialect)) };
}
