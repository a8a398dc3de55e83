import { compareQuantities, type Quantity } from "../../../base/quantity.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { quantityFrom } from "../../quantities.ts";
import {
  containerResourceName,
  isExtended,
  isHugePages,
  mayOvercommit,
  pageSizeOf,
} from "./resource-names.ts";

type Amounts = Readonly<Record<string, string>> | undefined;

interface Requirements {
  readonly limits?: Amounts;
  readonly requests?: Amounts;
}

const one = 1_000_000_000n;

/** Checks names and amounts of resources, and requests against limits. */
export function checkRequirements(
  requirements: Requirements,
  report: FieldReport,
  context: KindContext,
): void {
  const { limits = {}, requests = {} } = requirements;
  checkAmounts(limits, report.at("limits"), context);
  checkAmounts(requests, report.at("requests"), context);
  for (const [resource, text] of Object.entries(requests)) {
    if (report.full) return;
    const limit = Object.hasOwn(limits, resource) ? limits[resource]! : undefined;
    checkRequest(resource, text, limit, report, context);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    report.forbidden("HugePages require cpu or memory");
  }
}

/** Checks names and amounts of resources. */
export function checkAmounts(amounts: NonNullable<Amounts>, report: FieldReport, context: KindContext): void {
  for (const [resource, text] of Object.entries(amounts)) {
    if (report.full) return;
    const at = report.key(resource);
    containerResourceName(resource, at, context);
    const quantity = quantityFrom(text);
    if (quantity === undefined) {
      at.invalid(text, "must be a quantity");
      continue;
    }
    if (quantity.nanos < 0n) at.invalid(text, "must be greater than or equal to 0");
    if (isExtended(resource, context) && quantity.nanos % one !== 0n) at.invalid(text, "must be an integer");
    if (isHugePages(resource)) checkPages(resource, quantity, text, at);
  }
}

function checkPages(resource: string, quantity: Quantity, text: string, report: FieldReport): void {
  const size = quantityFrom(pageSizeOf(resource))?.nanos;
  if (size === undefined || size <= 0n || size % one !== 0n || quantity.nanos % size !== 0n) {
    report.invalid(text, "must be a multiple of the page size in the resource's name");
  }
}

/** Checks a request against the limit of its resource. Faults have the path of `requests` or `limits`, as in the reference. */
function checkRequest(
  resource: string,
  text: string,
  limitText: string | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  const overcommit = mayOvercommit(resource, context);
  if (limitText === undefined) {
    if (!overcommit) report.at("limits").required(`a limit must be set for ${resource}`);
    return;
  }
  const request = quantityFrom(text);
  const limit = quantityFrom(limitText);
  if (request === undefined || limit === undefined) return;
  const order = compareQuantities(request, limit);
  const requests = report.at("requests");
  if (order !== 0 && !overcommit) requests.invalid(text, `must be equal to ${resource} limit`);
  else if (order > 0) requests.invalid(text, `must be less than or equal to ${resource} limit`);
}

interface Source {
  readonly resourceClaimName?: string | undefined;
  readonly resourceClaimTemplateName?: string | undefined;
}

/** Requires exactly one source of a claim. */
export function checkClaimSource(source: Source, report: FieldReport): void {
  const count = [source.resourceClaimName, source.resourceClaimTemplateName].filter(
    (name) => name !== undefined,
  ).length;
  if (count === 1) return;
  report.invalid(source, "must give exactly one of `resourceClaimName` and `resourceClaimTemplateName`");
}

/** Requires that a container's claims are claims of the pod, each named once. */
export function checkClaims(
  claims: readonly { readonly name: string }[] | undefined,
  known: ReadonlySet<string>,
  report: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of (claims ?? []).entries()) {
    if (report.full) return;
    if (name === "") {
      report.at(index).required();
      continue;
    }
    if (seen.has(name)) report.at(index).duplicate(name);
    seen.add(name);
    if (!known.has(name)) report.at(index).notFound(name);
  }
}
