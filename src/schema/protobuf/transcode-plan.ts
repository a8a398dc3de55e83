import type { ScalarName, StructType, Type } from "../types.ts";
import { elementWriter, planOf, type Part, type Plan, type Write } from "./encode-message.ts";

/** How a value is read from JSON and written; `tree` stands for all that is decoded and encoded as a value. */
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
  /** Of the part in the struct's plan. */
  readonly place: number;
  readonly number: number;
  readonly form: Form;
  /**
   * Whether a field of a lower number follows in canonical JSON, or may: then it is passed over, and written when its number's
   * turn comes.
   */
  readonly early: boolean;
  /** Of a list or map. */
  readonly element: FieldPlan | undefined;
  /** Of a struct or an inlined message. */
  readonly struct: StructPlan | undefined;
  /** Writes the decoded value with its tag. */
  readonly write: Write;
  /** How many bytes the length of the last value took. */
  lengthBytes: number;
}

/** The first fields that objects are stored with, whatever their number ({@link ../../resources/objects/stored.ts}). */
const storedFirst: ReadonlySet<string> = new Set(["resourceVersion"]);

/** How a struct is transcoded. */
export class StructPlan {
  /** What stands for the parts that are absent, and where that of each begins. */
  readonly absent: Uint8Array;
  readonly absentAt: readonly number[];
  readonly parts: number;
  /** Stands before the first field: what follows it is the first one that objects had lately. */
  readonly start = new NamedField("", undefined);
  /** The fields, at places given by a number made of the name; there are four times as many places. */
  private readonly fields: (NamedField | undefined)[];
  private readonly mask: number;

  /** @param declared the names of the struct's fields, in the order of canonical JSON. */
  constructor(plan: Plan, declared: readonly string[]) {
    this.absent = plan.absent;
    this.absentAt = plan.absentAt;
    this.parts = plan.parts.length;
    let size = 4;
    while (size < plan.places.size * 4) size *= 2;
    this.mask = size - 1;
    this.fields = Array.from<NamedField | undefined>({ length: size });
    const order = declared.filter((name) => plan.places.has(name));
    const made = new Map<number, FieldPlan>();
    let lowest = Infinity;
    for (const name of order.toReversed()) {
      const place = plan.places.get(name)!;
      const early = place > lowest || storedFirst.has(name);
      lowest = Math.min(lowest, place);
      const field = made.get(place) ?? fieldPlan(place, plan.parts[place]!, early, declared);
      made.set(place, field);
      this.put(new NamedField(name, field));
    }
  }

  /** The field whose name begins at a place, if there is one. @param hash of {@link hashStep} over its bytes. */
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

/** The number of a name, byte by byte, from 0 on. */
export function hashStep(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

/** A field under its name; those of an inlined message share its plan. */
export class NamedField {
  /** With the closing quote. */
  readonly name: Buffer;
  /** The field that stood behind this one lately: objects of a kind mostly have the same fields. */
  next: NamedField | undefined = undefined;

  /** @param plan undefined for what stands before the first field. */
  constructor(
    name: string,
    readonly plan: FieldPlan | undefined,
  ) {
    this.name = Buffer.from(`${name}"`);
  }

  /** Whether the name stands at a place. */
  isAt(bytes: Buffer, from: number): boolean {
    const { name } = this;
    for (let index = 0; index < name.length; index++) {
      if (bytes[from + index] !== name[index]) return false;
    }
    return true;
  }
}

const structPlans = new WeakMap<StructType, StructPlan>();

/** How a struct is transcoded; worked out once a type. */
export function structPlanOf(type: StructType): StructPlan {
  let found = structPlans.get(type);
  if (found === undefined) {
    found = new StructPlan(planOf(type), Object.keys(type.fields));
    structPlans.set(type, found);
  }
  return found;
}

function fieldPlan(
  place: number,
  { number, content, write }: Part,
  early: boolean,
  declared: readonly string[],
): FieldPlan {
  if (!("shape" in content)) {
    const struct = new StructPlan(content, declared);
    return new PlannedField({ place, number, form: "inlined", early, write, struct });
  }
  return new PlannedField({ place, number, form: formOf(content), early, write, type: content });
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

/** Structs may hold themselves, so the plans of what is inside are made when they are first needed. */
class PlannedField implements FieldPlan {
  readonly place: number;
  readonly number: number;
  readonly form: Form;
  readonly early: boolean;
  readonly write: Write;
  lengthBytes = 1;
  private readonly type: Type | undefined;
  private structPlan: StructPlan | undefined;
  private elementPlan: FieldPlan | undefined;

  constructor({ place, number, form, early, write, type, struct }: PlannedFieldInit) {
    this.place = place;
    this.number = number;
    this.form = form;
    this.early = early;
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
  // A list inside a list or map is a message of its own, and rare.
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
