import { jsonOf, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { type Value, CelList } from "../../cel/values/values.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { Reinvocation } from "../webhooks/reinvocation.ts";
import { failureOf } from "./evaluation.ts";
import { EvaluationVariables } from "./evaluation-variables.ts";
import { forEachInvocation, type Invocation, type ReportFailure } from "./invocations.ts";
import { checkConditions } from "./match-conditions.ts";
import type { MutatingPolicy, Mutation } from "./mutating-policy.ts";
import { mutationDenial, MutationFailure, type MutationDenial } from "./mutation-failure.ts";
import type { MutationObserver } from "./policy-observer.ts";
import { PolicyInputs, type PolicyServices } from "./policy-inputs.ts";
import type { Candidate } from "./policy-set.ts";
import { StatusError } from "../../base/status-error.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import { ConstructedObject } from "../../cel/values/collections.ts";
import { JsonFault, jsonOfValue, typeNameFault } from "../../cel/values/json-of-value.ts";
import { atomicPaths, mergeConfiguration } from "../../fields/apply/merge-configuration.ts";
import { PartsFault } from "../../fields/apply/parts.ts";
import { shapeOfStruct } from "../../fields/apply/shape.ts";
import { applyJsonPatch } from "../../fields/json-patch.ts";
import { FailedTest, PatchFault } from "../../fields/patch-fault.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { decode, TypeFault } from "../../schema/decode.ts";
import type { ReviewObjects } from "../webhooks/review-objects.ts";

/** The policies that a request has passed, for the second round. */
class PolicyReinvocation extends Reinvocation {}

type MutationInvocation = Invocation<MutatingPolicy>;

/** Dependencies of the evaluation of mutating policies. */
export interface MutationServices extends PolicyServices {
  readonly mutationObserver: MutationObserver;
}

/** Evaluates the matching mutating policies for one request and changes its object, in one round. */
export class MutationEvaluation {
  private readonly inputs: PolicyInputs;
  private readonly denials: MutationDenial[] = [];

  constructor(
    private readonly services: MutationServices,
    private readonly request: AdmissionRequest,
  ) {
    this.inputs = new PolicyInputs(services, request);
  }

  /** @throws {StatusError} a policy with the failure policy `Fail` can't be evaluated. */
  async evaluate(candidates: readonly Candidate<MutatingPolicy>[]): Promise<void> {
    const invocations: MutationInvocation[] = [];
    const fail: ReportFailure<MutatingPolicy> = ({ policy, binding }, message) => {
      this.denials.push({ policy, binding: binding?.name, message, evaluated: false });
    };
    for (const candidate of candidates) {
      await forEachInvocation(this.inputs, candidate, fail, (one) => void invocations.push(one));
    }
    if (invocations.length > 0) await this.invokeAll(invocations);
    const denials = this.denials.filter(({ policy }) => !policy.ignoresFailures);
    if (denials.length > 0) throw mutationDenial(this.request, denials);
  }

  private async invokeAll(invocations: readonly MutationInvocation[]): Promise<void> {
    const { request } = this;
    const reinvocation = request.effects.state(PolicyReinvocation);
    if (request.reinvocation) reinvocation.begin(request);
    let mutated = false;
    for (const invocation of invocations) {
      await this.inputs.yieldIfDue();
      const { policy } = invocation;
      const id = idOf(invocation);
      if (!(await this.matches(invocation))) continue;
      if (request.reinvocation && !reinvocation.isNeeded({ id })) continue;
      const outcome = await this.invoke(invocation);
      if (outcome !== "failed") mutated = true;
      if (outcome === "changed") reinvocation.objectChanged();
      reinvocation.called({ id, reinvoked: policy.reinvoked });
    }
    // As in the reference, each policy with IfNeeded is evaluated twice if any mutation was applied.
    if (mutated) {
      reinvocation.objectChanged();
      request.effects.requestReinvocation();
    }
    reinvocation.end(request);
  }

  private async matches({ policy, binding, resource, params }: MutationInvocation): Promise<boolean> {
    if (policy.matchConditions.length === 0) return true;
    const base = await this.inputs.bindingsFor(policy, resource, params);
    const outcome = await checkConditions(policy.matchConditions, base, this.inputs.budget);
    if (outcome.error === undefined) return outcome.matches;
    this.denials.push({ policy, binding: binding.name, message: outcome.error, evaluated: true });
    return false;
  }

  /** Evaluates the mutations of a policy in order; `failed` if none could be applied. */
  private async invoke(invocation: MutationInvocation): Promise<"changed" | "unchanged" | "failed"> {
    const { policy, binding } = invocation;
    const { mutationObserver } = this.services;
    let outcome: "changed" | "unchanged" | "failed" = "failed";
    for (const mutation of policy.mutations) {
      await this.inputs.yieldIfDue();
      const startMs = performance.now();
      const seconds = () => (performance.now() - startMs) / 1000;
      try {
        const changed = await this.mutate(invocation, mutation);
        mutationObserver.mutated(policy, binding, "no_error", seconds());
        if (changed) this.inputs.objectChanged();
        if (changed || outcome === "changed") outcome = "changed";
        else outcome = "unchanged";
      } catch (error) {
        if (!(error instanceof MutationFailure)) throw error;
        mutationObserver.mutated(policy, binding, error.errorType, seconds());
        this.denials.push({ policy, binding: binding.name, message: error.message, evaluated: true });
      }
    }
    return outcome;
  }

  /** @throws {MutationFailure} the mutation can't be evaluated or applied. */
  private async mutate(
    { policy, resource, params }: MutationInvocation,
    mutation: Mutation,
  ): Promise<boolean> {
    const { inputs, request } = this;
    const base = await inputs.bindingsFor(policy, resource, params);
    const value = await this.valueOf(
      mutation,
      new EvaluationVariables(policy.variables, base, inputs.budget),
    );
    if (request.operation === "CONNECT") {
      throw new MutationFailure("the options of a connection can't be changed");
    }
    return applyMutation(mutation.type, inputs.objects, resource, value, this.inputs.yieldIfDue);
  }

  private async valueOf({ expression }: Mutation, variables: EvaluationVariables): Promise<Value> {
    const { budget } = this.inputs;
    const result = await variables.evaluate(expression);
    if (result?.outcome === "value") return result.value;
    if (result === undefined) {
      const why = formatFaults(expression.compiled.faults ?? []);
      throw new MutationFailure(`compilation failed: ${why}`, "compile_error");
    }
    throw new MutationFailure(
      failureOf(expression, result, budget),
      budget.isExhausted ? "out_of_budget" : "invalid_error",
    );
  }
}

/** Identifies a policy with a binding and parameters in one request. */
function idOf({ policy, binding, params }: MutationInvocation): string {
  const { namespace = "", name = "" } = params?.metadata ?? {};
  return JSON.stringify([policy.name, binding.name, namespace, name]);
}

/**
 * Applies the result of a mutation to the object of the request.
 *
 * @param resource the version in which the policy matches.
 * @param value the value of the expression.
 * @returns whether the object has changed.
 * @throws {MutationFailure} the result can't be applied; the object is unchanged.
 * @throws {StatusError} the changed object isn't one of its kind.
 * @throws {ObjectTooLarge} the changed object is larger than the store accepts.
 */
async function applyMutation(
  type: Mutation["type"],
  objects: ReviewObjects,
  resource: Resource,
  value: Value,
  yieldIfDue: YieldIfDue,
): Promise<boolean> {
  try {
    const object = jsonOf(await objects.copy(resource));
    await yieldIfDue();
    const patched =
      type === "JSONPatch"
        ? patchedObject(object, value, objects.typeIn(resource))
        : mergedObject(object, value, objects.typeIn(resource));
    await yieldIfDue();
    return await objects.replace(resource, patched);
  } catch (error) {
    if (error instanceof FailedTest) return false;
    if (error instanceof PatchFault) throw new MutationFailure(`JSON Patch: ${error.message}`);
    if (error instanceof PartsFault) throw new MutationFailure(`${untyped}: ${error.message}`);
    if (error instanceof JsonFault || error instanceof TypeFault) throw new MutationFailure(error.message);
    throw error;
  }
}

/** Begins the messages about configurations that don't have the type of the object. */
const untyped = "error applying patch: failed to convert patch object to typed object";

/** @throws {MutationFailure} the configuration has unknown fields, atomic parts or wrong types. */
function mergedObject(live: JsonObject, value: Value, { kind, apiVersion }: Resource): JsonValue {
  const configuration = jsonOfValue(value) as JsonObject;
  const typeFault = typeNameFault(value, "Object");
  if (typeFault !== undefined) throw new MutationFailure(`type mismatch: ${typeFault}`);
  const applied = { ...configuration, kind: kind.name, apiVersion };
  assertTyped(applied, kind);
  const shape = shapeOfStruct(kind.type);
  const atomics = atomicPaths(applied, shape);
  if (atomics.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${atomics.join(", ")}`;
    throw new MutationFailure(`error applying patch: invalid ApplyConfiguration: ${why}`);
  }
  return mergeConfiguration(live, applied, shape) as JsonValue;
}

function assertTyped(applied: JsonObject, { type }: Resource["kind"]): void {
  const nullPath = pathOfNull(applied, "");
  if (nullPath !== undefined) throw new MutationFailure(`${untyped}: ${nullPath}: null can't be applied`);
  let unknownFields: readonly string[];
  try {
    ({ unknownFields } = decode(type, applied));
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    throw new MutationFailure(`${untyped}: ${error.message}`);
  }
  const [unknown] = unknownFields;
  if (unknown !== undefined)
    throw new MutationFailure(`${untyped}: .${unknown}: field not declared in schema`);
}

/** Returns the path of the first null; the size of the configuration is limited. */
function pathOfNull(value: JsonValue, path: string): string | undefined {
  if (value === null) return path;
  if (typeof value !== "object") return undefined;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name}`;
    const nullPath = pathOfNull(member as JsonValue, path + step);
    if (nullPath !== undefined) return nullPath;
  }
  return undefined;
}

/**
 * @throws {PatchFault} the patch can't be applied.
 * @throws {StatusError} InternalError, as in the reference: the patched object has unknown fields.
 */
function patchedObject(live: JsonObject, value: Value, { kind }: Resource): JsonValue {
  const patched = applyJsonPatch(live, operationsOf(value));
  if (!isObject(patched)) throw internalError("the patched object is not an object");
  try {
    const [unknown] = decode(kind.type, patched).unknownFields;
    if (unknown === undefined || isCustom(kind)) return patched;
    throw internalError(`strict decoding error: unknown field ${JSON.stringify(unknown)}`);
  } catch (error) {
    if (!(error instanceof TypeFault)) throw error;
    throw internalError(error.message);
  }
}

function internalError(why: string): StatusError {
  return new StatusError("InternalError", `Internal error occurred: ${why}`);
}

/** Whether a kind has objects of which the server prunes unknown fields, so that they are no errors. */
function isCustom({ type }: { readonly type: { readonly open?: unknown } }): boolean {
  return type.open !== undefined;
}

/** Returns the operations of a JSON patch; members that an operation doesn't need are left out. */
function operationsOf(value: Value): JsonValue[] {
  if (!(value instanceof CelList)) throw new JsonFault("the expression must yield a list of JSONPatch");
  const operations = jsonOfValue(value) as JsonObject[];
  for (const [index, operation] of operations.entries()) {
    if (operation["from"] === "") delete operation["from"];
    const fault = operationFault(value.get(index));
    if (fault !== undefined) throw new MutationFailure(`type mismatch: ${fault}`);
  }
  return operations;
}

/** The value of an operation may have a constructed object, whose parts must have the types of their fields. */
function operationFault(operation: Value): string | undefined {
  if (!(operation instanceof ConstructedObject)) return undefined;
  const value = operation.fields.get("value");
  return value instanceof ConstructedObject ? typeNameFault(value, value.type.name) : undefined;
}
