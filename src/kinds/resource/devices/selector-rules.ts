import { applies, gate, since } from "../../../base/release-rows.ts";
import { defaultRelease } from "../../../base/releases.ts";
import { createYielder } from "../../../base/turns/yielding.ts";
import { compile, type Environment } from "../../../cel/compile.ts";
import { formatFaults } from "../../../cel/syntax/fault-text.ts";
import { includesFunction } from "../../../cel/functions/sets.ts";
import { languageOf, type Language } from "../../../cel/libraries.ts";
import { quantityType, semverType } from "../../../cel/types/opaque-types.ts";
import { bool, dyn, mapOf, objectType, string, typeText, type CelType } from "../../../cel/types/types.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";

const hasConsumableCapacity = applies(since("1.34", gate("DRAConsumableCapacity")));
const hasListAttributes = applies(since("1.36", gate("DRAListTypeAttributes")));

/** Limits of an expression: bytes of its text, and estimated cost of an evaluation. */
const maxExpressionBytes = 10 * 1024;
const maxExpressionCost = 1_000_000;

/** Maximum sizes of the parts of a device, for the estimate. */
const maxDomainLength = 63;
const maxNameLength = 32;
const maxEntries = 32;
const maxValueLength = 64;

/** An expression of a selector, or one that computes an attribute. */
export interface DeviceExpression {
  readonly text: string;
  readonly report: FieldReport;
  readonly computes: boolean;
}

/** The type of the variable `device`. */
function deviceType(context: KindContext): CelType {
  const sized = (type: CelType, maxSize: number) => ({ ...type, maxSize });
  const byName = (value: CelType) => mapOf(sized(string, maxNameLength), value, maxEntries);
  const byDomain = (value: CelType) => mapOf(sized(string, maxDomainLength), value, maxEntries);
  const fields = new Map<string, CelType>([
    ["driver", sized(string, maxDomainLength)],
    ["attributes", byDomain({ ...byName(sized(dyn, maxValueLength)), sizesMembers: true })],
    ["capacity", byDomain(byName(quantityType))],
  ]);
  if (hasConsumableCapacity(context)) fields.set("allowMultipleAllocations", bool);
  return objectType("DRADevice", () => {
    return new Map([...fields].map(([jsonName, type]) => [jsonName, { type, jsonName }]));
  });
}

/** Expressions over devices have `cel.bind` too, and `includes` for attributes with several values. */
function deviceLanguage(context: KindContext): Language {
  const { functions, features } = languageOf(context.release ?? defaultRelease, "new");
  const hasLists = hasListAttributes(context);
  return {
    functions: hasLists ? new Map([...functions, ...includesFunction]) : functions,
    features: { ...features, bindings: true },
  };
}

/** Compiles new expressions, and reports errors and those that may cost too much. Yields to the event loop. */
export async function checkExpressions(
  expressions: Iterable<DeviceExpression>,
  context: KindContext,
  claimReport?: FieldReport,
): Promise<void> {
  const device = deviceType(context);
  const environment: Environment = {
    variables: new Map([["device", device]]),
    language: deviceLanguage(context),
  };
  const yieldIfDue = createYielder();
  let totalCost = 0;
  for (const expression of expressions) {
    if (expression.report.full) return;
    const cost = checkExpression(expression, environment, device);
    if (expression.computes) totalCost += cost;
    await yieldIfDue();
  }
  if (totalCost > maxExpressionCost) {
    claimReport?.forbidden(
      "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit",
    );
  }
}

/** Returns the estimated cost of the expression. */
function checkExpression(
  { text, report, computes }: DeviceExpression,
  environment: Environment,
  device: CelType,
): number {
  if (Buffer.byteLength(text) > maxExpressionBytes) {
    report.tooLong(maxExpressionBytes);
    return 0;
  }
  const { program, faults } = compile(text, environment);
  if (program === undefined) {
    report.invalid(text, formatFaults(faults));
    return 0;
  }
  const fault = computes ? computedFault(program.type) : selectorFault(program.type);
  if (fault !== undefined) {
    report.invalid(text, `${fault}, not ${typeText(program.type)}`);
    return 0;
  }
  const cost = program.estimateCost(device).max;
  if (cost > maxExpressionCost) report.forbidden("too complex, exceeds cost limit");
  return cost;
}

function selectorFault({ is }: CelType): string | undefined {
  return is === "bool" || is === "dyn" ? undefined : "must evaluate to bool or the unknown type";
}

const scalars: ReadonlySet<string> = new Set(["bool", "int", "string", "dyn"]);

function computedFault(type: CelType): string | undefined {
  const isScalar = (one: CelType) => scalars.has(one.is) || one === semverType;
  if (isScalar(type) || (type.is === "list" && isScalar(type.element))) return undefined;
  return "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars";
}
