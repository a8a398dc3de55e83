import { jsonOf, isObject, type JsonObject } from "../../../base/json/value.ts";
import { objectAs } from "../../../schema/api-object.ts";
import { labelKey } from "../../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { builtInKinds } from "../../../kinds/all.ts";
import { decodeEntry, encodeObject } from "../../../resources/objects/stored.ts";
import { isStored, keyOf, namesOf, resourceOf, type Resource } from "../../../resources/registry/registry.ts";
import { checkFields } from "../../../schema/check.ts";
import type { KindContext } from "../../../schema/context.ts";
import { decode, TypeFault } from "../../../schema/decode.ts";
import { FieldReport } from "../../../schema/faults.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { endHistory } from "../../../storage/history/history-store.ts";
import { countersOf } from "../../../storage/keys.ts";
import type { Draft, Entry, Store } from "../../../storage/store.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { NameTranslation } from "./names.ts";
import { automanagedLabel } from "../../../aggregation/api-services.ts";
import { ownKeys, type OwnKeys } from "../../../server/listening/own-keys.ts";
import { serverOptionsOf } from "../../../server/options/library-options.ts";
import { startServer } from "../../../server/server.ts";
import { systemClock } from "../../../base/time/clock.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";

/** Result of {@link convertStore}. */
export interface StoreConversion {
  /** Number of objects with another key or content. */
  readonly changed: number;
  readonly unchanged: number;
  /** Number of objects that the server creates again. */
  readonly leftOut: number;
  /** Reasons why objects can't be converted; if there are any, the store must not be used. */
  readonly refusals: readonly string[];
  /** Places that may need a change by hand. */
  readonly notes: readonly string[];
}

/** Number of objects that are read and written at once. */
const pageSize = 500;

/**
 * Gives the objects of a store the names of another vocabulary. Objects that a server creates by itself are deleted, and so is the history
 * that the store keeps.
 *
 * @param features whether a feature gate is enabled, for the validation of the results.
 */
export async function convertStore(
  store: Store,
  source: Vocabulary,
  target: Vocabulary,
  features: KindContext["enabled"],
): Promise<StoreConversion> {
  // Its objects have the names of the source, and no writes that lead to the target.
  await endHistory(store);
  const context = { vocabulary: target, enabled: features, subresource: "" };
  const conversion = new Conversion(await SystemObjects.of(source), source, context);
  const at = await store.latestRevision();
  let after: string | undefined;
  for (;;) {
    const { entries, more } = await store.range({ prefix: "/", at, after, limit: pageSize });
    await Promise.all(entries.map((entry) => conversion.convert(store, entry)));
    if (!more) return conversion.result;
    after = entries.at(-1)!.key;
  }
}

class Conversion {
  private readonly counts = { changed: 0, unchanged: 0, leftOut: 0 };
  private readonly refusals: string[] = [];
  private readonly notes: string[] = [];
  private readonly translation: NameTranslation;
  /** The resource types of both vocabularies by the store prefix in the source. */
  private readonly targets: ReadonlyMap<string, Resource>;

  constructor(
    private readonly system: SystemObjects,
    private readonly source: Vocabulary,
    private readonly context: KindContext,
  ) {
    this.translation = new NameTranslation(source, context.vocabulary);
    this.targets = targetsByPrefix(source, context.vocabulary);
  }

  get result(): StoreConversion {
    return { ...this.counts, refusals: this.refusals, notes: this.notes };
  }

  async convert(store: Store, entry: Entry): Promise<void> {
    const { key, revision } = entry;
    const object = jsonOf(decodeEntry(entry));
    const target = this.targets.get(countersOf(key).collection);
    if (target === undefined) return this.checkCustom(key, object);
    if (this.system.includes(entry, object)) {
      this.counts.leftOut++;
      return this.write(store, { kind: "delete", key, expected: revision });
    }
    const converted = this.translated(key, object, target);
    const problem = problemOf(target, converted, this.context);
    if (problem !== undefined) return void this.refusals.push(`${labelOf(key, object)}: ${problem}`);
    for (const path of this.translation.remaining(converted)) {
      this.notes.push(`${labelOf(key, object)}: ${path} has a name of the ${this.source.name} vocabulary`);
    }
    const { namespace = "", name = "" } = objectAs<ApiObject>(converted).metadata;
    const draft = encodeObject(target, objectAs<ApiObject>(converted));
    await this.move(store, entry, {
      key: keyOf(target, namespace, name),
      draft,
      label: labelOf(key, object),
    });
  }

