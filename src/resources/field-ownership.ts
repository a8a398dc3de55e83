import { deepEqual, type JsonValue, deepClone } from "../base/json/value.ts";
import { FieldSet, fieldElement } from "../fields/apply/field-set.ts";
import {
  areReadable,
  decodeManagedFields,
  encodeManagedFields,
  entryOfCreator,
  managerId,
  noManagedFields,
  unlessSame,
  type ManagedFields,
  type Manager,
} from "../fields/apply/managed-fields.ts";
import {
  entriesOf,
  noManagedFieldsText,
  type ManagedFieldsText,
} from "../fields/apply/managed-fields-text.ts";
import { textOfFields } from "../fields/apply/fields-text.ts";
import { updateFields, type Versions } from "../fields/apply/ownership.ts";
import { shapeOfStruct } from "../fields/apply/shape.ts";
import { decode } from "../schema/decode.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import type { ApiObject, ManagedFieldsEntryValue, PartSubresource } from "../schema/kind.ts";
import type { StructType } from "../schema/types.ts";
import { kindContext, type Engine, type Target, type WriteOptions } from "./engine.ts";
import { checkManagerName } from "./manager-name.ts";
import type { Resource } from "./registry.ts";
import { fromStored, inStoredVersion } from "./versions.ts";

/** Fields of every object that the server sets, so that nobody owns them. */
const serverMetadata = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
];

const ignoredIdentity = [
  ["f:apiVersion", FieldSet.leaf],
  ["f:kind", FieldSet.leaf],
] as const;
const ignoredEverywhere = FieldSet.of(
  false,
  new Map([...ignoredIdentity, ["f:metadata", allOf(serverMetadata)]]),
);
const ignoredWithStatus = ignoredEverywhere.union(allOf(["status"]));
const ignoredInParts = new WeakMap<StructType, Map<string, FieldSet>>();

function allOf(names: readonly string[]): FieldSet {
  return FieldSet.of(false, new Map(names.map((name) => [fieldElement(name), FieldSet.leaf])));
}

/** Fields that a write to the target can't own: those that the server sets, and those that it can't change. */
export function ignoredFields({ resource: { kind }, subresource }: Target): FieldSet {
  const part = subresource === "" ? undefined : kind.subresources[subresource];
  if (part === undefined || part.shape !== undefined) {
    return Object.hasOwn(kind.subresources, "status") ? ignoredWithStatus : ignoredEverywhere;
  }
  let known = ignoredInParts.get(kind.type);
  if (known === undefined) ignoredInParts.set(kind.type, (known = new Map()));
  let found = known.get(subresource);
  if (found === undefined) {
    const others = changesStatus(subresource)
      ? Object.keys(kind.type.fields).filter((name) => name !== "status" && name !== "metadata")
      : ["status"];
    found = ignoredMetadata(part).union(allOf(others));
    known.set(subresource, found);
  }
  return found;
}

/** What a write to a part can't own of type and metadata. */
function ignoredMetadata({ keepsMetadata = [] }: PartSubresource): FieldSet {
  const metadata = keepsMetadata === "all" ? FieldSet.leaf : allOf([...serverMetadata, ...keepsMetadata]);
  return FieldSet.of(false, new Map([...ignoredIdentity, ["f:metadata", metadata]]));
}

/** Whether a part of an object is in its status; else it is in what is wanted of it. */
function changesStatus(subresource: string): boolean {
  return subresource === "status" || subresource === "approval";
}

/** Who makes a write, as entries of managed fields name them. */
export function managerOf(
  target: Target,
  { fieldManager }: WriteOptions,
  operation: Manager["operation"],
): Manager {
  const { apiVersion } = target.requested ?? target.resource;
  return { name: fieldManager, operation, apiVersion, subresource: target.subresource };
}

/** The versions in which the target's objects can be seen. All objects given and taken are in the version they say. */
export function versionsOf(engine: Engine, target: Target): Versions {
  const { registry } = engine;
  const stored = target.requested?.stored ?? target.resource;
  const find = (version: string): Resource | undefined => {
    if (version === stored.apiVersion) return stored;
    const found = registry.findKind(version, stored.kind.name);
    return found?.stored.storePrefix === stored.storePrefix ? found : undefined;
  };
  return {
    shape: (version) => {
      const found = find(version);
      return found === undefined ? undefined : shapeOfStruct(found.kind.type);
    },
    canonical: (object, version) => decode(find(version)!.kind.type, object).value,
    convert: (object, from, to) => {
      // What isn't there yet isn't there in any version.
      if (isEmpty(object)) return {};
      const context = kindContext(engine, target);
      const source = find(from)!;
      // Conversions rely on what every whole object has; a part that is applied may lack it.
      const whole = decode(source.kind.type, object).value as ApiObject;
      const hub = inStoredVersion(source, whole, context);
      return fromStored(find(to)!, hub, context);
    },
  };
}

