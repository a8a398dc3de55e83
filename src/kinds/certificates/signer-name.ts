import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

const maxDomainLength = 253;
const maxPathLength = 253 + 63 + 1;

/** Requires a domain, a slash and a path: `example.com/my-signer`. */
export function signerName(name: string, place: FieldReport): void {
  const segments = name.split("/");
  if (segments.length !== 2) {
    return place.invalid(
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
  }
  const [domain = "", path = ""] = segments;
  if (domain.length > maxDomainLength) place.tooLong(maxDomainLength);
  const labels = domain.split(".");
  for (const label of labels) {
    if (place.full) return;
    for (const message of dnsLabelFaults(label))
      place.invalid(domain, `validating label ${label}: ${message}`);
  }
  if (labels.length < 2)
    place.invalid(domain, "should be a domain with at least two segments separated by dots");
  for (const label of path.split(".")) {
    if (place.full) return;
    for (const message of dnsSubdomainFaults(label))
      place.invalid(path, `validating label ${label}: ${message}`);
  }
  if (path.length > maxPathLength) place.tooLong(maxPathLength);
}
