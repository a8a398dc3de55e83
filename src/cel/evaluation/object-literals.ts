import type { Substitution } from "../types/assignability.ts";
import { undeclared } from "../checking/checker-types.ts";
import { ConstructedObject } from "../values/collections.ts";
import { objectCost } from "../costs/object-cost.ts";
import { presentValue } from "./optional-access.ts";
import type { Step } from "./step.ts";
import type { Scope } from "../checking/scope.ts";
import { ExpressionError, type ObjectLiteral, type ObjectLiteralField } from "../syntax/syntax.ts";
import { dyn, typeText, type CelType, type ObjectType } from "../types/types.ts";
import { Fault, type Value } from "../values/values.ts";

/** Meter steps per field of an object. */
const stepsPerField = 10;

/**
 * Checks an object literal and returns its type.
 *
 * @param typeOf returns the type of the value of a field.
 * @throws {ExpressionError} an unknown type or field, or a value of another type.
 */
export function objectLiteralType(
  { name, fields, at }: ObjectLiteral,
  { constructed }: Scope,
  substitution: Substitution,
  typeOf: (field: ObjectLiteralField) => CelType,
): CelType {
  const type = constructed?.(name.startsWith(".") ? name.slice(1) : name);
  if (type === undefined) throw undeclared(name, at);
  for (const field of fields) {
    const valueType = typeOf(field);
    const declared = type.fields.get(field.name)?.type;
    if (declared === undefined) throw new ExpressionError(`undefined field '${field.name}'`, field.at);
    if (substitution.assigns([declared], [valueType])) continue;
    const [expected, actual] = [declared, valueType].map((one) => typeText(substitution.resolve(one)));
    throw new ExpressionError(
      `expected type of field '${field.name}' is '${expected}' but provided type is '${actual}'`,
      field.at,
    );
  }
  return type;
}

/** A field of an object literal, and how its value is evaluated. */
type PlannedField = Pick<ObjectLiteralField, "name" | "optional"> & { readonly step: Step };

/** Plans the construction of an object. */
export function planObject(
  { fields, type = dyn }: ObjectLiteral,
  plan: (value: ObjectLiteralField["value"]) => Step,
): Step {
  const planned = fields.map(({ name, value, optional }): PlannedField => ({
    name,
    optional,
    step: plan(value),
  }));
  return (evaluation) => {
    const values = new Map<string, Value>();
    evaluation.meter.work(planned.length * stepsPerField);
    for (const { name, optional, step } of planned) {
      const value = step(evaluation);
      const present = optional && !(value instanceof Fault) ? presentValue(value) : value;
      if (present instanceof Fault) return present;
      if (present !== undefined) values.set(name, present);
    }
    evaluation.meter.charge(objectCost);
    return new ConstructedObject(type as ObjectType, values);
  };
}
