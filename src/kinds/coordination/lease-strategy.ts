import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** The strategy that the reference implements. */
export const oldestEmulationVersion = "OldestEmulationVersion";

/** Requires a known strategy, or the name of another one with its domain. The path has `strategy` twice, as in the reference. */
export function checkStrategy(strategy: string, report: FieldReport): void {
  const at = report.at("strategy");
  if (!strategy.includes("/")) {
    if (strategy !== oldestEmulationVersion) at.notSupported(strategy, [oldestEmulationVersion]);
    return;
  }
  for (const message of qualifiedNameFaults(strategy)) at.invalid(strategy, message);
}
