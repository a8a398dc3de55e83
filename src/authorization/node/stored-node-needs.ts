import type { NodeNeeds } from "./node-authorizer.ts";
import { NodeGraph } from "./node-graph.ts";
import { attachedNode, podReferences, volumeReferences } from "./references.ts";
import type { Clock } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf, type Registry } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { mirrorAnnotation } from "../../kinds/core/pod/annotation-rules.ts";
import { storage } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";

/** Builds the graph from the stored pods, persistent volumes and volume attachments. */
export class StoredNodeNeeds implements NodeNeeds {
  readonly graph = new NodeGraph();
  private readonly followers: readonly Follower[];

  /** @param failed called when a resource can't be listed or watched; the follower retries. */
  constructor(store: Store, registry: Registry, clock: Clock, failed: (error: unknown) => void) {
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
      if (prefix === undefined) return [];
      const handler = {
        put: (entry: Entry) => put(entry.key, decodeEntry(entry)),
        remove,
        failed,
      };
      return [new Follower(store, prefix, handler, clock)];
    };
    const nameOf = (key: string) => namesOf(key).name;
    this.followers = [
      ...follow(
        "",
        "pods",
        (key, pod) => graph.setPod(key, podReferences(pod, mirror)),
        (key) => graph.setPod(key, undefined),
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
