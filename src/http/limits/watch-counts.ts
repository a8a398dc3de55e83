import { parseFieldSelector, pinnedValue } from "../../base/field-selector.ts";
import type { ResourceFacts } from "../request/facts.ts";

/** What a watch watches: by these facts of a request it is known whether the watch gets an event of it. */
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
 * How many watches of this server's clients there are, of which resource types, namespaces and names. Label selectors
 * count as if they selected everything: each event has to be judged by them.
 */
export class WatchCounts {
  private readonly byGroup = new Map<string, Map<string, ResourceWatches>>();

  /**
   * A watch begins.
   *
   * @param selection what it selects; `name`: the one name, if it selects by that.
   * @returns to be called once, when it has ended.
   */
  add(facts: ResourceFacts, { name = "" }: { readonly name: string | undefined }): () => void {
    // Events of one node's pods reach the watchers of this node only: too few to count for each pod.
    if (watchesOneNode(facts)) return () => undefined;
    const { group, resource, namespace } = facts;
    const watched = { group, resource, namespace, name };
    this.change(watched, 1);
    return () => this.change(watched, -1);
  }

  /** How many watches may get an event of a change: those of all objects, of its namespace, and of its name. */
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
