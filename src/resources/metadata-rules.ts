import {
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../base/names.ts";

export { labelValueFaults, qualifiedNameFaults };

/** What is wrong with a label's key. */
export const labelKeyFaults = qualifiedNameFaults;

/** What is wrong with an object's name, by the form that its kind asks for. */
export function nameFaults(form: "subdomain" | "label" | "pathSegment", name: string): readonly string[] {
  switch (form) {
    case "subdomain":
      return dnsSubdomainFaults(name);
    case "label":
      return dnsLabelFaults(name);
    case "pathSegment":
      return pathSegmentFaults(name);
  }
}
