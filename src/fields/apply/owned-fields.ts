import { readFieldSet, FieldSet } from "./field-set.ts";
import { type Shape, shapeBelow } from "./shape.ts";

/**
 * Adapts a recorded set to the current shape (spec: conventions 4.10; `ReconcileFieldSetWithSchema` of structured-merge-diff).
 * The schema may have changed since the set was recorded. If a field became atomic, the owner of a part owns the whole. If an
 * atomic field became granular, its owner keeps the path of the field and owns none of its parts, so the parts cause no conflict.
 *
 * @returns the same set if no change is needed.
 */
export function reconcileWithShape(set: FieldSet, shape: Shape): FieldSet {
  if (set.children.size === 0) return set;
  if (becameAtomic(set, shape)) return FieldSet.leaf;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of set.children) {
    const reconciled = reconcileChild(element, below, shape);
    if (reconciled === below) continue;
    children ??= new Map(set.children);
    if (reconciled.isEmpty) children.delete(element);
    else children.set(element, reconciled);
  }
  return children === undefined ? set : FieldSet.of(set.isMember, children);
}

function reconcileChild(element: string, below: FieldSet, shape: Shape): FieldSet {
  if (!element.startsWith(elementPrefixes[shape.kind])) return FieldSet.empty;
  const shapeOfChild = shapeBelow(shape, element);
  // A field that is no longer declared stays: a later schema may declare it again.
  return shapeOfChild === undefined ? below : reconcileWithShape(below, shapeOfChild);
}

/** Prefixes of the path elements of each shape. */
const elementPrefixes = {
  struct: "f:",
  map: "f:",
  deduced: "f:",
  set: "v:",
  items: "k:",
  leaf: "-",
} as const;

/** Whether a set has fields below a path that is now atomic. Without a schema, lists are atomic. */
function becameAtomic({ children }: FieldSet, { kind }: Shape): boolean {
  if (kind !== "deduced") return kind === "leaf";
  for (const element of children.keys()) if (!element.startsWith(elementPrefixes.deduced)) return true;
  return false;
}

/** The fields that one manager owns, with their paths in one version of the object. */
export interface OwnedFields {
  readonly version: string;
  readonly set: FieldSet;
}

/** The owners of the fields of one object, by manager id. Managers without fields are absent. */
export type Owners = ReadonlyMap<string, OwnedFields>;

/** Maximum number of fields that `mayHaveAny` searches for in the text; above it decoding the set is faster. */
const fewFields = 16;

/** The fields of a stored entry. The set is decoded at first use, because most writes affect the fields of few managers. */
export class StoredFields implements OwnedFields {
  private decoded: FieldSet | undefined;
  private wasReconciled = false;

  /**
   * @param text the set as text of {@link fieldSetText}.
   * @param read decodes the text; may use a cache.
   * @param shape the current shape of the object; may differ from the shape at the time of recording.
   */
  constructor(
    readonly version: string,
    readonly text: string,
    private readonly read: (text: string) => FieldSet = readFieldSet,
    private readonly shape?: Shape,
  ) {}

  get set(): FieldSet {
    if (this.decoded === undefined) {
      const set = this.read(this.text);
      this.decoded = this.shape === undefined ? set : reconcile(set, this.shape);
      this.wasReconciled = this.decoded !== set;
    }
    return this.decoded;
  }

  /** The reconciled fields: this if the recorded set fits the shape, otherwise a new set to store. */
  get reconciled(): OwnedFields {
    const { version, set } = this;
    return this.wasReconciled ? { version, set } : this;
  }

  /** Returns the same fields, reconciled with a shape. */
  withShape(shape: Shape): StoredFields {
    return new StoredFields(this.version, this.text, this.read, shape);
  }

  /** Returns false if none of the fields is in the set. May return true without decoding the set. */
  mayHaveAny(fields: FieldSet): boolean {
    if (this.decoded !== undefined) return true;
    const names = lastElements(fields, []);
    return names.length > fewFields || names.some((name) => this.text.includes(name));
  }
}

/** Sets that need no reconciliation with a shape; cached because many objects share a set. */
const unchangedFor = new WeakMap<FieldSet, Shape>();

function reconcile(set: FieldSet, shape: Shape): FieldSet {
  if (unchangedFor.get(set) === shape) return set;
  const reconciled = reconcileWithShape(set, shape);
  if (reconciled === set) unchangedFor.set(set, shape);
  return reconciled;
}

/** Returns the last elements of the paths in a set as JSON strings; stops above `fewFields`. */
function lastElements(set: FieldSet, result: string[]): string[] {
  for (const [element, below] of set.children) {
    if (result.length > fewFields) break;
    if (below.isMember) result.push(JSON.stringify(element));
    lastElements(below, result);
  }
  return result;
}

/** Reconciles the fields of all owners with the current shapes; see {@link reconcileWithShape}. */
export function reconcileOwners(owners: Owners, shapeOf: (version: string) => Shape | undefined): Owners {
  if (owners.size === 0) return owners;
  const reconciled = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    const shape = shapeOf(owned.version);
    if (shape === undefined) reconciled.set(manager, owned);
    else if (owned instanceof StoredFields) reconciled.set(manager, owned.withShape(shape));
    else {
      const set = reconcileWithShape(owned.set, shape);
      if (!set.isEmpty) reconciled.set(manager, set === owned.set ? owned : { version: owned.version, set });
    }
  }
  return reconciled;
}