  /** Writes an object under its new key. */
  private async move(
    store: Store,
    { key: from, revision }: Entry,
    { key, draft, label }: { readonly key: string; readonly draft: Draft; readonly label: string },
  ): Promise<void> {
    this.counts.changed++;
    if (key === from) return this.write(store, { kind: "update", key, expected: revision, draft });
    const created = await store.commit({ kind: "create", key, draft });
    if (!created.ok) {
      this.refusals.push(`${label}: there is an object with its name in the other vocabulary, ${key}`);
      return;
    }
    await this.write(store, { kind: "delete", key: from, expected: revision });
  }

  private async write(store: Store, change: Parameters<Store["commit"]>[0]): Promise<void> {
    const { ok } = await store.commit(change);
    if (!ok) throw new Error(`${change.key} changed during the conversion`);
  }

  /** Custom objects stay as they are, so they may have no names of the source vocabulary that the server reads. */
  private checkCustom(key: string, { metadata = {} }: JsonObject): void {
    if (isDeepStrictEqual(this.translation.object({ metadata }), { metadata })) {
      this.counts.unchanged++;
      return;
    }
    this.refusals.push(
      `${key}: the metadata of this custom object has names of the ${this.source.name} vocabulary, such as its namespace, ` +
        "a label or an owner; change or delete it first",
    );
  }

  private translated(key: string, object: JsonObject, target: Resource): JsonObject {
    const result = this.translation.object(object);
    const { namespace, name } = namesOf(key);
    const metadata = result["metadata"] as JsonObject;
    result["apiVersion"] = target.apiVersion;
    if (namespace !== "") metadata["namespace"] = this.translation.namespace(namespace);
    metadata["name"] =
      target.kind.name === "Namespace" ? this.translation.namespace(name) : this.translation.name(name);
    if (target.kind.name === "Namespace") this.translateNamespace(result, metadata);
    if (target.kind.name === "Secret") this.dropToken(result);
    return result;
  }

  private translateNamespace(result: JsonObject, metadata: JsonObject): void {
    const { vocabulary } = this.context;
    const labels = metadata["labels"];
    if (isObject(labels)) labels[labelKey(vocabulary.domain, "metadata.name")] = metadata["name"]!;
    const spec = result["spec"];
    if (!isObject(spec) || !Array.isArray(spec["finalizers"])) return;
    spec["finalizers"] = spec["finalizers"].map((one) =>
      one === this.source.namespaceFinalizer ? vocabulary.namespaceFinalizer : one,
    );
  }

  /** Deletes the token of a service account from its Secret: it names the former issuer. The controller issues another. */
  private dropToken(result: JsonObject): void {
    const { domain } = this.context.vocabulary;
    const data = result["data"];
    if (result["type"] === labelKey(domain, "service-account-token") && isObject(data)) delete data["token"];
  }
}

/** Returns the stored resource types of the built-in kinds in the target, by their store prefix in the source. */
function targetsByPrefix(source: Vocabulary, target: Vocabulary): ReadonlyMap<string, Resource> {
  const pairs = builtInKinds
    .map((kind) => [resourceOf(kind, source).stored, resourceOf(kind, target).stored] as const)
    .filter(([one]) => isStored(one));
  return new Map(pairs.map(([one, other]) => [one.storePrefix, other]));
}

/** Returns why the target vocabulary rejects an object; undefined if it doesn't. */
function problemOf({ kind }: Resource, object: JsonObject, context: KindContext): string | undefined {
  const report = FieldReport.start();
  try {
    const copy = decode(kind.type, structuredClone(object)).value as ApiObject;
    kind.validate?.(copy, report, context);
    checkFields(kind.type, copy, report, context);
    report.finishAtOnce();
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    return error.message;
  }
  const [fault] = report.faults;
  return fault === undefined
    ? undefined
    : `the ${context.vocabulary.name} vocabulary rejects it: ${fault.field}: ${fault.message}`;
}

function labelOf(key: string, { kind }: JsonObject): string {
  const { namespace, name } = namesOf(key);
  return `${kind as string} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

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
class SystemObjects {
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
        .map((entry) => [entry.key, jsonOf(decodeEntry(entry))] as const)
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
