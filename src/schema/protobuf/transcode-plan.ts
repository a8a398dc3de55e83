import type { ScalarName, StructType, Type } from "../types.ts";
import { elementWriter, planOf, type Part, type Plan, type Write } from "./encode-message.ts";

/** How a value is transcoded; `tree` values are decoded and encoded. */
export type Form =
  | "text"
  | "struct"
  | "list"
  | "map"
  | "bool"
  | "integer"
  | "quantity"
  | "time"
  | "intOrString"
  | "bytes"
  | "json"
  | "inlined"
  | "tree";

/** How a field is transcoded. */
export interface FieldPlan {
  /** Index of the part in the plan of the struct. */
  readonly partIndex: number;
  readonly number: number;
  readonly form: Form;
  /**
   * Whether a field with a lower number may follow in canonical JSON. The field is then skipped, and written after the fields with
   * lower numbers.
   */
  readonly isDeferred: boolean;
  /** Plan of the elements of a list or map. */
  readonly element: FieldPlan | undefined;
  /** Plan of a struct or an inlined message. */
  readonly struct: StructPlan | undefined;
  /** Writes the decoded value with its tag. */
  readonly write: Write;
  /** Size of the length of the previous value in bytes: the guess for the next one. */
  lengthBytes: number;
}

/** Fields that stored objects have first, regardless of their number ({@link ../../resources/objects/stored.ts}). */
const storedFirst: ReadonlySet<string> = new Set(["resourceVersion"]);

/** How a struct is transcoded. */
export class StructPlan {
  /** The encodings of all absent parts, concatenated, and their offsets. */
  readonly absent: Uint8Array;
  readonly absentAt: readonly number[];
  readonly parts: number;
  /** Sentinel before the first field; its `next` is the first field of the previous object. */
  readonly start = new NamedField("", undefined);
  /** Hash table of the fields by name, with open addressing and four times as many slots. */
  private readonly fields: (NamedField | undefined)[];
  private readonly mask: number;

  /** @param declared field names in the order of canonical JSON. */
  constructor(plan: Plan, declared: readonly string[]) {
    this.absent = plan.absent;
    this.absentAt = plan.absentOffsets;
    this.parts = plan.parts.length;
    let size = 4;
    while (size < plan.partIndexes.size * 4) size *= 2;
    this.mask = size - 1;
    this.fields = Array.from<NamedField | undefined>({ length: size });
    const order = declared.filter((name) => plan.partIndexes.has(name));
    const plansByPart = new Map<number, FieldPlan>();
    let lowest = Infinity;
    for (const name of order.toReversed()) {
      const partIndex = plan.partIndexes.get(name)!;
      const isDeferred = partIndex > lowest || storedFirst.has(name);
      lowest = Math.min(lowest, partIndex);
      const field =
        plansByPart.get(partIndex) ?? fieldPlan(partIndex, plan.parts[partIndex]!, isDeferred, declared);
      plansByPart.set(partIndex, field);
      this.put(new NamedField(name, field));
    }
  }

  /** Returns the field whose name is at a position. @param hash {@link hashStep} over the bytes of the name. */
  find(bytes: Buffer, from: number, hash: number): NamedField | undefined {
    const { mask, fields } = this;
    for (let at = (hash ^ (hash >>> 8)) & mask; ; at = (at + 1) & mask) {
      const field = fields[at];
      if (field === undefined || field.isAt(bytes, from)) return field;
    }
  }

  private put(named: NamedField): void {
    let hash = 0;
    for (const byte of named.name.subarray(0, -1)) hash = hashStep(hash, byte);
    let at = (hash ^ (hash >>> 8)) & this.mask;
    while (this.fields[at] !== undefined) at = (at + 1) & this.mask;
    this.fields[at] = named;
  }
}

