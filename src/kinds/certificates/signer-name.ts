import { dnsLabelFaults, dnsSubdomainFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

const maxDomainLength = 253;
const maxPathLength = 253 + 63 + 1;

/** Requires a domain, a slash and a path: `example.com/my-signer`. */
export function signerName(name: string, report: FieldReport): void {
  const segments = name.split("/");
  if (segments.length !== 2) {
    return report.invalid(
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    );
  }
  const [domain = "", path = ""] = segments;
  if (domain.length > maxDomainLength) report.tooLong(maxDomainLength);
  const labels = domain.split(".");
  for (const label of labels) {
    if (report.full) return;
    for (const message of dnsLabelFaults(label))
      report.invalid(domain, `validating label ${label}: ${message}`);
  }
  if (labels.length < 2)
    report.invalid(domain, "should be a domain with at least two segments separated by dots");
  for (const label of path.split(".")) {
    if (report.full) return;
    for (const message of dnsSubdomainFaults(label))
      report.invalid(path, `validating label ${label}: ${message}`);
  }
  if (path.length > maxPathLength) report.tooLong(maxPathLength);
}
