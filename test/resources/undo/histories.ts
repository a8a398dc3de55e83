import { FieldSet } from "../../../src/fields/apply/field-set.ts";
import { updateFields, type Owners, type Versions } from "../../../src/fields/apply/ownership.ts";
import { managerId } from "../../../src/fields/apply/manager.ts";
import { shapeOfStruct } from "../../../src/fields/apply/shape.ts";
import {
  ObjectUndoing,
  type ObjectStep,
  type ObjectUndo,
  type UndoKind,
} from "../../../src/resources/undo/undo-object.ts";
import { objectAs } from "../../../src/schema/api-object.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { struct } from "../../../src/schema/meta.ts";
import { ObjectMeta } from "../../../src/schema/object-meta.ts";
import { field, map, string } from "../../../src/schema/types.ts";
import { encodeFieldSet, thingFields } from "../../fields/apply/support.ts";

const Thing = struct("Thing", "", {
  ...thingFields,
  metadata: field(20, ObjectMeta, ""),
  status: field(21, map(string), ""),
});

const fields = (names: readonly string[], below = FieldSet.leaf) =>
  FieldSet.of(false, new Map(names.map((name) => [`f:${name}`, below] as const)));
const serverMetadata = fields(["name", "uid", "resourceVersion", "creationTimestamp", "managedFields"]).union(
  fields(["deletionTimestamp", "deletionGracePeriodSeconds", "generation"]),
);

/** The kind of the objects in histories: it has a field of each shape. */
export const thingKind: UndoKind = {
  shape: shapeOfStruct(Thing),
  ignored: fields(["apiVersion", "kind", "status"]).union(fields(["metadata"], serverMetadata)),
};

/** A write in the history of one object. */
export interface HistoryStep extends ObjectStep {
  readonly manager: string;
}

/** Contents of an object without what the server sets. */
export type Contents = Record<string, unknown> & { metadata?: Record<string, unknown> };

const versions: Versions = {
  shape: (version) => (version === "v1" ? thingKind.shape : undefined),
  convert: (objects) => objects,
  canonical: (object) => object,
};

/** The history of an object, with the managed fields as a server records them. */
export class History {
  readonly steps: HistoryStep[] = [];
  now: ApiObject | undefined;
  private owners: Owners = new Map();
  private uids = 0;
  private revision = 0;

  /** Records a write that leaves the object with contents; undefined deletes it. A write that changes nothing has no step. */
  write(manager: string, contents: Contents | undefined): void {
    const before = this.now;
    const after = contents === undefined ? undefined : this.stored(manager, contents, before);
    if (before === undefined && after === undefined) return;
    if (after !== undefined && same(after, before)) return;
    this.now = after;
    this.steps.push({ manager, before, after });
  }

  private stored(manager: string, contents: Contents, before: ApiObject | undefined): ApiObject {
    const id = managerId({ name: manager, operation: "Update", apiVersion: "v1", subresource: "" });
    const live = before ?? {};
    const owners = before === undefined ? new Map() : this.owners;
    const write = { manager: id, version: "v1", ignored: thingKind.ignored };
    this.owners = updateFields(live, contents, owners, versions, write).owners;
    const managedFields = [...this.owners].map(([owner, { set }]) => {
      const [name] = JSON.parse(owner) as [string];
      return {
        manager: name,
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: encodeFieldSet(set),
      };
    });
    const uid = before?.metadata.uid ?? `uid-${++this.uids}`;
    const metadata = {
      ...contents.metadata,
      name: "a",
      uid,
      resourceVersion: String(++this.revision),
      managedFields,
    };
    return objectAs<ApiObject>({ apiVersion: "v1", kind: "Thing", ...structuredClone(contents), metadata });
  }

  /** Returns the steps of a manager, newest first. */
  stepsOf(manager: string): HistoryStep[] {
    return this.steps.filter((step) => step.manager === manager).toReversed();
  }
}

function same(a: ApiObject, b: ApiObject | undefined): boolean {
  return b !== undefined && JSON.stringify(contentsOf(a)) === JSON.stringify(contentsOf(b));
}

/** Returns an object without what the server sets. */
export function contentsOf(object: ApiObject): Contents;
export function contentsOf(object: ApiObject | undefined): Contents | undefined;
export function contentsOf(object: ApiObject | undefined): Contents | undefined {
  if (object === undefined) return undefined;
  const { apiVersion: _a, kind: _k, metadata, ...rest } = object;
  const { uid: _u, resourceVersion: _r, managedFields: _m, name: _n, ...own } = metadata;
  return { ...rest, ...(Object.keys(own).length === 0 ? {} : { metadata: { ...own } }) };
}

/** Takes writes back, newest first. */
export function undoObject(
  steps: readonly ObjectStep[],
  now: ApiObject | undefined,
  kind: UndoKind,
): ObjectUndo {
  const undoing = new ObjectUndoing(now, kind);
  for (const step of steps) undoing.take(step);
  return undoing.result();
}
