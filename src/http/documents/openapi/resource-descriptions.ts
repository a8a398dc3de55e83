import { RecentMap } from "../../../base/collections/recent-map.ts";
import type { YieldIfDue } from "../../../base/turns/yielding.ts";
import type { Resource } from "../../../resources/registry/registry.ts";
import type { Definitions } from "../../../schema/openapi/definitions.ts";
import type { DocumentForm } from "./document-forms.ts";
import { PackedMembers } from "./packed-members.ts";
import { resourcePaths } from "./paths.ts";

/** The part of a document about one or several resource types. */
export interface Description {
  readonly paths: PackedMembers;
  readonly definitions: PackedMembers;
}

/** Maximum compressed size of the cache, in bytes; evicted descriptions are created again. */
const keptBytes = 64 * 1024 * 1024;
const keptDescriptions = 20_000;

/** An empty description, for a type that can't be described. */
const nothing: Promise<Description> = PackedMembers.of([]).then((none) => ({
  paths: none,
  definitions: none,
}));

/**
 * Descriptions of custom resource types for OpenAPI 2.0. Each is created at its first use and cached until its
 * definition changes. A type that can't be described is left out, so that the document can still be served.
 */
export class ResourceDescriptions {
  private readonly recent = new RecentMap<Description>({ entries: keptDescriptions, cost: keptBytes });
  private readonly making = new Map<string, Promise<Description>>();

  constructor(
    private readonly definitions: () => Definitions,
    private readonly failed: (error: unknown, resource: Resource) => void,
  ) {}

  get(path: string, resource: Resource, form: DocumentForm, yieldIfDue: YieldIfDue): Promise<Description> {
    const { kind, version, storePrefix } = resource;
    const key = `${form.name} ${storePrefix}${version}@${kind.custom?.since}`;
    const cached = this.recent.get(key);
    if (cached !== undefined) return Promise.resolve(cached);
    let making = this.making.get(key);
    if (making === undefined) {
      making = this.make(path, resource, form, yieldIfDue)
        .catch((error: unknown) => {
          this.failed(error, resource);
          return nothing;
        })
        .then((description) => {
          this.recent.set(key, description, description.paths.cost + description.definitions.cost);
          return description;
        })
        .finally(() => this.making.delete(key));
      this.making.set(key, making);
    }
    return making;
  }

  private async make(
    path: string,
    resource: Resource,
    form: DocumentForm,
    yieldIfDue: YieldIfDue,
  ): Promise<Description> {
    const definitions = this.definitions();
    // The schema is the largest part.
    definitions.kind(resource.kind);
    await yieldIfDue();
    const items = Object.entries(resourcePaths(path, resource, definitions));
    const paths = items.map(([name, item]) => [name, form.member("paths", name, item)] as const);
    await yieldIfDue();
    const members = Object.entries(definitions.all).map(
      ([name, definition]) => [name, form.member("definitions", name, definition)] as const,
    );
    await yieldIfDue();
    return { paths: await PackedMembers.of(paths), definitions: await PackedMembers.of(members) };
  }
}
