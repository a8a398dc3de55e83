import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { storageDriverName } from "../checks/names.ts";

const maxIdentifierBytes = 256;

/** The name by which a driver knows a node. */
export function nodeIdentifier(identifier: string, place: FieldReport): void {
  if (Buffer.byteLength(identifier) > maxIdentifierBytes) {
    place.invalid(identifier, `must be ${maxIdentifierBytes} characters or less`);
  }
}

interface NodeDriver {
  readonly name: string;
  readonly topologyKeys?: readonly string[] | null | undefined;
}

/** A driver's name and the label keys that tell where the node is; the reference places faults of keys at the driver. */
export function checkNodeDriver({ name, topologyKeys }: NodeDriver, place: FieldReport): void {
  storageDriverName(name, place.at("name"));
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (place.full) return;
    if (key === "") place.required();
    if (seen.has(key)) place.duplicate(key);
    seen.add(key);
    for (const message of qualifiedNameFaults(key)) place.invalid(topologyKeys, message);
  }
}
