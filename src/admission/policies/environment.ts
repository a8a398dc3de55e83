import type { JsonValue } from "../../base/json/value.ts";
import { applies, since } from "../../base/release-rows.ts";
import { type Release } from "../../base/releases.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { compile, type Compiled, type Environment } from "../../cel/compile.ts";
import { languageOf, withoutCheckSelectors, type ExpressionUse, type Language } from "../../cel/libraries.ts";
import { authorizerType, resourceCheckType } from "../../cel/types/opaque-types.ts";
import {
  bool,
  dyn,
  int,
  listOf,
  mapOf,
  objectType,
  string,
  timestamp,
  typeText,
  type CelType,
  type ObjectType,
} from "../../cel/types/types.ts";
import { patchTypeOf, withPatchFunctions } from "../../cel/types/patch-types.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { optionsOf, requestAttributes, versionAttributes } from "../webhooks/review-request.ts";
import { PolicyExpression, type NamedExpression } from "./policy-expression.ts";
import type { ReviewObjects } from "../webhooks/review-objects.ts";

const hasNamespaceObject = applies(since("1.28"));
const hasAuthorizer = applies(since("1.27"));

function fieldsOf(name: string, fields: Readonly<Record<string, CelType>>): ObjectType {
  return objectType(
    name,
    () => new Map(Object.entries(fields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
  );
}

const groupVersionKind = fieldsOf("GroupVersionKind", { group: string, version: string, kind: string });
const groupVersionResource = fieldsOf("GroupVersionResource", {
  group: string,
  version: string,
  resource: string,
});

/** The type of the variable `request`: the members of an AdmissionReview request without uid and objects. */
const requestType = fieldsOf("AdmissionRequest", {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: string,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: fieldsOf("UserInfo", {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

/** The type of the variable `namespaceObject`. */
const namespaceType = fieldsOf("Namespace", {
  metadata: fieldsOf("NamespaceMetadata", {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: fieldsOf("NamespaceSpec", { finalizers: listOf(string) }),
  status: fieldsOf("NamespaceStatus", { phase: string }),
});

/** What the environment of an expression depends on. */
export interface PolicyVariables {
  /** Type of the objects, if it is known. */
  readonly object?: CelType;
  /** Type of the parameters; undefined for policies without parameters. */
  readonly params: CelType | undefined;
  /** Whether `namespaceObject` is declared. */
  readonly namespaceObject?: boolean;
  /** Whether `authorizer` and `authorizer.requestResource` are declared. */
  readonly authorizer?: boolean;
  /** Whether the expression can construct objects and patches. */
  readonly patches?: boolean;
  /** Types of the variables that the policy declares, by their names in expressions: `variables.<name>`. */
  readonly declared?: ReadonlyMap<string, CelType>;
}

/**
 * Returns the environment of policy expressions.
 *
 * @param result the required type; undefined for any.
 */
export function policyEnvironment(types: PolicyVariables, result: CelType | undefined): Environment {
  const { object = dyn, params, namespaceObject = false, authorizer = false, declared, patches } = types;
  const variables = new Map<string, CelType>([
    ["object", object],
    ["oldObject", object],
    ["request", requestType],
  ]);
  if (params !== undefined) variables.set("params", params);
  if (namespaceObject) variables.set("namespaceObject", namespaceType);
  if (authorizer) {
    variables.set("authorizer", authorizerType);
    variables.set("authorizer.requestResource", resourceCheckType);
  }
  for (const [name, type] of declared ?? []) variables.set(name, type);
  return {
    variables,
    ...(declared === undefined ? {} : { fields: new Set(declared.keys()) }),
    ...(patches === true ? { constructed: patchTypeOf } : {}),
    ...(result === undefined ? {} : { result }),
  };
}

/** The environments of values, with objects of dynamic type: `object`, `oldObject` and `request`, and those of some policies. */
export const objectEnvironment = policyEnvironment({ params: undefined }, undefined);
export const paramsEnvironment: Environment = { variables: new Map([["params", dyn]]) };
export const namespaceEnvironment: Environment = { variables: new Map([["namespaceObject", namespaceType]]) };

/** What the expressions of policies may use. */
export interface PolicyFeatures {
  /** The API release; later ones have more variables and functions. */
  readonly release: Release;
  /** Whether access checks may have selectors. */
  readonly checkSelectors: boolean;
}

/**
 * A cache of compiled expressions. An update of a policy compiles only the changed expressions, and policies with equal
 * expressions share them.
 */
export class PolicyPrograms {
  private readonly languages = new Map<string, Language>();

  /**
   * @param features what expressions may use.
   * @param useOf whether an expression is stored already; a new one may use less.
   */
  constructor(
    readonly features: PolicyFeatures,
    private readonly useOf: (expression: string) => ExpressionUse = () => "stored",
    private readonly cache = new RecentMap<Compiled>({ entries: 5_000, cost: 500_000 }),
  ) {}

  /** Returns programs with the same cache for other expressions. */
  using(useOf: (expression: string) => ExpressionUse): PolicyPrograms {
    return new PolicyPrograms(this.features, useOf, this.cache);
  }

  /** Returns the variables of expressions whose policy has parameters or not. */
  variables(hasParams: boolean): PolicyVariables {
    return {
      params: hasParams ? dyn : undefined,
      namespaceObject: hasNamespaceObject(this.features),
      authorizer: hasAuthorizer(this.features),
    };
  }

  /** Returns match conditions, which see all variables but those that a policy declares. */
  conditions(
    conditions: readonly { readonly name: string; readonly expression: string }[],
    hasParams: boolean,
  ): NamedExpression[] {
    const variables = this.variables(hasParams);
    return conditions.map(({ name, expression }) => ({
      name,
      expression: new PolicyExpression(expression, () => this.get(expression, variables, bool)),
    }));
  }

  /** Returns the language of expressions. */
  language(use: ExpressionUse, patches = false): Language {
    const key = `${use}${patches ? " patches" : ""}`;
    let language = this.languages.get(key);
    if (language === undefined) {
      const { release, checkSelectors } = this.features;
      const whole = languageOf(release, use);
      language = checkSelectors ? whole : withoutCheckSelectors(whole);
      if (patches) language = withPatchFunctions(language);
      this.languages.set(key, language);
    }
    return language;
  }

  /** @param result the required type; undefined for any. */
  get(expression: string, variables: PolicyVariables, result: CelType | undefined): Compiled {
    const use = this.useOf(expression);
    const { patches } = variables;
    const environment = () => ({
      ...policyEnvironment(variables, result),
      language: this.language(use, patches),
    });
    // Variables of the policy have types of their own.
    if ((variables.declared?.size ?? 0) > 0) return compile(expression, environment());
    const names = `${variables.params === undefined ? "n" : "p"}${variables.authorizer === true ? "a" : "n"}`;
    const key = `${names}${use[0]}${patches === true ? "m" : ""} ${result === undefined ? "" : typeText(result)} ${expression}`;
    let compiled = this.cache.get(key);
    if (compiled === undefined) {
      compiled = compile(expression, environment());
      this.cache.set(key, compiled, key.length);
    }
    return compiled;
  }
}

/**
 * Returns the value of the variable `request`.
 *
 * @param resource the version of the resource type in which the policy matches.
 */
export function requestVariable(
  request: AdmissionRequest,
  resource: Resource,
  objects: ReviewObjects,
  vocabulary: Vocabulary,
): JsonValue {
  const variable = {
    ...versionAttributes(request, objects, resource),
    ...requestAttributes(request),
    ...(request.operation === "CONNECT" ? {} : { options: optionsOf(request, vocabulary) }),
  };
  return variable as unknown as JsonValue;
}
