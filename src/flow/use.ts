import type { PriorityLevel } from "./priority-level.ts";
import { SchemaFlows, type WaitMeters } from "./schema-flows.ts";

/** A flow schema at its priority level. */
export class FlowUse extends SchemaFlows {
  constructor(
    schemaName: string,
    readonly level: PriorityLevel,
    waits: WaitMeters,
  ) {
    super(schemaName, waits);
  }
}
