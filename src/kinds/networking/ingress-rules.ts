import { labelKey } from "../../vocabulary/names.ts";
import { pathSegmentFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { isAddress } from "../checks/addresses.ts";
import { dnsSubdomain, portName, serviceName, wildcardSubdomain } from "../checks/names.ts";
import { portNumber } from "../checks/numbers.ts";

interface Backend {
  readonly resource?: ObjectReference | undefined;
  readonly service?:
    | {
        readonly name: string;
        readonly port?:
          { readonly name?: string | undefined; readonly number?: number | undefined } | undefined;
      }
    | undefined;
}

interface ObjectReference {
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
}

/** Requires exactly one of a service and another object as backend. */
export function checkBackend(
  { resource, service }: Backend,
  report: FieldReport,
  context: KindContext,
): void {
  if (resource !== undefined && service !== undefined) {
    return report.invalid("", "cannot set both resource and service backends");
  }
  if (resource !== undefined) return checkLocalObject(resource, report.at("resource"));
  if (service === undefined) return report.invalid("", "resource or service backend is required");
  const here = report.at("service");
  if (service.name === "") here.at("name").required();
  else serviceName(service.name, here.at("name"), context);
  const { name = "", number = 0 } = service.port ?? {};
  if (name !== "" && number !== 0) report.invalid("", "cannot set both port name & port number");
  else if (name !== "") portName(name, here.at("port", "name"));
  else if (number !== 0) portNumber(number, here.at("port", "number"));
  else report.required("port name or number is required");
}

/** Checks a reference to an object of any kind; required members are declared with the fields. */
export function checkLocalObject({ apiGroup, kind, name }: ObjectReference, report: FieldReport): void {
  if (apiGroup !== undefined && apiGroup !== null) dnsSubdomain(apiGroup, report.at("apiGroup"));
  for (const [member, text] of Object.entries({ kind, name })) {
    for (const message of pathSegmentFaults(text)) report.at(member).invalid(text, message);
  }
}

/** Requires a DNS name, which may begin with `*.`. */
export function hostName(host: string, report: FieldReport): void {
  if (host.includes("*")) wildcardSubdomain(host, report);
  else dnsSubdomain(host, report);
}

/** As {@link hostName}, but rejects IP addresses. */
export function ruleHost(host: string, report: FieldReport): void {
  if (isAddress(host)) report.invalid(host, "must be a DNS name, not an IP address");
  hostName(host, report);
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const refusedParts = ["//", "/./", "/../", "%2f", "%2F"];
const refusedEnds = ["/..", "/."];

interface Path {
  readonly backend: Backend;
  readonly path?: string | undefined;
  readonly pathType?: string | null | undefined;
}

/** Checks the path of a rule by its type, and its backend. */
export function checkPath(
  { backend, path, pathType }: Path,
  report: FieldReport,
  context: KindContext,
): void {
  // As in the reference, a path without a type isn't checked further.
  if (pathType === undefined || pathType === null)
    return report.at("pathType").required("pathType must be specified");
  if (pathTypes.includes(pathType)) checkMatched(path, pathType, report);
  else report.at("pathType").notSupported(pathType, pathTypes);
  checkBackend(backend, report.at("backend"), context);
}

function checkMatched(path = "", pathType: string, report: FieldReport): void {
  const here = report.at("path");
  const matched = pathType !== "ImplementationSpecific";
  if ((matched || path !== "") && !path.startsWith("/")) here.invalid(path, "must be an absolute path");
  if (!matched) return;
  for (const part of refusedParts) if (path.includes(part)) here.invalid(path, `must not contain '${part}'`);
  for (const end of refusedEnds) if (path.endsWith(end)) here.invalid(path, `cannot end with '${end}'`);
}

/** Annotation that named the class of an ingress before the field existed. */
export function classAnnotation({ domain }: Vocabulary): string {
  return labelKey(domain, "ingress.class");
}

/** Rejects a new ingress that names its class twice. */
export function checkClassOnce(
  metadata: ObjectMetaValue,
  className: string | undefined,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const key = classAnnotation(vocabulary);
  const named = metadata.annotations?.[key];
  if (named === undefined || className === undefined) return;
  // As in the reference, the path lacks `metadata`.
  report.at("annotations", key).invalid(named, "can not be set when the class field is also set");
}
