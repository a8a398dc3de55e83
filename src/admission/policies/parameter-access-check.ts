import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { admissionregistration, isKindOf } from "../../kinds/groups.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { ObjectReader } from "../object-reader.ts";

interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string } | null;
}

interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: { readonly name?: string; readonly namespace?: string } | null;
}

const policies = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
/** The resources of the policies, by the kinds of their bindings. */
const policiesOf: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicies",
  MutatingAdmissionPolicyBinding: "mutatingadmissionpolicies",
};
const bindings = Object.keys(policiesOf);

/** Attributes of a request for parameters, or `*`. */
interface ParameterType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const anyType: ParameterType = { group: "*", version: "*", resource: "*" };

/**
 * PolicyParameterAccessCheck: expressions can show parameters in messages, so a user who writes a policy must be allowed to get all objects of
 * its `paramKind`, and one who writes a binding the object of its `paramRef`, or to list them if it selects by label. It is a part of
 * validation and can't be disabled.
 */
export function parameterAccessCheck(
  authorizer: Authorizer,
  registry: Registry,
  reader: ObjectReader,
): AdmissionPlugin {
  const isAllowed = (
    { user }: AdmissionRequest,
    verb: "get" | "list",
    type: ParameterType,
    namespace: string,
    name: string,
  ): MaybePromise<boolean> => {
    const request = { kind: "resource", user, verb, ...type, subresource: "", namespace, name } as const;
    return andThen(authorizer.authorize(request), ({ verdict }) => verdict === "allow");
  };

  const checkPolicy = (request: AdmissionRequest, policy: ApiObject): MaybePromise<void> => {
    const { paramKind } = specOf<PolicySpec>(policy);
    const before = request.live && specOf<PolicySpec>(request.live).paramKind;
    if (isAbsent(paramKind) || areEqual(paramKind, before)) return;
    return andThen(isAllowed(request, "get", typeOf(paramKind, registry), "*", "*"), (allowed) => {
      if (allowed) return;
      const { apiVersion = "", kind = "" } = paramKind;
      const message = `user ${JSON.stringify(request.user.name)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
      refuse(request, "paramKind", message);
    });
  };

  const checkBinding = async (request: AdmissionRequest, binding: ApiObject): Promise<void> => {
    const { policyName = "", paramRef } = specOf<BindingSpec>(binding);
    const before = request.live && specOf<BindingSpec>(request.live);
    if (isAbsent(paramRef)) return;
    if (before?.policyName === policyName && areEqual(paramRef, before.paramRef)) return;
    const { group, stored } = request.target.resource;
    const resource = policiesOf[stored.kind.name]!;
    const policy = await reader.clusterScoped(group, resource, policyName);
    const paramKind = policy && specOf<PolicySpec>(policy).paramKind;
    const parameters = isAbsent(paramKind) ? anyType : typeOf(paramKind, registry);
    const { name = "", namespace = "" } = paramRef;
    const verb = name === "" ? "list" : "get";
    if (await isAllowed(request, verb, parameters, namespace, name)) return;
    const objects =
      parameters.resource === "*"
        ? "all groups, versions and resources, which is needed because the kind of the parameters is unknown"
        : "the object referenced by paramRef";
    const message = `user ${JSON.stringify(request.user.name)} does not have "${verb}" permission on ${objects}`;
    refuse(request, "paramRef", message);
  };

  return {
    name: "PolicyParameterAccessCheck",
    concerns: (operation, { resource, subresource }) => {
      const isWrite = operation === "CREATE" || operation === "UPDATE";
      return (
        isWrite &&
        subresource === "" &&
        isKindOf(resource.stored.kind, admissionregistration, ...policies, ...bindings)
      );
    },
    validate(request) {
      const { object, target } = request;
      if (object === undefined) return;
      const isPolicy = isKindOf(target.resource.stored.kind, admissionregistration, ...policies);
      return isPolicy ? checkPolicy(request, object) : checkBinding(request, object);
    },
  };
}

function specOf<T extends object>(object: ApiObject): Partial<T> {
  return (object["spec"] ?? {}) as Partial<T>;
}

function isAbsent(value: object | null | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function areEqual(one: object, other: object | null | undefined): boolean {
  return !isAbsent(other) && deepEqual(one as JsonValue, other as JsonValue);
}

/** Returns the resource type of a kind of parameters; any resource of its version if the kind isn't served. */
function typeOf(
  { apiVersion = "", kind = "" }: NonNullable<PolicySpec["paramKind"]>,
  registry: Registry,
): ParameterType {
  const at = apiVersion.indexOf("/");
  const version = apiVersion.slice(at + 1);
  const group = at === -1 ? "" : apiVersion.slice(0, at);
  return { group, version, resource: registry.findKind(apiVersion, kind)?.kind.resource ?? "*" };
}

/** @throws {StatusError} Invalid */
function refuse({ target: { resource, name } }: AdmissionRequest, field: string, message: string): never {
  const report = FieldReport.start();
  report.at("spec", field).forbidden(message);
  throw invalidError({ kind: resource.kind.name, group: resource.group, name }, report.faults);
}
