import type { PriorityLevel } from "./priority-level.ts";
import { SchemaFlows, type WaitMeters } from "./schema-flows.ts";

/** The requests of one flow schema, with the priority level at which they are. */
export class FlowUse extends SchemaFlows {
  constructor(
    schemaName: string,
    readonly level: PriorityLevel,
    waits: WaitMeters,
  ) {
    super(schemaName, waits);
  }
}
