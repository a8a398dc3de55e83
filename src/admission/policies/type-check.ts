import { compile } from "../../cel/compile.ts";
import { SchemaTypes } from "../../cel/schema-types.ts";
import { dyn, type CelType } from "../../cel/types.ts";
import { resourceOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { policyEnvironment } from "./environment.ts";
import { turnGiver } from "../../base/turns.ts";
import type { Policy } from "./policy.ts";

/** With more kinds than these an expression isn't checked. */
const maxKinds = 10;
/** More warnings than these tell nothing new. */
const maxWarnings = 20;

/**
 * What the expressions of a policy ask of the kinds that its rules name, and these don't have: a warning for each expression and
 * kind. Rules with wildcards name no kinds. Objects are shown to expressions as JSON, so times and bytes are texts.
 */
export async function* typeWarnings(
  policy: Policy,
  registry: Registry,
  vocabulary: Vocabulary,
): AsyncGenerator<string> {
  const giveTurn = turnGiver();
  let left = maxWarnings;
  const types = new SchemaTypes("plain");
  const params = paramsType(policy, registry, types);
  const kinds = kindsOf(policy, registry, vocabulary);
  for (const [index, { expression }] of policy.validations.entries()) {
    for (const resource of kinds) {
      await giveTurn();
      const environment = policyEnvironment({ object: types.of(resource.kind.type), params });
      const fault = compile(expression, environment).faults?.[0];
      if (fault === undefined) continue;
      if (left-- === 0) return;
      const place = `spec.validations[${index}].expression`;
      yield `${place}: ${resource.apiVersion}, Kind=${resource.kind.name}: ${fault.message}`;
    }
  }
}

function paramsType({ paramKind }: Policy, registry: Registry, types: SchemaTypes): CelType | undefined {
  if (paramKind === undefined) return undefined;
  const found = registry.findKind(paramKind.apiVersion, paramKind.kind);
  return found === undefined ? dyn : types.of(found.kind.type);
}

/** The kinds that rules without wildcards match; none where they are too many. */
function kindsOf({ constraints }: Policy, registry: Registry, vocabulary: Vocabulary): Resource[] {
  const found = new Map<string, Resource>();
  for (const { apiGroups, apiVersions, resources } of constraints.rules) {
    for (const group of apiGroups ?? []) {
      for (const version of apiVersions ?? []) {
        for (const name of resources ?? []) {
          const [resource = "", subresource = ""] = name.split("/", 2);
          const served = registry.find(group, version, resource);
          const kind = served && kindOf(served, subresource, vocabulary);
          if (kind === undefined) continue;
          found.set(`${kind.apiVersion} ${kind.kind.name}`, kind);
          if (found.size > maxKinds) return [];
        }
      }
    }
  }
  return [...found.values()];
}

function kindOf(resource: Resource, subresource: string, vocabulary: Vocabulary): Resource | undefined {
  if (subresource === "") return resource;
  const { subresources } = resource.kind;
  const declared = Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined;
  if (declared === undefined || declared.shape === "connect") return undefined;
  return declared.shape === undefined ? resource : resourceOf(declared.kind(), vocabulary);
}
