import { parseFieldSelector, pinnedValue } from "../../base/selectors/field-selector.ts";
import type { ResourceFacts } from "../request/facts.ts";

/** The scope of a watch or of a change. */
type Watched = Pick<ResourceFacts, "group" | "resource" | "namespace" | "name">;

/** The watches of one resource type. */
class ResourceWatches {
  all = 0;
  /** By namespace, and by namespace and name. */
  readonly some = new Map<string, number>();

  get empty(): boolean {
    return this.all === 0 && this.some.size === 0;
  }
}

/**
 * Counts the watches of this server by resource type, namespace and name. Label selectors are ignored, because every event must be
 * compared with them.
 */
export class WatchCounts {
  private readonly byGroup = new Map<string, Map<string, ResourceWatches>>();

  /**
   * Adds a watch.
   *
   * @param selection `name`: the name that it selects, if any.
   * @returns removes the watch; must be called once.
   */
  add(facts: ResourceFacts, { name = "" }: { readonly name: string | undefined }): () => void {
    // Watches of one node's pods receive few events.
    if (watchesOneNode(facts)) return () => undefined;
    const { group, resource, namespace } = facts;
    const watched = { group, resource, namespace, name };
    this.change(watched, 1);
    return () => this.change(watched, -1);
  }

  /** The number of watches that may receive the event of a change. */
  interested({ group, resource, namespace, name }: Watched): number {
    const watches = this.byGroup.get(group)?.get(resource);
    if (watches === undefined) return 0;
    const { all, some } = watches;
    if (some.size === 0) return all;
    const inNamespace = namespace === "" ? 0 : (some.get(namespace) ?? 0);
    return all + inNamespace + (name === "" ? 0 : (some.get(nameKey(namespace, name)) ?? 0));
  }

  private change({ group, resource, namespace, name }: Watched, by: number): void {
    let resources = this.byGroup.get(group);
    if (resources === undefined) this.byGroup.set(group, (resources = new Map()));
    let watches = resources.get(resource);
    if (watches === undefined) resources.set(resource, (watches = new ResourceWatches()));
    if (namespace === "" && name === "") watches.all += by;
    else {
      const key = name === "" ? namespace : nameKey(namespace, name);
      const count = (watches.some.get(key) ?? 0) + by;
      if (count === 0) watches.some.delete(key);
      else watches.some.set(key, count);
    }
    if (!watches.empty) return;
    resources.delete(resource);
    if (resources.size === 0) this.byGroup.delete(group);
  }
}

function nameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function watchesOneNode({ group, resource, query }: ResourceFacts): boolean {
  if (group !== "" || resource !== "pods") return false;
  const node = pinnedValue(parseFieldSelector(query.get("fieldSelector") ?? ""), "spec.nodeName");
  return node !== undefined && node !== "";
}
