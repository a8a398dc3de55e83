import { applies, gate, since } from "../../../base/release-rows.ts";
import { dnsSubdomainFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { configuration, tolerations, type Configuration, type Toleration } from "./config-rules.ts";
import { fullAttributeName, labelName } from "./device-names.ts";
import { limitedList, limitedSet } from "./list-rules.ts";
import { exactCount } from "./claim-structs.ts";
import type { DeviceExpression } from "./selector-rules.ts";

const hasConsumableCapacity = applies(since("1.34", gate("DRAConsumableCapacity")));

/** A selector of devices. */
export interface Selector {
  readonly cel?: { readonly expression: string } | undefined;
}

interface DerivedAttribute {
  readonly name: string;
  readonly expression: string;
}

interface ExactRequest {
  readonly deviceClassName: string;
  readonly selectors?: readonly Selector[] | undefined;
  readonly allocationMode?: string | undefined;
  readonly count?: number | bigint | undefined;
  readonly adminAccess?: boolean | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly derivedAttributes?: readonly DerivedAttribute[] | undefined;
}

interface Request {
  readonly name: string;
  readonly exactly?: ExactRequest | undefined;
  readonly firstAvailable?: readonly (ExactRequest & { readonly name: string })[] | undefined;
}

interface Constraint {
  readonly requests?: readonly string[] | undefined;
  readonly matchAttribute?: string | undefined;
  readonly distinctAttribute?: string | undefined;
}

/** The devices of a claim. */
export interface DeviceClaim {
  readonly requests?: readonly Request[] | null | undefined;
  readonly constraints?: readonly Constraint[] | undefined;
  readonly config?:
    readonly (Configuration & { readonly requests?: readonly string[] | undefined })[] | undefined;
}

/** The spec of a claim. */
export interface ClaimSpec {
  readonly devices?: DeviceClaim | undefined;
}

const maxRequests = 32;
const maxAlternatives = 8;
const maxSelectors = 32;
const maxDerivedAttributes = 32;
const maxConstraints = 32;
const maxConfigurations = 32;

/** Checks the spec of a new claim, but for its expressions. */
export function checkClaimSpec(
  { devices = {} }: ClaimSpec,
  specReport: FieldReport,
  context: KindContext,
): void {
  const report = specReport.at("devices");
  const names = requestNamesOf(devices);
  const attributes = constrainedAttributes(devices.constraints ?? []);
  limitedSet(
    devices.requests ?? [],
    maxRequests,
    report.at("requests"),
    ({ name }) => name,
    (request, at) => checkRequest(request, attributes, at),
  );
  limitedList(devices.constraints, maxConstraints, report.at("constraints"), (constraint, at) => {
    requestReferences(constraint.requests, names, at.at("requests"));
    checkAttributes(constraint, at, hasConsumableCapacity(context));
  });
  limitedList(devices.config, maxConfigurations, report.at("config"), (one, at) => {
    requestReferences(one.requests, names, at.at("requests"));
    configuration(one, at);
  });
}

function checkRequest(
  { name, exactly, firstAvailable = [] }: Request,
  attributes: Constrained,
  report: FieldReport,
): void {
  labelName(name, report.at("name"));
  if (exactly === undefined && firstAvailable.length === 0) {
    return report.required("exactly one of `exactly` or `firstAvailable` is required");
  }
  if (exactly !== undefined && firstAvailable.length > 0) {
    return report.invalid(
      undefined,
      "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
    );
  }
  if (exactly !== undefined) return checkExactRequest(exactly, [name], attributes, report.at("exactly"));
  limitedSet(
    firstAvailable,
    maxAlternatives,
    report.at("firstAvailable"),
    (alternative) => alternative.name,
    (alternative, at) => {
      labelName(alternative.name, at.at("name"));
      checkExactRequest(alternative, [name, `${name}/${alternative.name}`], attributes, at);
    },
  );
}

function checkExactRequest(
  request: ExactRequest,
  names: readonly string[],
  attributes: Constrained,
  report: FieldReport,
): void {
  const { deviceClassName, allocationMode = "", count = 0, derivedAttributes } = request;
  className(deviceClassName, report.at("deviceClassName"));
  checkSelectors(request.selectors, report.at("selectors"));
  limitedSet(
    derivedAttributes,
    maxDerivedAttributes,
    report.at("derivedAttributes"),
    ({ name }) => name,
    (attribute, at) => checkDerivedAttribute(attribute, names, attributes, at),
  );
  if (allocationMode === "All") {
    if (count !== 0) {
      report.at("count").invalid(count, "must not be specified when allocationMode is 'All'");
    }
  } else if (allocationMode === exactCount) {
    if (count <= 0) report.at("count").invalid(count, "must be greater than zero");
  } else report.at("allocationMode").notSupported(allocationMode, ["All", exactCount]);
  tolerations(request.tolerations, report.at("tolerations"));
}

/** Requires the name of a class. */
export function className(name: string, report: FieldReport): void {
  if (name === "") report.required();
  else for (const message of dnsSubdomainFaults(name)) report.invalid(name, message);
}

/** Requires at most 32 selectors with an expression. */
export function checkSelectors(selectors: readonly Selector[] | undefined, report: FieldReport): void {
  limitedList(selectors, maxSelectors, report, ({ cel }, at) => {
    if (cel === undefined) at.at("cel").required();
  });
}

function checkDerivedAttribute(
  { name, expression }: DerivedAttribute,
  requests: readonly string[],
  attributes: Constrained,
  report: FieldReport,
): void {
  fullAttributeName(name, report.at("name"));
  if (expression === "") report.at("expression").required();
  if (name === "" || ["", ...requests].some((request) => attributes.get(request)?.has(name))) return;
  report
    .at("name")
    .invalid(
      name,
      "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request",
    );
}

/** The attributes of constraints by request; those of all requests have the key `""`. */
type Constrained = ReadonlyMap<string, ReadonlySet<string>>;

function constrainedAttributes(constraints: readonly Constraint[]): Constrained {
  const result = new Map<string, Set<string>>();
  for (const { requests = [], matchAttribute, distinctAttribute } of constraints.slice(0, maxConstraints)) {
    const attribute = matchAttribute ?? distinctAttribute;
    if (attribute === undefined) continue;
    for (const request of requests.length === 0 ? [""] : requests) {
      const attributes = result.get(request);
      if (attributes === undefined) result.set(request, new Set([attribute]));
      else attributes.add(attribute);
    }
  }
  return result;
}

function checkAttributes(
  { matchAttribute, distinctAttribute }: Constraint,
  report: FieldReport,
  knowsDistinct: boolean,
): void {
  if (matchAttribute !== undefined) fullAttributeName(matchAttribute, report.at("matchAttribute"));
  else if (distinctAttribute !== undefined)
    fullAttributeName(distinctAttribute, report.at("distinctAttribute"));
  else if (knowsDistinct)
    report.required('exactly one of "matchAttribute" or "distinctAttribute" is required');
  else report.at("matchAttribute").required();
}

/** The names of requests; each with the names of its alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the names of the requests of a claim. */
export function requestNamesOf({ requests }: DeviceClaim): RequestNames {
  return new Map(
    (requests ?? []).map(({ name, firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((one) => one.name)),
    ]),
  );
}

/** Requires different names of requests in a claim. */
export function requestReferences(
  references: readonly string[] | undefined,
  names: RequestNames,
  report: FieldReport,
): void {
  limitedSet(
    references,
    maxRequests,
    report,
    (name) => name,
    (name, at) => requestReference(name, names, at),
  );
}

/** Requires the name of a request in the claim, or of one of its alternatives. */
export function requestReference(reference: string, names: RequestNames, report: FieldReport): void {
  const [request = "", alternative, ...more] = reference.split("/", 3);
  if (more.length === 0) {
    for (const name of alternative === undefined ? [request] : [request, alternative])
      labelName(name, report);
    const alternatives = names.get(request);
    if (alternatives !== undefined && (alternative === undefined || alternatives.has(alternative))) return;
  }
  report.invalid(
    reference,
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
  );
}

/** Yields the expressions of a claim. */
export function* expressionsOf({ requests }: DeviceClaim, report: FieldReport): Generator<DeviceExpression> {
  for (const [index, { exactly, firstAvailable = [] }] of (requests ?? []).slice(0, maxRequests).entries()) {
    const at = report.at("requests", index);
    if (exactly !== undefined) yield* expressionsOfRequest(exactly, at.at("exactly"));
    for (const [position, alternative] of firstAvailable.slice(0, maxAlternatives).entries()) {
      yield* expressionsOfRequest(alternative, at.at("firstAvailable", position));
    }
  }
}

function* expressionsOfRequest(
  { selectors, derivedAttributes = [] }: ExactRequest,
  report: FieldReport,
): Generator<DeviceExpression> {
  yield* expressionsOfSelectors(selectors, report.at("selectors"));
  for (const [index, { expression }] of derivedAttributes.slice(0, maxDerivedAttributes).entries()) {
    if (expression === "") continue;
    yield { text: expression, report: report.at("derivedAttributes", index, "expression"), computes: true };
  }
}

/** Yields the expressions of selectors. */
export function* expressionsOfSelectors(
  selectors: readonly Selector[] | undefined,
  report: FieldReport,
): Generator<DeviceExpression> {
  for (const [index, { cel }] of (selectors ?? []).slice(0, maxSelectors).entries()) {
    if (cel === undefined) continue;
    yield { text: cel.expression, report: report.at(index, "cel", "expression"), computes: false };
  }
}
