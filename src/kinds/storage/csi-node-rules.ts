import type { KindContext } from "../../schema/context.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { storageDriverName } from "../checks/names.ts";

const maxIdentifierBytes = 256;

/** Requires the identifier of a node for a driver. */
export function nodeIdentifier(identifier: string, report: FieldReport): void {
  if (Buffer.byteLength(identifier) > maxIdentifierBytes) {
    report.invalid(identifier, `must be ${maxIdentifierBytes} characters or less`);
  }
}

interface NodeDriver {
  readonly name: string;
  readonly topologyKeys?: readonly string[] | null | undefined;
}

/**
 * Checks the name of a driver and the keys of topology labels; faults of keys are reported at the driver, as in the
 * reference.
 */
export function checkNodeDriver(
  { name, topologyKeys }: NodeDriver,
  report: FieldReport,
  context: KindContext,
): void {
  storageDriverName(name, report.at("name"), context);
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (report.full) return;
    if (key === "") report.required();
    if (seen.has(key)) report.duplicate(key);
    seen.add(key);
    for (const message of qualifiedNameFaults(key)) report.invalid(topologyKeys, message);
  }
}
