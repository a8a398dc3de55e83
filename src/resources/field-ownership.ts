import { FieldSet } from "../fields/apply/field-set.ts";
import {
  decodeManagedFields,
  encodeManagedFields,
  managerId,
  noManagedFields,
  type ManagedFields,
  type Manager,
} from "../fields/apply/managed-fields.ts";
import { updateFields, type Versions } from "../fields/apply/ownership.ts";
import { shapeOfStruct } from "../fields/apply/shape.ts";
import type { ApiObject, ManagedFieldsEntryValue } from "../schema/kind.ts";
import { kindContext, timestamp, type Engine, type Target, type WriteOptions } from "./engine.ts";
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

const ignoredEverywhere = new Map([
  ["f:apiVersion", FieldSet.leaf],
  ["f:kind", FieldSet.leaf],
  ["f:metadata", FieldSet.of(false, new Map(serverMetadata.map((name) => [`f:${name}`, FieldSet.leaf])))],
]);
const ignored = FieldSet.of(false, ignoredEverywhere);
const ignoredWithStatus = FieldSet.of(false, new Map([...ignoredEverywhere, ["f:status", FieldSet.leaf]]));

/** Fields that a write to the target can't own. */
export function ignoredFields({ resource, subresource }: Target): FieldSet {
  const hasStatus = Object.hasOwn(resource.kind.subresources, "status");
  return hasStatus && subresource !== "status" ? ignoredWithStatus : ignored;
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
    convert: (object, from, to) => {
      // What isn't there yet isn't there in any version.
      if (isEmpty(object)) return {};
      const context = kindContext(engine, target);
      const hub = inStoredVersion(find(from)!, structuredClone(object) as ApiObject, context);
      return fromStored(find(to)!, hub, context);
    },
  };
}

/**
 * Records who owns what after a write of a whole object (spec: conventions 4.10). Changes the object's managed fields.
 *
 * @param live what stood; undefined for a new object.
 */
export function recordOwnership(
  engine: Engine,
  target: Target,
  object: ApiObject,
  live: ApiObject | undefined,
  options: WriteOptions,
): void {
  const base = baseOf(object, live);
  const manager = managerOf(target, options, "Update");
  const { requested = target.resource } = target;
  const shown = (one: ApiObject | undefined) =>
    one === undefined
      ? {}
      : fromStored(
          requested,
          requested === target.resource ? one : structuredClone(one),
          kindContext(engine, target),
        );
  const owners = updateFields(shown(live), shown(object), base.owners, versionsOf(engine, target), {
    manager: managerId(manager),
    version: manager.apiVersion,
    ignored: ignoredFields(target),
  });
  setManagedFields(object, encodeManagedFields(owners, base, manager, timestamp(engine.clock)));
}

/** Sets or drops the managed fields of an object. */
export function setManagedFields({ metadata }: ApiObject, entries: readonly ManagedFieldsEntryValue[]): void {
  if (entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = [...entries];
}

/**
 * Who owned what before a write. A client that sends entries is believed; a list with one empty entry clears them; no list
 * leaves them.
 */
function baseOf(object: ApiObject, live: ApiObject | undefined): ManagedFields {
  const sent = object.metadata.managedFields;
  if (sent === undefined || sent.length === 0) return managedFieldsOf(live);
  return isReset(sent) ? noManagedFields : decodeManagedFields(sent);
}

/** The managed fields of an object; of none, none. */
export function managedFieldsOf(object: ApiObject | undefined): ManagedFields {
  return decodeManagedFields(object?.metadata.managedFields);
}

function isReset(entries: readonly ManagedFieldsEntryValue[]): boolean {
  return entries.length === 1 && Object.keys(entries[0]!).length === 0;
}

function isEmpty(object: unknown): boolean {
  return Object.keys(object as object).length === 0;
}
