import { readFieldSet, type FieldSet } from "./field-set.ts";
import type { Shape } from "./shape.ts";
import { fitToShape } from "./topology.ts";

/** The fields that one manager owns, named as they are in one version of the object. */
export interface OwnedFields {
  readonly version: string;
  readonly set: FieldSet;
}

/** Who owns which fields of one object. Managers that own nothing aren't there. */
export type Owners = ReadonlyMap<string, OwnedFields>;

/** Maximum number of fields for which searching a text for each is worthwhile. */
const fewFields = 16;

/** The fields that a stored entry names. Most writes touch the fields of few owners, so a set is read when it is asked for. */
export class StoredFields implements OwnedFields {
  private known: FieldSet | undefined;
  private hadToFit = false;

  /**
   * @param text the set as {@link fieldSetText} wrote it.
   * @param read reads the text, and may know its set from before.
   * @param shape how the object is declared now, which may not be as it was when the set was recorded.
   */
  constructor(
    readonly version: string,
    readonly text: string,
    private readonly read: (text: string) => FieldSet = readFieldSet,
    private readonly shape?: Shape,
  ) {}

  get set(): FieldSet {
    if (this.known === undefined) {
      const set = this.read(this.text);
      this.known = this.shape === undefined ? set : fitted(set, this.shape);
      this.hadToFit = this.known !== set;
    }
    return this.known;
  }

  /** The same fields, to be stored anew where they had to be made to fit. */
  get fitted(): OwnedFields {
    const { version, set } = this;
    return this.hadToFit ? { version, set } : this;
  }

  /** The same fields as far as they fit the shape of the object. */
  asDeclared(shape: Shape): StoredFields {
    return new StoredFields(this.version, this.text, this.read, shape);
  }

  /** False only if surely none of some fields is in the set. */
  mayHold(fields: FieldSet): boolean {
    if (this.known !== undefined) return true;
    const names = lastElements(fields, []);
    return names.length > fewFields || names.some((name) => this.text.includes(name));
  }
}

/** Sets that were found to fit, with what they fit: those of texts that many objects have are met again and again. */
const fits = new WeakMap<FieldSet, Shape>();

function fitted(set: FieldSet, shape: Shape): FieldSet {
  if (fits.get(set) === shape) return set;
  const fit = fitToShape(set, shape);
  if (fit === set) fits.set(set, shape);
  return fit;
}

/** Returns the last elements of the paths in a set, as in the text form. */
function lastElements(set: FieldSet, result: string[]): string[] {
  for (const [element, below] of set.children) {
    if (result.length > fewFields) break;
    if (below.isMember) result.push(JSON.stringify(element));
    lastElements(below, result);
  }
  return result;
}

/** The same owners of what the object's versions declare now; see {@link fitToShape}. */
export function ownersAsDeclared(owners: Owners, shapeOf: (version: string) => Shape | undefined): Owners {
  if (owners.size === 0) return owners;
  const fitted = new Map<string, OwnedFields>();
  for (const [manager, owned] of owners) {
    const shape = shapeOf(owned.version);
    if (shape === undefined) fitted.set(manager, owned);
    else if (owned instanceof StoredFields) fitted.set(manager, owned.asDeclared(shape));
    else {
      const set = fitToShape(owned.set, shape);
      if (!set.isEmpty) fitted.set(manager, set === owned.set ? owned : { version: owned.version, set });
    }
  }
  return fitted;
}
