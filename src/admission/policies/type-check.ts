import { compile, type Compiled } from "../../cel/compile.ts";
import { SchemaTypes } from "../../cel/types/schema-types.ts";
import { bool, dyn, string, type CelType } from "../../cel/types/types.ts";
import { resourceOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { declaredName } from "./declared-variables.ts";
import { policyEnvironment, type PolicyPrograms, type PolicyVariables } from "./environment.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Policy } from "./policy.ts";

/** Maximum number of kinds that are checked. */
const maxKinds = 10;
/** Maximum number of warnings for one policy. */
const maxWarnings = 20;
/** Maximum length of all warnings in a status, in characters. */
const maxStatusLength = 256 * 1024;

/** An error of an expression for one of the kinds that the policy matches. */
interface TypeFault {
  readonly path: string;
  readonly text: string;
  readonly resource: Resource;
  readonly fault: NonNullable<Compiled["faults"]>[number];
}

/** A warning in the status of a policy. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/**
 * Yields a warning for each expression and matching kind if the expression uses a field that the kind doesn't have. Rules with
 * wildcards are skipped, and a policy with more than 10 kinds isn't checked. For releases whose policies have no status.
 */
export async function* typeWarnings(
  policy: Policy,
  programs: PolicyPrograms,
  registry: Registry,
  vocabulary: Vocabulary,
): AsyncGenerator<string> {
  let remaining = maxWarnings;
  const kinds = kindsOf(policy, registry, vocabulary);
  if (kinds.length > maxKinds) return;
  for await (const { path, resource, fault } of typeFaults(policy, programs, registry, kinds, true)) {
    if (remaining-- === 0) return;
    yield `${path}: ${resource.apiVersion}, Kind=${resource.kind.name}: ${fault.message}`;
  }
}

/**
 * Returns the warnings of a policy as the controller of the reference writes them to its status: for the first 10 kinds that its rules
 * name without wildcards and subresources, by group, version and kind.
 */
export async function statusWarnings(
  policy: Policy,
  programs: PolicyPrograms,
  registry: Registry,
  vocabulary: Vocabulary,
): Promise<ExpressionWarning[]> {
  const kinds = kindsOf(policy, registry, vocabulary, false).slice(0, maxKinds).toSorted(byIdentity);
  const texts = new Map<string, string[]>();
  let length = 0;
  for await (const { path, text, resource, fault } of typeFaults(policy, programs, registry, kinds, false)) {
    const warning = `${resource.group}/${resource.version}, Kind=${resource.kind.name}: compilation failed: ${faultText(fault, text)}\n`;
    length += warning.length;
    if (length > maxStatusLength) break;
    const others = texts.get(path);
    if (others === undefined) texts.set(path, [warning]);
    else others.push(warning);
  }
  return [...texts].map(([fieldRef, warnings]) => ({ fieldRef, warning: warnings.join("\n") }));
}

/** Formats an error with the line of the expression and a mark, as the reference does. */
function faultText({ message, line, column }: TypeFault["fault"], text: string): string {
  const source = text.split("\n")[line - 1] ?? "";
  return `ERROR: <input>:${line}:${column}: ${message}\n | ${source}\n | ${".".repeat(column - 1)}^`;
}

function byIdentity(one: Resource, other: Resource): number {
  const [first, second] = [one, other].map(({ group, version, kind }) => [group, version, kind.name]) as [
    string[],
    string[],
  ];
  const differing = first.findIndex((part, index) => part !== second[index]);
  return differing < 0 ? 0 : first[differing]! < second[differing]! ? -1 : 1;
}

/**
 * Checks the expressions against the types of kinds. Expressions see objects as JSON, so times and bytes are strings.
 *
 * @param withResults whether the types of the results are checked too.
 */
async function* typeFaults(
  policy: Policy,
  programs: PolicyPrograms,
  registry: Registry,
  resources: readonly Resource[],
  withResults: boolean,
): AsyncGenerator<TypeFault> {
  const yieldIfDue = createYielder();
  const types = new SchemaTypes("plain");
  const params = paramsType(policy, registry, types);
  const kinds = resources.map((resource) => {
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
      const fault = check(text, { ...variables, declared }, withResults ? result : undefined).faults?.[0];
      if (fault !== undefined) yield { path, text, resource, fault };
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

/**
 * Returns the kinds that rules without wildcards match; at most one more than {@link maxKinds}.
 *
 * @param withSubresources whether subresources count.
 */
function kindsOf(
  { constraints }: Policy,
  registry: Registry,
  vocabulary: Vocabulary,
  withSubresources = true,
): Resource[] {
  const kinds = new Map<string, Resource>();
  for (const { apiGroups, apiVersions, resources } of constraints.rules) {
    for (const group of apiGroups ?? []) {
      for (const version of apiVersions ?? []) {
        for (const name of resources ?? []) {
          const [resource = "", subresource = ""] = name.split("/", 2);
          if (subresource !== "" && !withSubresources) continue;
          const served = registry.find(group, version, resource);
          const kind = served && kindOf(served, subresource, vocabulary);
          if (kind === undefined) continue;
          kinds.set(`${kind.apiVersion} ${kind.kind.name}`, kind);
          if (kinds.size > maxKinds) return [...kinds.values()];
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
