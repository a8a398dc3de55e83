import { dnsLabelFaults } from "../../base/names.ts";

/** The names of pods come from that of their owner, and are their host names. */
export function nameWarnings(name: string | undefined): string[] {
  const faults = dnsLabelFaults(name ?? "");
  if (faults.length === 0) return [];
  return [
    `metadata.name: it becomes part of the pods' host names, so a DNS label is recommended: ${faults.join(", ")}`,
  ];
}
