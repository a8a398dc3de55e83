import { jsonOf } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import type { MergeStrategy } from "../../fields/merge/merge-fields.ts";
import { fieldDifferences } from "../../fields/undo/field-differences.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { markerDraft, markerKey } from "../../storage/derived/hidden-keys.ts";
import type { Entry, Revision, Store, TransactionLimits, Write } from "../../storage/store.ts";
import { draftBytes } from "../../storage/transaction.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { decodeEntry, encodeObject } from "../objects/stored.ts";
import { ignoredFields } from "../ownership/field-ownership.ts";
import type { Resource } from "../registry/registry.ts";
import { changedKeys, prepareRegistries, readObjectAt, targetOf } from "./branch.ts";
import type { MergedObject } from "./merge-branch.ts";
import { mergeObject, type ObjectMerge } from "./merge-object.ts";

/** The state of a base. */
interface BaseState {
  readonly store: Store;
  readonly at: Revision;
}

/** What to rebase. */
export interface RebaseInput {
  /** The engine of the workspace. */
  readonly engine: Engine;
  /** Has the keys that the workspace has written or hidden. */
  readonly own: Store;
  /** The state with which the workspace begins. */
  readonly start: BaseState;
  /** The state with which it will begin. */
  readonly next: BaseState;
  /** How conflicts are resolved: `ours` is the workspace, `theirs` its base. */
  readonly strategy: MergeStrategy | undefined;
  /** Of the writes that the rebase may need. */
  readonly limits: TransactionLimits;
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** What a rebase does. */
export interface RebasePlan {
  /** The objects that the workspace has of its own and that change or conflict. */
  readonly objects: readonly MergedObject[];
  /** Writes in the own store. */
  readonly writes: readonly Write[];
}

/**
 * Computes the writes of a workspace's own values with which it has the same changes over another state of its base. Only keys that both
 * the workspace and the base have changed need some.
 *
 * @throws {StatusError} RequestEntityTooLarge above the limits.
 */
export async function planRebase(input: RebaseInput): Promise<RebasePlan> {
  const { engine, own, limits, pause } = input;
  await prepareRegistries(engine.registry);
  const objects: MergedObject[] = [];
  const writes: Write[] = [];
  let bytes = 0;
  for await (const key of changedKeys(own, await own.latestRevision())) {
    await pause();
    const planned = await new KeyRebase(input, key).plan();
    if (planned === undefined) continue;
    writes.push(...planned.writes);
    bytes += draftBytes(planned.writes);
    if (writes.length > limits.writes || bytes > limits.bytes)
      throw new StatusError(
        "RequestEntityTooLarge",
        `the rebase needs more than ${limits.writes} writes or ${limits.bytes} bytes, the limits of a transaction; nothing was written`,
      );
    const { object } = planned;
    if (object !== undefined && (object.action !== "none" || object.conflicts.length > 0))
      objects.push(object);
  }
  return { objects, writes };
}

/** A key that the workspace has written or hidden. */
class KeyRebase {
  constructor(
    private readonly input: RebaseInput,
    private readonly key: string,
  ) {}

  /** Returns undefined if the base has the same value at both states. */
  async plan(): Promise<{ readonly writes: readonly Write[]; readonly object?: MergedObject } | undefined> {
    const { start, next, own, engine } = this.input;
    const before = await start.store.get(this.key, start.at);
    const after = await next.store.get(this.key, next.at);
    if (before?.revision === after?.revision) return undefined;
    const value = await own.get(this.key);
    const marker = await own.get(markerKey(this.key));
    const resource = engine.registry.ofKey(this.key);
    // What isn't an object of a served kind stays.
    if (resource === undefined) return { writes: this.writes(value, marker, after, value && "keep") };
    const target = targetOf(resource, this.key);
    const merge = await this.merge(resource, target, before, after);
    const object: MergedObject = {
      ...merge,
      target,
      key: this.key,
      now: value && decodeEntry(value),
      dropped: [],
    };
    return {
      writes: this.writes(value, marker, after, this.desired(resource, target, merge, value, after)),
      object,
    };
  }

  private async merge(
    resource: Resource,
    target: Target,
    before: Entry | undefined,
    after: Entry | undefined,
  ): Promise<ObjectMerge> {
    const { start, next, engine, own, strategy } = this.input;
    const over = (store: Store): Engine => ({ ...engine, store });
    const [base, theirs] = [
      before && (await readObjectAt(over(start.store), resource, this.key, start.at)),
      after && (await readObjectAt(over(next.store), resource, this.key, next.at)),
    ];
    const ours = await readObjectAt(over(own), resource, this.key);
    const kind = { shape: shapeOfStruct(resource.kind.type), ignored: ignoredFields(target) };
    return mergeObject({ base, theirs, ours }, kind, strategy);
  }

  /** Returns the own value: what to write, `keep`, or undefined for none; a deleted key stays hidden. */
  private desired(
    resource: Resource,
    target: Target,
    { action, object, fields }: ObjectMerge,
    value: Entry | undefined,
    after: Entry | undefined,
  ): ApiObject | "keep" | "show" | undefined {
    if (action === "delete") return undefined;
    // The deleted object appears again.
    if (action === "create") return "show";
    const result = value === undefined ? undefined : action === "none" ? decodeEntry(value) : object!;
    if (result === undefined) return undefined;
    const shape = shapeOfStruct(resource.kind.type);
    const base = after && decodeEntry(after);
    const isBase =
      base !== undefined &&
      base.metadata.uid === result.metadata.uid &&
      fieldDifferences(jsonOf(base), jsonOf(result), shape, ignoredFields(target)).length === 0;
    if (isBase) return "show";
    if (action === "none") return "keep";
    const { managedFields } = decodeEntry(value!).metadata;
    const { generation } = result.metadata;
    const isNewGeneration = generation !== undefined && fields.some(({ path }) => path[0] !== "f:metadata");
    return {
      ...result,
      metadata: {
        ...result.metadata,
        ...(managedFields && { managedFields }),
        ...(isNewGeneration && { generation: generation + 1 }),
      },
    };
  }

  /** Returns the writes of the own value, and of the marker, which exists if and only if it hides a value of the new base. */
  private writes(
    value: Entry | undefined,
    marker: Entry | undefined,
    after: Entry | undefined,
    desired: ApiObject | "keep" | "show" | undefined,
  ): Write[] {
    const { key } = this;
    const writes: Write[] = [];
    if (value !== undefined && (desired === undefined || desired === "show"))
      writes.push({ kind: "delete", key, expected: value.revision });
    else if (typeof desired === "object") {
      const draft = encodeObject(this.input.engine.registry.ofKey(key)!, desired);
      writes.push({ kind: "update", key, expected: value!.revision, draft });
    }
    const hides = after !== undefined && desired !== "show";
    const conditions = value === undefined || writes.length > 0 ? [] : [{ key, revision: value.revision }];
    if (marker !== undefined && !hides)
      writes.push({ kind: "delete", key: markerKey(key), expected: marker.revision, conditions });
    if (marker === undefined && hides)
      writes.push({ kind: "create", key: markerKey(key), draft: markerDraft(after, undefined), conditions });
    return writes;
  }
}
