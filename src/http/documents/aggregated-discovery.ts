import { apiGroup } from "../../vocabulary/names.ts";
import { createHash } from "node:crypto";
import type { DiscoveredVersion } from "../../aggregation/api-services.ts";
import type { PublishedResource } from "../../aggregation/published-resources.ts";
import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { DiscoveredVersions } from "./discovered-versions.ts";
import { emptyTimes } from "../../schema/object-meta.ts";
import { groupName, type Kind, type Subresource } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { parseAccept, byPreference } from "../request/negotiation.ts";
import { headersFor } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";

/** A version of the aggregated document; they differ only in their names. */
export type AggregatedVersion = "v2" | "v2beta1";

interface Document {
  readonly of: readonly DiscoveredVersion[];
  readonly bytes: Buffer;
  readonly tag: string;
}

const listKind = "APIGroupDiscoveryList";

/** The aggregated discovery document: all groups, versions and resource types. */
export class AggregatedDiscovery {
  private readonly group: string;
  private readonly documents = new Map<AggregatedVersion, Document>();

  /**
   * @param served the versions in which the document is available.
   * @param isIn returns true for groups that the document contains.
   */
  constructor(
    private readonly registry: Pick<Registry, "vocabulary" | "release">,
    private readonly served: readonly AggregatedVersion[],
    private readonly all: DiscoveredVersions,
    private readonly isIn: (group: string) => boolean,
  ) {
    this.group = apiGroup(registry.vocabulary.groupSuffix, "apidiscovery");
  }

  /** Sends the document if the client prefers it to the legacy one. Returns false otherwise. */
  answers({ exchange }: RequestContext): boolean {
    const accept = exchange.header("accept");
    if (accept === undefined || !accept.includes(listKind)) return false;
    const version = this.preferred(accept);
    if (version === undefined) return false;
    const { versions } = this.all;
    let document = this.documents.get(version);
    if (document?.of !== versions) this.documents.set(version, (document = this.make(version, versions)));
    const { bytes, tag } = document;
    const contentType = `application/json;g=${this.group};v=${version};as=${listKind}`;
    const headers = [...headersFor(contentType), "Vary", "Accept", "ETag", tag];
    if (exchange.header("if-none-match") === tag) exchange.send(304, headers, Buffer.alloc(0));
    else exchange.send(200, headers, bytes);
    return true;
  }

  /** Returns the version that the client prefers; undefined if it prefers the legacy document. */
  private preferred(accept: string): AggregatedVersion | undefined {
    for (const { type, parameters, quality } of byPreference(parseAccept(accept))) {
      if (quality === 0 || type !== "application/json") continue;
      if (parameters["as"] === undefined) return undefined;
      const { as, g, v } = parameters;
      const version = this.served.find((one) => one === v);
      if (as === listKind && g === this.group && version !== undefined) return version;
    }
    return undefined;
  }

  private make(version: AggregatedVersion, versions: readonly DiscoveredVersion[]): Document {
    const groupVersions = versions.filter(({ group }) => this.isIn(group));
    const groups = [...new Set(groupVersions.map(({ group }) => group))];
    const document = {
      kind: listKind,
      apiVersion: `${this.group}/${version}`,
      metadata: {},
      items: groups.map((group) => ({
        metadata: { name: group, ...emptyTimes(this.registry) },
        versions: groupVersions.filter((one) => one.group === group).map((one) => this.version(one)),
      })),
    };
    const bytes = Buffer.from(`${JSON.stringify(document)}\n`);
    return {
      of: versions,
      bytes,
      tag: `"${createHash("sha256").update(bytes).digest("hex").toUpperCase()}"`,
    };
  }

  /** The version of an extension server is shown as in its last discovery response. */
  private version({ version, local, remote }: DiscoveredVersion): object {
    if (remote !== undefined) {
      const freshness = remote.available && remote.resources !== undefined ? "Current" : "Stale";
      return { version, resources: remoteResources(remote), freshness };
    }
    const resources = local!.resources.map((resource) => this.resource(resource));
    return { version, resources, freshness: "Current" };
  }

  private resource(resource: Resource): object {
    const { kind } = resource;
    const subresources = shownSubresources(kind).map(([name, declared]) => ({
      subresource: name,
      responseKind: kindAt(resource, declared, this.registry.vocabulary),
      verbs: declared.verbs,
    }));
    return {
      resource: resource.name,
      responseKind: { group: resource.group, version: resource.version, kind: kind.name },
      scope: kind.scope === "Namespaced" ? "Namespaced" : "Cluster",
      singularResource: kind.singular,
      verbs: kind.verbs,
      ...(kind.shortNames === undefined ? {} : { shortNames: kind.shortNames }),
      ...(kind.categories === undefined ? {} : { categories: kind.categories }),
      ...(subresources.length === 0 ? {} : { subresources }),
    };
  }
}

/**
 * Returns the subresources of a kind in the order of discovery: as in the reference, the status of a custom kind is the
 * first.
 */
export function shownSubresources({ custom, subresources }: Kind): [string, Kind["subresources"][string]][] {
  const all = Object.entries(subresources);
  return custom === undefined ? all : all.toSorted(([a], [b]) => (a < b ? 1 : -1));
}

/** Returns the resource types of an extension server, each with its subresources. */
function remoteResources({ group, version, resources = [] }: RemoteApiService): object[] {
  const kindOfOne = (one: PublishedResource) => ({
    group: one.group ?? group,
    version: one.version ?? version,
    kind: one.kind,
  });
  const below = (name: string) =>
    resources
      .filter((one) => one.name.startsWith(`${name}/`))
      .map((one) => ({
        subresource: one.name.slice(name.length + 1),
        responseKind: kindOfOne(one),
        verbs: one.verbs,
      }));
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map((one) => {
      const { name, singularName, namespaced, verbs, shortNames, categories } = one;
      const subresources = below(name);
      return {
        resource: name,
        responseKind: kindOfOne(one),
        scope: namespaced ? "Namespaced" : "Cluster",
        singularResource: singularName,
        verbs,
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
        ...(subresources.length === 0 ? {} : { subresources }),
      };
    });
}

/** Returns group, version and kind of a subresource's objects. */
export function kindAt(
  { group, version, kind }: Resource,
  subresource: Subresource,
  vocabulary: Vocabulary,
): { readonly group: string; readonly version: string; readonly kind: string } {
  switch (subresource.shape) {
    case "view":
    case "action":
      return kindOf(subresource.kind(), vocabulary);
    case "connect":
      return { group, version, kind: subresource.optionsKind };
    case undefined:
      return { group, version, kind: kind.name };
  }
}

function kindOf(kind: Kind, vocabulary: Vocabulary): { group: string; version: string; kind: string } {
  return { group: groupName(kind.group, vocabulary), version: kind.version, kind: kind.name };
}
