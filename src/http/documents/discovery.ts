import { apiVersionOf } from "../../base/object-errors.ts";
import { createHash } from "node:crypto";
import { gitVersionOf, type Release } from "../../base/releases.ts";
import { clientWarning } from "../../vocabulary/other-vocabulary.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import {
  isStored,
  type ServedGroupVersion,
  type Registry,
  type Resource,
} from "../../resources/registry/registry.ts";
import { DiscoveredVersions } from "./discovered-versions.ts";
import type { ApiServices, DiscoveredVersion } from "../../aggregation/api-services.ts";
import {
  AggregatedDiscovery,
  type AggregatedVersion,
  kindAt,
  shownSubresources,
} from "./aggregated-discovery.ts";
import { headersFor, sendJson } from "../answers/respond.ts";
import type { WelcomeFacts } from "../request/visitor.ts";
import { wantsWelcomePage } from "../request/welcome.ts";
import { htmlMediaType, welcomePage } from "./welcome-page.ts";
import { checkAcceptsJson, sendDocument } from "./send-document.ts";
import type { RequestContext } from "../request/context.ts";
import { eventStreamType } from "../request/negotiation.ts";
import {
  methodsOfStrictDocuments,
  type ChangingPaths,
  type PathHandler,
  type AddedPaths,
} from "../request/path-table.ts";

/** Parts of discovery that depend on feature gates. */
export interface DiscoveryFeatures {
  /** The versions in which the aggregated document is served. */
  readonly aggregated: readonly AggregatedVersion[];
  /** Whether resources have a hash that changes with their storage version. */
  readonly storageVersionHash: boolean;
  /** Whether the resources of built-in kinds have their singular names, as in the reference from release 1.27 on. */
  readonly singularNames: boolean;
}

/** Adds the paths of discovery: `/api`, `/apis` and the documents below them, `/version`, the extensions and the index at `/`. */
export function addDiscoveryPaths(
  paths: AddedPaths,
  registry: Registry,
  apiServices: ApiServices,
  features: DiscoveryFeatures,
  welcome: WelcomeFacts,
): void {
  const { vocabulary } = registry;
  const place = { paths, vocabulary };
  const strict = { ...place, methods: methodsOfStrictDocuments(vocabulary) };
  const all = new DiscoveredVersions(registry, apiServices);
  const aggregated = (isIn: (group: string) => boolean) =>
    features.aggregated.length > 0
      ? new AggregatedDiscovery(registry, features.aggregated, all, isIn)
      : undefined;
  const legacy = (request: RequestContext) => ({
    kind: "APIVersions",
    versions: versionsOf(registry.builtInVersions, ""),
    serverAddressByClientCIDRs: [
      { clientCIDR: "0.0.0.0/0", serverAddress: request.exchange.header("host") ?? "" },
    ],
  });
  const core = (group: string) => group === "";
  answerWith(strict, "/api", legacy, aggregated(core));
  const groupList = () => ({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groupNames(all.versions).map((group) => groupDocument(all.versions, group)),
  });
  answerWith(
    place,
    "/apis",
    groupList,
    aggregated((group) => !core(group)),
  );
  // Only the built-in ones, which never change; custom kinds are looked up for each request.
  const { builtInVersions } = registry;
  for (const group of groupNames(builtInVersions))
    answerWith(place, `/apis/${group}`, groupAnswer(all, group));
  for (const { group, version } of builtInVersions) {
    answerWith(strict, pathOf(group, version), versionAnswer(registry, group, version, features));
  }
  paths.addChanging(changingDiscovery(registry, all, features));
  const version: PathHandler = (request) => {
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, versionDocument(registry.release));
  };
  paths.addWithSlash("/version", version, strict.methods);
  paths.add(extensionsPath, (request) => {
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, extensionsDocument);
  });
  paths.add("/", (request) => {
    if (wantsWelcomePage(request)) {
      return request.exchange.send(200, headersFor(htmlMediaType), welcomePage(welcome, request.visitor));
    }
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, { paths: paths.paths });
  });
}

/** Adds the documents of groups that can change, and of versions of extension servers. */
function changingDiscovery(
  registry: Registry,
  all: DiscoveredVersions,
  features: DiscoveryFeatures,
): ChangingPaths {
  const isChanging = ({ group, remote }: DiscoveredVersion) =>
    remote !== undefined || !registry.isBuiltIn(group);
  return {
    find(path) {
      const [, group = "", version, ...more] =
        /^\/apis\/([^/]+)(?:\/([^/]+))?(?:\/(.+))?$/.exec(path.endsWith("/") ? path.slice(0, -1) : path) ??
        [];
      if (registry.isBuiltIn(group) || more.some((part) => part !== undefined)) return undefined;
      const isServed = all.versions.some(
        (one) => one.group === group && (version === undefined || one.version === version),
      );
      if (!isServed) return undefined;
      const document =
        version === undefined ? groupAnswer(all, group) : versionAnswer(registry, group, version, features);
      return (request) => sendDocument(request, document(), registry.vocabulary);
    },
    get paths() {
      const changing = all.versions.filter(isChanging);
      const groups = groupNames(changing).filter((group) => !registry.isBuiltIn(group));
      return [
        ...groups.map((group) => `/apis/${group}`),
        ...changing.map(({ group, version }) => pathOf(group, version)),
      ];
    },
  };
}