/** Adds a byte to the hash of a name; starts with 0. */
export function hashStep(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

/** A field name with its plan; the fields of an inlined message share one plan. */
export class NamedField {
  /** Name with the closing quote. */
  readonly name: Buffer;
  /** The field that followed this one in the previous object: objects of a kind mostly have the same fields. */
  next: NamedField | undefined = undefined;

  /** @param plan undefined for the sentinel before the first field. */
  constructor(
    name: string,
    readonly plan: FieldPlan | undefined,
  ) {
    this.name = Buffer.from(`${name}"`);
  }

  /** Whether the name is at a position. */
  isAt(bytes: Buffer, from: number): boolean {
    const { name } = this;
    for (let index = 0; index < name.length; index++) {
      if (bytes[from + index] !== name[index]) return false;
    }
    return true;
  }
}

const structPlans = new WeakMap<StructType, StructPlan>();

/** Returns the plan of a struct, cached per type. */
export function structPlanOf(type: StructType): StructPlan {
  let plan = structPlans.get(type);
  if (plan === undefined) {
    plan = new StructPlan(planOf(type), Object.keys(type.fields));
    structPlans.set(type, plan);
  }
  return plan;
}

function fieldPlan(
  partIndex: number,
  { number, content, write }: Part,
  isDeferred: boolean,
  declared: readonly string[],
): FieldPlan {
  if (!("shape" in content)) {
    const struct = new StructPlan(content, declared);
    return new PlannedField({ place: partIndex, number, form: "inlined", early: isDeferred, write, struct });
  }
  return new PlannedField({
    place: partIndex,
    number,
    form: formOf(content),
    early: isDeferred,
    write,
    type: content,
  });
}

interface PlannedFieldInit {
  readonly place: number;
  readonly number: number;
  readonly form: Form;
  readonly early: boolean;
  readonly write: Write;
  readonly type?: Type;
  readonly struct?: StructPlan;
}

/** Structs may be recursive, so nested plans are created on demand. */
class PlannedField implements FieldPlan {
  readonly partIndex: number;
  readonly number: number;
  readonly form: Form;
  readonly isDeferred: boolean;
  readonly write: Write;
  lengthBytes = 1;
  private readonly type: Type | undefined;
  private structPlan: StructPlan | undefined;
  private elementPlan: FieldPlan | undefined;

  constructor({ place, number, form, early, write, type, struct }: PlannedFieldInit) {
    this.partIndex = place;
    this.number = number;
    this.form = form;
    this.isDeferred = early;
    this.write = write;
    this.type = type;
    this.structPlan = struct;
    this.elementPlan = undefined;
  }

  get struct(): StructPlan | undefined {
    if (this.structPlan === undefined && this.type?.shape === "struct") {
      this.structPlan = structPlanOf(this.type);
    }
    return this.structPlan;
  }

  get element(): FieldPlan | undefined {
    const { type } = this;
    if (this.elementPlan === undefined && type?.shape === "list") {
      this.elementPlan = elementPlan(this.number, type.element);
    } else if (this.elementPlan === undefined && type?.shape === "map") {
      this.elementPlan = elementPlan(2, type.value);
    }
    return this.elementPlan;
  }
}

function elementPlan(number: number, type: Type): FieldPlan {
  // A list inside of a list or map is rare.
  const form = type.shape === "list" ? "tree" : formOf(type);
  return new PlannedField({
    place: 0,
    number,
    form,
    early: false,
    write: elementWriter(number, type),
    type,
  });
}

function formOf(type: Type): Form {
  if (type.shape === "scalar") return scalarForms[type.name];
  return type.shape === "union" ? "tree" : type.shape;
}

const scalarForms: Readonly<Record<ScalarName, Form>> = {
  string: "text",
  bool: "bool",
  int32: "integer",
  int64: "integer",
  double: "tree",
  bytes: "bytes",
  time: "time",
  microTime: "time",
  duration: "tree",
  quantity: "quantity",
  intOrString: "intOrString",
  json: "json",
  object: "json",
  fieldsV1: "json",
};
