import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../../base/json/value.ts";
import { automanagedLabel } from "../../../aggregation/api-services.ts";
import { decodeEntry } from "../../../resources/objects/stored.ts";
import { namesOf } from "../../../resources/registry/registry.ts";
import { ownKeys, type OwnKeys } from "../../../server/listening/own-keys.ts";
import { serverOptionsOf } from "../../../server/options/library-options.ts";
import { startServer } from "../../../server/server.ts";
import { systemClock } from "../../../base/time/clock.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { Entry } from "../../../storage/store.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

/** Kinds of default objects that a server creates at each start if they are missing. */
const recreatedKinds: ReadonlySet<string> = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "FlowSchema",
  "LimitRange",
  "PriorityClass",
  "PriorityLevelConfiguration",
  "Role",
  "RoleBinding",
]);

/** Recognizes the objects that a server creates by itself in each vocabulary. */
export class SystemObjects {
  /** Keys of the objects with which a server publishes its address. */
  private readonly own: OwnKeys;

  private constructor(
    private readonly vocabulary: Vocabulary,
    private readonly defaults: ReadonlyMap<string, JsonObject>,
  ) {
    this.own = ownKeys(vocabulary);
  }

  /** Reads the default objects of a vocabulary from a new server in memory. */
  static async of(vocabulary: Vocabulary): Promise<SystemObjects> {
    const store = createMemoryStore({ clock: systemClock, retentionMs: Infinity });
    const server = await startServer(
      serverOptionsOf({ vocabulary: vocabulary.name, port: false, storage: store }),
    );
    try {
      const { entries } = await store.range({ prefix: "/" });
      const defaults = entries
        .map((entry) => [entry.key, decodeEntry(entry) as unknown as JsonObject] as const)
        .filter(([, { kind }]) => recreatedKinds.has(kind as string));
      return new SystemObjects(
        vocabulary,
        new Map(defaults.map(([key, object]) => [key, contentOf(object)])),
      );
    } finally {
      await server.close();
    }
  }

  /** Whether the next start creates the object again: an unchanged default, or one that describes the running server. */
  includes(entry: Entry, object: JsonObject): boolean {
    const content = this.defaults.get(entry.key);
    if (content !== undefined) return isDeepStrictEqual(content, contentOf(object));
    return this.describesServer(entry, object);
  }

  private describesServer({ key }: Entry, { kind, metadata }: JsonObject): boolean {
    const { namespace, name } = namesOf(key);
    const { systemNamespace, rootAuthorityConfigMap } = this.vocabulary;
    switch (kind) {
      case "APIService":
        return isObject(metadata) && isObject(metadata["labels"])
          ? metadata["labels"][automanagedLabel(this.vocabulary)] !== undefined
          : false;
      case "ConfigMap":
        return (
          name === rootAuthorityConfigMap ||
          (namespace === systemNamespace && name === "extension-apiserver-authentication")
        );
      default:
        return this.own.has(key);
    }
  }
}

/** Returns an object without the parts of its metadata that differ on each server. */
function contentOf({ metadata, ...rest }: JsonObject): JsonObject {
  const { labels = {}, annotations = {}, finalizers = [] } = isObject(metadata) ? metadata : {};
  return { ...rest, metadata: { labels, annotations, finalizers } };
}