function pathOf(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

function groupAnswer(all: DiscoveredVersions, group: string): () => object {
  return () => ({ kind: "APIGroup", apiVersion: "v1", ...groupDocument(all.versions, group) });
}

function versionAnswer(
  registry: Registry,
  group: string,
  version: string,
  features: DiscoveryFeatures,
): () => object {
  return () => {
    const match = registry.groupVersions.find((one) => one.group === group && one.version === version);
    return resourceList(match ?? { group, version, resources: [] }, registry.vocabulary, features);
  };
}

function answerWith(
  { paths, vocabulary, methods }: DocumentPlace,
  path: string,
  document: (request: RequestContext) => object,
  aggregated?: AggregatedDiscovery,
): void {
  const handler: PathHandler = (request) => {
    const warning = clientWarning(request.exchange.header("user-agent") ?? "", vocabulary);
    if (warning !== undefined) request.exchange.addHeaders(["Warning", `299 - ${JSON.stringify(warning)}`]);
    if (aggregated?.answers(request) === true) return;
    sendDocument(request, document(request), vocabulary);
  };
  paths.addWithSlash(path, handler, methods);
}

/** Where documents are served. */
interface DocumentPlace {
  readonly paths: AddedPaths;
  readonly vocabulary: Vocabulary;
  /** Undefined for those of documents in general. */
  readonly methods?: readonly string[];
}

type GroupVersion = Pick<DiscoveredVersion, "group" | "version">;

function groupNames(groupVersions: readonly GroupVersion[]): string[] {
  return [...new Set(groupVersions.map((one) => one.group))].filter((group) => group !== "");
}

function versionsOf(groupVersions: readonly GroupVersion[], group: string): string[] {
  return groupVersions.filter((one) => one.group === group).map((one) => one.version);
}

function groupDocument(groupVersions: readonly GroupVersion[], group: string): object {
  const versions = versionsOf(groupVersions, group).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function resourceList(
  { group, version, resources }: ServedGroupVersion,
  vocabulary: Vocabulary,
  features: DiscoveryFeatures,
): object {
  // Subresources of custom kinds have the order of the declaration, others are sorted by name.
  const isCustom = resources.every(({ kind }) => kind.custom !== undefined);
  const documents = resources.toSorted(byName).flatMap((one) => resourceDocuments(one, vocabulary, features));
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf(group, version),
    resources: isCustom ? documents : documents.toSorted(byName),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

interface ResourceDocument {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Returns the discovery documents of a resource type and its subresources. */
function resourceDocuments(
  resource: Resource,
  vocabulary: Vocabulary,
  features: DiscoveryFeatures,
): ResourceDocument[] {
  const { kind, name, namespaced } = resource;
  const main: ResourceDocument = {
    name,
    singularName: kind.custom !== undefined || features.singularNames ? kind.singular : "",
    namespaced,
    kind: kind.name,
    verbs: kind.verbs,
    ...(kind.shortNames === undefined ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories === undefined ? {} : { categories: kind.categories }),
    ...(features.storageVersionHash && isStored(resource)
      ? { storageVersionHash: storageVersionHash(resource) }
      : {}),
  };
  const below = shownSubresources(kind).map(([subresource, declared]) => {
    const shown = kindAt(resource, declared, vocabulary);
    const elsewhere = shown.group !== resource.group || shown.version !== resource.version;
    return {
      name: `${name}/${subresource}`,
      singularName: "",
      namespaced,
      ...(elsewhere ? { group: shown.group, version: shown.version } : {}),
      kind: shown.kind,
      verbs: declared.verbs,
    };
  });
  return [main, ...below];
}

/** Returns a hash that changes with the storage version of a resource type. */
function storageVersionHash({ stored }: Resource): string {
  const text = `${stored.group}/${stored.version}/${stored.kind.name}`;
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}

function versionDocument(release: Release): object {
  const [major, minor] = release.split(".");
  return {
    major,
    minor,
    gitVersion: gitVersionOf(release),
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}

/** Path of the document of what this server has and other servers of the API don't. Discovery roles allow it, as they do OpenAPI. */
const extensionsPath = "/openapi/extensions";

/** What this server has and other servers of the API don't. It isn't in standard documents, because some clients refuse unknown members. */
const extensionsDocument = {
  // Values of the parameter `view` of lists and of watches.
  listViews: ["mine"],
  watchViews: ["mine"],
  // Further parameters of lists.
  listParameters: ["search", "sort"],
  // Media types of `/subscriptions`.
  subscriptions: ["application/json", eventStreamType],
};
