import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** A rule on text. */
type TextRule = (text: string, place: FieldReport) => void;

function rule(faults: (text: string) => readonly string[]): TextRule {
  return (text, place) => {
    for (const message of faults(text)) place.invalid(text, message);
  };
}

/** A DNS-1123 label: names of namespaces, containers, volumes. */
export const dnsLabel = rule(dnsLabelFaults);
/** A DNS-1123 subdomain: names of most objects. */
export const dnsSubdomain = rule(dnsSubdomainFaults);
/** A DNS-1035 label: names of services. */
export const dns1035Label = rule(dns1035LabelFaults);
/** A name with an optional DNS subdomain before a slash: keys of labels, resources, conditions. */
export const qualifiedName = rule(qualifiedNameFaults);
/** The value of a label. */
export const labelValue = rule(labelValueFaults);
/** A name that may stand in a path. */
export const pathSegment = rule(pathSegmentFaults);

const portNameForm = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Name of a port (IANA service name): up to 15 characters, lower case, at least one letter, no two dashes in a row. */
export function portName(name: string, place: FieldReport): void {
  if (name.length > 15) place.invalid(name, "must be no more than 15 characters");
  if (!portNameForm.test(name)) {
    place.invalid(
      name,
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), and not begin or end with one",
    );
  }
  if (name.includes("--")) place.invalid(name, "must not contain consecutive hyphens");
  if (!/[a-z]/.test(name)) place.invalid(name, "must contain at least one letter (a-z)");
}

/** Labels: keys are qualified names, values are label values. */
export function labelMap(labels: Readonly<Record<string, string>>, place: FieldReport): void {
  for (const [key, value] of Object.entries(labels)) {
    for (const message of qualifiedNameFaults(key)) place.invalid(key, message);
    for (const message of labelValueFaults(value)) place.key(key).invalid(value, message);
  }
}
