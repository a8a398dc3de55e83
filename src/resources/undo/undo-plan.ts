import { qualifiedName } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { RevisionCompactedError, type Revision } from "../../storage/store.ts";
import { engineInVersion } from "../engine/conversion.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { decodeEntry } from "../objects/stored.ts";
import { ignoredFields } from "../ownership/field-ownership.ts";
import { namesOf } from "../registry/registry.ts";
import type { ChangedObject } from "./change-set.ts";
import { ObjectUndoing, type ObjectUndo } from "./undo-object.ts";

/** What an undo does with one object. */
export interface PlannedUndo extends ObjectUndo {
  readonly target: Target;
  readonly key: string;
  /** The current object. */
  readonly now: ApiObject | undefined;
}

/** Maximum number of writes of one object in a change set. */
const maxSteps = 1000;

/**
 * Computes the undo of a change set in one object, from the current state in the store of the engine.
 *
 * @throws {StatusError} Expired if the history has no longer a state that is needed; RequestEntityTooLarge for too many writes.
 */
export async function planUndo(engine: Engine, changed: ChangedObject): Promise<PlannedUndo> {
  const { resource, key, versions } = changed;
  const { namespace, name } = namesOf(key);
  const target: Target = { resource, namespace, name, subresource: "" };
  if (versions.length > maxSteps)
    throw new StatusError(
      "RequestEntityTooLarge",
      `${describe(target)}: the change set has ${versions.length} writes of it, and at most ${maxSteps} can be undone together`,
    );
  const store = engineInVersion(engine, resource).store;
  const floor = await engine.store.history!.floor(resource.storePrefix);
  const readAt = async (revision: Revision): Promise<ApiObject | undefined> => {
    try {
      // The version that was current at the floor may be older than it.
      const entry = await store.get(key, revision < floor ? floor : revision);
      return entry && decodeEntry(entry);
    } catch (error) {
      if (!(error instanceof RevisionCompactedError)) throw storeFailure(error);
      throw new StatusError(
        "Expired",
        `${describe(target)}: its state at resource version ${revision} is no longer kept, so the change can't be undone`,
      );
    }
  };
  const current = await store.get(key);
  const now = current && decodeEntry(current);
  const kind = { shape: shapeOfStruct(resource.kind.type), ignored: ignoredFields(target) };
  const undoing = new ObjectUndoing(now, kind);
  for (const { revision, deleted, previous } of versions) {
    const after = deleted ? undefined : await readAt(revision);
    const before = previous === 0 ? undefined : await readAt(previous);
    if (before !== undefined || after !== undefined) undoing.take({ before, after });
  }
  return { ...undoing.result(), target, key, now };
}

/** Names an object in messages: `configmaps "a" in namespace "b"`. */
export function describe({ resource, namespace, name }: Target): string {
  return `${qualifiedName(resource.name, resource.group)} ${JSON.stringify(name)}${namespace === "" ? "" : ` in namespace ${JSON.stringify(namespace)}`}`;
}
