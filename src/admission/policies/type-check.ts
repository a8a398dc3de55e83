import { compile } from "../../cel/compile.ts";
import { SchemaTypes } from "../../cel/schema-types.ts";
import { bool, dyn, string, type CelType } from "../../cel/types.ts";
import { resourceOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { declaredName } from "./declared-variables.ts";
import { policyEnvironment, type PolicyPrograms, type PolicyVariables } from "./environment.ts";
import { createYielder } from "../../base/yielding.ts";
import type { Policy } from "./policy.ts";

/** Policies that match more kinds are not checked. */
const maxKinds = 10;
/** Maximum number of warnings for one policy. */
const maxWarnings = 20;

/**
 * Yields a warning for each expression and matching kind if the expression uses a field that the kind doesn't have. Rules with
 * wildcards are skipped. Expressions see objects as JSON, so times and bytes are strings.
 */
export async function* typeWarnings(
  policy: Policy,
  programs: PolicyPrograms,
  registry: Registry,
  vocabulary: Vocabulary,
): AsyncGenerator<string> {
  const yieldIfDue = createYielder();
  let remaining = maxWarnings;
  const types = new SchemaTypes("plain");
  const params = paramsType(policy, registry, types);
  const kinds = kindsOf(policy, registry, vocabulary).map((resource) => {
    const variables = { ...policy.base, params, object: types.of(resource.kind.type) };
    return { resource, variables, declared: new Map<string, CelType>() };
  });
  const check = (text: string, variables: PolicyVariables, result: CelType | undefined) =>
    compile(text, { ...policyEnvironment(variables, result), language: programs.language("stored") });
  for (const { variables, declared } of kinds) {
    for (const { name, expression } of policy.variables) {
      await yieldIfDue();
      const { program } = check(expression.text, { ...variables, declared }, undefined);
      declared.set(declaredName(name), program?.type ?? dyn);
    }
  }
  for (const { path, text, result } of checkedTexts(policy)) {
    for (const { resource, variables, declared } of kinds) {
      await yieldIfDue();
      const fault = check(text, { ...variables, declared }, result).faults?.[0];
      if (fault === undefined) continue;
      if (remaining-- === 0) return;
      yield `${path}: ${resource.apiVersion}, Kind=${resource.kind.name}: ${fault.message}`;
    }
  }
}

/** The expressions that are checked, with their required types. */
function* checkedTexts({ validations }: Policy): Generator<{
  readonly path: string;
  readonly text: string;
  readonly result: CelType;
}> {
  for (const [index, { expression, messageExpression }] of validations.entries()) {
    const path = `spec.validations[${index}]`;
    yield { path: `${path}.expression`, text: expression.text, result: bool };
    if (messageExpression === undefined) continue;
    yield { path: `${path}.messageExpression`, text: messageExpression.text, result: string };
  }
}

function paramsType({ paramKind }: Policy, registry: Registry, types: SchemaTypes): CelType | undefined {
  if (paramKind === undefined) return undefined;
  const resource = registry.findKind(paramKind.apiVersion, paramKind.kind);
  return resource === undefined ? dyn : types.of(resource.kind.type);
}

/** Returns the kinds that rules without wildcards match; none if there are more than {@link maxKinds}. */
function kindsOf({ constraints }: Policy, registry: Registry, vocabulary: Vocabulary): Resource[] {
  const kinds = new Map<string, Resource>();
  for (const { apiGroups, apiVersions, resources } of constraints.rules) {
    for (const group of apiGroups ?? []) {
      for (const version of apiVersions ?? []) {
        for (const name of resources ?? []) {
          const [resource = "", subresource = ""] = name.split("/", 2);
          const served = registry.find(group, version, resource);
          const kind = served && kindOf(served, subresource, vocabulary);
          if (kind === undefined) continue;
          kinds.set(`${kind.apiVersion} ${kind.kind.name}`, kind);
          if (kinds.size > maxKinds) return [];
        }
      }
    }
  }
  return [...kinds.values()];
}

function kindOf(resource: Resource, subresource: string, vocabulary: Vocabulary): Resource | undefined {
  if (subresource === "") return resource;
  const { subresources } = resource.kind;
  const declared = Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined;
  if (declared === undefined || declared.shape === "connect") return undefined;
  return declared.shape === undefined ? resource : resourceOf(declared.kind(), vocabulary);
}
