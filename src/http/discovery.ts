import { referenceRelease, type Vocabulary } from "../vocabulary/vocabulary.ts";
import type { GroupVersion, Registry, Resource } from "../resources/registry.ts";
import { StatusError } from "../base/status-error.ts";
import { parseAccept } from "./negotiation.ts";
import { sendJson } from "./respond.ts";
import type { Admitted, PathTable } from "./service.ts";

/** Adds the discovery documents: `/api`, `/apis`, their sub-documents, `/version` and the index at `/`. */
export function addDiscoveryPaths(paths: PathTable, registry: Registry): void {
  const { groupVersions } = registry;
  const groups = groupNames(groupVersions);
  answerWith(paths, "/api", (request) => ({
    kind: "APIVersions",
    versions: versionsOf(groupVersions, ""),
    serverAddressByClientCIDRs: [
      { clientCIDR: "0.0.0.0/0", serverAddress: request.exchange.header("host") ?? "" },
    ],
  }));
  answerWith(paths, "/apis", () => ({
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.map((group) => groupDocument(groupVersions, group)),
  }));
  for (const group of groups) {
    answerWith(paths, `/apis/${group}`, () => ({
      kind: "APIGroup",
      apiVersion: "v1",
      ...groupDocument(groupVersions, group),
    }));
  }
  for (const one of groupVersions) {
    const path = one.group === "" ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`;
    answerWith(paths, path, () => resourceList(one));
  }
  answerWith(paths, "/version", () => versionDocument(registry.vocabulary));
  answerWith(paths, "/", () => ({ paths: paths.paths }));
}

function answerWith(paths: PathTable, path: string, document: (request: Admitted) => object): void {
  paths.add(path, (request) => {
    checkAcceptsJson(request);
    sendJson(request.exchange, 200, document(request));
  });
}

const jsonRanges = new Set(["application/json", "application/*", "*/*"]);

/** These documents exist in JSON only. */
function checkAcceptsJson({ exchange }: Admitted): void {
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

function resourceList({ group, version, resources }: GroupVersion): object {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: resources.flatMap(resourceDocuments).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

interface ResourceDocument {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A resource type and its subresources as discovery lists them. */
function resourceDocuments(resource: Resource): ResourceDocument[] {
  const { kind, name, namespaced } = resource;
  const main: ResourceDocument = {
    name,
    singularName: "",
    namespaced,
    kind: kind.name,
    verbs: kind.verbs,
    ...(kind.shortNames === undefined ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories === undefined ? {} : { categories: kind.categories }),
  };
  const below = Object.entries(kind.subresources).map(([subresource, { verbs }]) => ({
    name: `${name}/${subresource}`,
    singularName: "",
    namespaced,
    kind: kind.name,
    verbs,
  }));
  return [main, ...below];
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