/** An object that stands, and who owns what of it; its metadata says nothing of that. */
export interface Standing {
  readonly object: ApiObject;
  readonly managed: ManagedFields;
}

/**
 * Who owns what after a write of a whole object (spec: conventions 4.10). Takes what its writer says of that from the
 * object's metadata.
 *
 * @param live what stood; undefined for a new object.
 */
export function recordOwnership(
  engine: Engine,
  target: Target,
  object: ApiObject,
  live: Standing | undefined,
  options: WriteOptions,
): ManagedFieldsText {
  const base = baseOf(target, object, live);
  delete object.metadata.managedFields;
  const manager = managerOf(target, options, "Update");
  const { requested = target.resource } = target;
  const shown = (one: ApiObject) =>
    requested === target.resource ? one : fromStored(requested, deepClone(one), kindContext(engine, target));
  const versions = versionsOf(engine, target);
  const ignored = ignoredFields(target);
  const now = engine.timestamps.now();
  if (live === undefined && base === noManagedFields) {
    const fields = textOfFields(shown(object), versions.shape(manager.apiVersion)!, ignored);
    return fields === "{}" ? noManagedFieldsText : entryOfCreator(manager, now, fields);
  }
  const write = { manager: managerId(manager), version: manager.apiVersion, ignored };
  const before = live === undefined ? {} : shown(live.object);
  const { owners, wrote } = updateFields(before, shown(object), base.owners, versions, write);
  return encodeManagedFields(owners, base, manager, now, wrote);
}

/**
 * The managed fields of an object after an apply: those that stand, where nothing but times would change. What admission
 * brings back each time is thus no change.
 */
export function ownershipOfApply(
  object: ApiObject,
  live: Standing,
  written: ManagedFieldsText,
): ManagedFieldsText {
  const kept = unlessSame(written, live.managed);
  return kept === written || sameButForVersion(object, live.object) ? kept : written;
}

/** Whether two objects say the same, but for their resource version and who owns what of them. */
export function sameButForVersion(a: ApiObject, b: ApiObject): boolean {
  const bare = (object: ApiObject) => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: undefined },
  });
  return deepEqual(bare(a) as unknown as JsonValue, bare(b) as unknown as JsonValue);
}

/** An object as clients see it, with the entries of its owners. */
export function withOwnership(object: ApiObject, managed: ManagedFields): ApiObject {
  const { stored } = managed;
  if (stored === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: entriesOf(stored) } };
}

/**
 * Who owned what before a write. A client that sends entries is believed; a list with one empty entry clears them; no list,
 * and one that can't be read, leaves them.
 *
 * @throws {StatusError} Invalid for entries that can be read and can't be kept.
 */
function baseOf(target: Target, object: ApiObject, live: Standing | undefined): ManagedFields {
  const { managed: standing = noManagedFields } = live ?? {};
  const sent = object.metadata.managedFields;
  if (sent === undefined || sent.length === 0) return standing;
  if (isReset(sent)) return noManagedFields;
  // Most clients send back what they read.
  if (standing.stored !== undefined && JSON.stringify(sent) === standing.stored.text) return standing;
  if (!areReadable(sent)) return standing;
  checkEntries(target, object, sent);
  return decodeManagedFields(sent);
}

/** The most characters of the subresource of an entry. */
const maxSubresourceLength = 256;

function checkEntries(
  { resource }: Target,
  { metadata }: ApiObject,
  entries: readonly ManagedFieldsEntryValue[],
): void {
  const report = FieldReport.start();
  for (const [index, { manager = "", subresource = "" }] of entries.entries()) {
    const place = report.at("metadata", "managedFields", index);
    checkManagerName(manager, place.at("manager"));
    if (subresource.length > maxSubresourceLength)
      place.at("subresource").tooLong(maxSubresourceLength, "characters");
  }
  if (report.faults.length === 0) return;
  throw invalidError(
    { kind: resource.kind.name, group: resource.group, name: metadata.name ?? "" },
    report.faults,
  );
}

function isReset(entries: readonly ManagedFieldsEntryValue[]): boolean {
  return entries.length === 1 && Object.keys(entries[0]!).length === 0;
}

function isEmpty(object: unknown): boolean {
  return Object.keys(object as object).length === 0;
}
