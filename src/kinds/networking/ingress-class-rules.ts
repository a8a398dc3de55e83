import type { FieldReport } from "../../schema/faults.ts";
import { dnsLabel, domainPrefixedPath } from "../checks/names.ts";
import { checkLocalObject } from "./ingress-rules.ts";

const maxControllerLength = 250;
const scopes = ["Cluster", "Namespace"];

/** Requires the name of a controller: `example.com/name`. */
export function checkController(controller: string, report: FieldReport): void {
  if (Buffer.byteLength(controller) > maxControllerLength) report.tooLong(maxControllerLength);
  domainPrefixedPath(controller, report);
}

interface Parameters {
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
  readonly scope?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Checks a reference to a cluster-scoped object, or to an object in a namespace. */
export function checkParameters(parameters: Parameters, report: FieldReport): void {
  checkLocalObject(parameters, report);
  const { scope = "", namespace } = parameters;
  const here = report.at("namespace");
  if (!scopes.includes(scope)) report.at("scope").notSupported(scope, scopes);
  else if (scope === "Namespace") {
    if (namespace === undefined) here.required("`parameters.scope` is set to 'Namespace'");
    else dnsLabel(namespace, here);
  } else if (namespace !== undefined) here.forbidden("`parameters.scope` is set to 'Cluster'");
}
