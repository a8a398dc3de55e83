import { NodeGraph, objectKey, type NodeOwnedType } from "./node-graph.ts";
import { attachedNode, podReferences, volumeReferences } from "./references.ts";
import type { NodeNeeds } from "./relations.ts";
import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf, type Registry } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { mirrorAnnotation } from "../../kinds/core/pod/annotation-rules.ts";
import { certificates, resource as resources, storage } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";

/** What agents of later releases need; each false in the reference release. */
export interface LaterNodeNeeds {
  /** Whether agents read the resource claims of their pods. */
  readonly resourceClaims: boolean;
  /** Whether agents read only their own pods. */
  readonly ownPods: boolean;
}

/** Builds the graph from the stored pods, persistent volumes and volume attachments; in later releases from more kinds, if served. */
export class StoredNodeNeeds implements NodeNeeds {
  readonly graph = new NodeGraph();
  private readonly followers: Follower[];

  /**
   * @param failed called when a resource can't be listed or watched; the follower retries.
   * @param later undefined in the reference release.
   */
  constructor(
    store: Store,
    registry: Registry,
    clock: Clock,
    failed: (error: unknown) => void,
    later?: LaterNodeNeeds,
  ) {
    const { graph } = this;
    const { vocabulary } = registry;
    const mirror = mirrorAnnotation(registry);
    const follow = (
      group: string,
      resource: string,
      put: (key: string, object: unknown) => void,
      remove: (key: string) => void,
    ) => {
      const prefix = registry.find(group, "v1", resource)?.storePrefix;
      return prefix === undefined ? [] : [followPrefix(prefix, put, remove)];
    };
    const followPrefix: FollowPrefix = (prefix, put, remove) => {
      const handler = {
        put: (entry: Entry) => put(entry.key, decodeEntry(entry)),
        remove,
        failed,
      };
      return new Follower(store, prefix, handler, clock);
    };
    const nameOf = (key: string) => namesOf(key).name;
    const podKey = (key: string) => (later?.ownPods === true ? ownKey("pod", key) : key);
    this.followers = [
      ...follow(
        "",
        "pods",
        (key, pod) => graph.setPod(podKey(key), podReferences(pod, mirror, later?.resourceClaims)),
        (key) => graph.setPod(podKey(key), undefined),
      ),
      ...follow(
        "",
        "persistentvolumes",
        (key, volume) => graph.setVolume(nameOf(key), volumeReferences(volume)),
        (key) => graph.setVolume(nameOf(key), undefined),
      ),
      ...follow(
        groupName(storage, vocabulary),
        "volumeattachments",
        (key, attachment) => graph.setAttachment(nameOf(key), attachedNode(attachment)),
        (key) => graph.setAttachment(nameOf(key), undefined),
      ),
    ];
    if (later !== undefined) this.followers.push(...followOwned(registry, graph, followPrefix));
  }

  /** Resolves when the graph contains all stored objects. */
  async start(): Promise<void> {
    for (const follower of this.followers) await follower.start();
  }

  sync(): MaybePromise<void> {
    return this.followers.reduce<MaybePromise<void>>(
      (previous, follower) => andThen(previous, () => follower.sync()),
      undefined,
    );
  }

  close(): void {
    for (const follower of this.followers) follower.close();
  }
}

type FollowPrefix = (
  prefix: string,
  put: (key: string, object: unknown) => void,
  remove: (key: string) => void,
) => Follower;

/** Follows the served kinds of later releases whose objects have a node. */
function followOwned(registry: Registry, graph: NodeGraph, follow: FollowPrefix): Follower[] {
  const types: ReadonlyMap<string, NodeOwnedType> = new Map([
    [`${groupName(resources, registry.vocabulary)}/resourceslices`, "resourceslice"],
    [`${groupName(certificates, registry.vocabulary)}/podcertificaterequests`, "podcertificaterequest"],
  ]);
  return registry.stored().flatMap(({ group, name, storePrefix }) => {
    const type = types.get(`${group}/${name}`);
    if (type === undefined) return [];
    return follow(
      storePrefix,
      (key, object) => graph.setNode(ownKey(type, key), attachedNode(object)),
      (key) => graph.setNode(ownKey(type, key), undefined),
    );
  });
}

function ownKey(type: NodeOwnedType, key: string): string {
  const { namespace, name } = namesOf(key);
  return objectKey(type, namespace, name);
}
