import { createHash } from "node:crypto";
import { referenceRelease, type Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { GroupVersion, Registry, Resource } from "../../resources/registry.ts";
import { StatusError } from "../../base/status-error.ts";
import { AggregatedDiscovery, kindAt } from "./aggregated-discovery.ts";
import { parseAccept } from "../request/negotiation.ts";
import { sendJson } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import type { PathTable } from "../request/path-table.ts";

/** Parts of discovery that feature gates turn on. */
export interface DiscoveryFeatures {
  /** Everything in one document, for clients that ask for it. */
  readonly aggregated: boolean;
  /** A hash that changes with the version in which a resource type is stored. */
  readonly storageVersionHash: boolean;
}

/** Adds the discovery documents: `/api`, `/apis`, their sub-documents, `/version` and the index at `/`. */
export function addDiscoveryPaths(paths: PathTable, registry: Registry, features: DiscoveryFeatures): void {
  const { groupVersions } = registry;
  const groups = groupNames(groupVersions);
  const { vocabulary } = registry;
  const aggregated = (those: readonly GroupVersion[]) =>
    features.aggregated ? new AggregatedDiscovery(those, vocabulary) : undefined;
  const core = aggregated(groupVersions.filter(({ group }) => group === ""));
  const named = aggregated(groupVersions.filter(({ group }) => group !== ""));
  const legacy = (request: RequestContext) => ({
    kind: "APIVersions",
    versions: versionsOf(groupVersions, ""),
    serverAddressByClientCIDRs: [
      { clientCIDR: "0.0.0.0/0", serverAddress: request.exchange.header("host") ?? "" },
    ],
  });
  answerWith(paths, "/api", legacy, core);
  const groupList = () => ({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.map((group) => groupDocument(groupVersions, group)),
  });
  answerWith(paths, "/apis", groupList, named);
  for (const group of groups) {
    answerWith(paths, `/apis/${group}`, () => ({
      kind: "APIGroup",
      apiVersion: "v1",
      ...groupDocument(groupVersions, group),
    }));
  }
  for (const one of groupVersions) {
    const path = one.group === "" ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`;
    answerWith(paths, path, () => resourceList(one, vocabulary, features));
  }
  answerWith(paths, "/version", () => versionDocument(vocabulary));
  paths.add("/", (request) => {
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, { paths: paths.paths });
  });
}

function answerWith(
  paths: PathTable,
  path: string,
  document: (request: RequestContext) => object,
  aggregated?: AggregatedDiscovery,
): void {
  paths.addWithSlash(path, (request) => {
    if (aggregated?.answers(request) === true) return;
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, document(request));
  });
}

const jsonRanges = new Set(["application/json", "application/*", "*/*"]);

/** These documents exist in JSON only. */
function checkAcceptsJson({ exchange }: RequestContext): void {
  const accept = exchange.header("accept") ?? "";
  if (accept === "" || parseAccept(accept).some(({ type, quality }) => quality > 0 && jsonRanges.has(type)))
    return;
  throw new StatusError("NotAcceptable", "only the following media types are accepted: application/json");
}

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
  { group, version, resources }: GroupVersion,
  vocabulary: Vocabulary,
  features: DiscoveryFeatures,
): object {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: resources
      .flatMap((one) => resourceDocuments(one, vocabulary, features))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

interface ResourceDocument {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A resource type and its subresources as discovery lists them. */
function resourceDocuments(
  resource: Resource,
  vocabulary: Vocabulary,
  features: DiscoveryFeatures,
): ResourceDocument[] {
  const { kind, name, namespaced } = resource;
  const main: ResourceDocument = {
    name,
    singularName: "",
    namespaced,
    kind: kind.name,
    verbs: kind.verbs,
    ...(kind.shortNames === undefined ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories === undefined ? {} : { categories: kind.categories }),
    ...(features.storageVersionHash && kind.verbs.includes("get")
      ? { storageVersionHash: storageVersionHash(resource) }
      : {}),
  };
  const below = Object.entries(kind.subresources).map(([subresource, declared]) => {
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

/** Changes when the version changes in which a resource type's objects are stored. */
function storageVersionHash({ stored }: Resource): string {
  const text = `${stored.group}/${stored.version}/${stored.kind.name}`;
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}

function versionDocument(vocabulary: Vocabulary): object {
  return {
    major: referenceRelease.major,
    minor: referenceRelease.minor,
    gitVersion: vocabulary.gitVersion,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
