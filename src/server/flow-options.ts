import { OptionsError } from "./options-error.ts";

/** How many requests the server works on at one time. */
export interface FlowOptions {
  /** Whether requests wait their turn by priority and fairness; else those beyond the limits are refused. */
  readonly fair: boolean;
  /** Requests that only read; 0: any number. Both numbers together are the seats of priority and fairness. */
  readonly maxReading: number;
  /** Requests that change something; 0: any number. */
  readonly maxChanging: number;
}

/** The limits unless options say otherwise. */
export const defaultFlow: FlowOptions = { fair: true, maxReading: 400, maxChanging: 200 };

/** @throws {OptionsError} fairness without a seat to share. */
export function checkFlowOptions({ fair, maxReading, maxChanging }: FlowOptions): void {
  if (!fair || maxReading + maxChanging > 0) return;
  throw new OptionsError(
    "--max-requests-inflight and --max-mutating-requests-inflight: with --enable-priority-and-fairness " +
      "one of them must be greater than 0",
  );
}
