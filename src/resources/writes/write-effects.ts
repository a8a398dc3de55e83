import type {
  AdmissionCondition,
  AdmissionEffects,
  OutcomeListener,
  RequestReport,
  WriteOutcome,
} from "../engine/engine.ts";

/** A report that discards everything. */
const discardingReport: RequestReport = { warn: () => undefined, annotate: () => undefined };

const noConditions: readonly AdmissionCondition[] = [];

/** The effects of admission on one write, as the verb that executes the write reads them. */
export class WriteEffects implements AdmissionEffects {
  reinvocationRequested = false;
  private readonly report: RequestReport;
  private added: AdmissionCondition[] | undefined;
  private listeners: OutcomeListener[] | undefined;
  private states: Map<new () => object, object> | undefined;

  /** @param report receives warnings and audit annotations; by default they are discarded. */
  constructor(report: RequestReport = discardingReport) {
    this.report = report;
  }

  /** Conditions of the commit. */
  get conditions(): readonly AdmissionCondition[] {
    return this.added ?? noConditions;
  }

  warn(text: string): void {
    this.report.warn(text);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    this.report.annotate(key, value, level);
  }

  took(step: string, durationMs: number): void {
    this.report.took?.(step, durationMs);
  }

  addCondition(condition: AdmissionCondition): void {
    (this.added ??= []).push(condition);
  }

  onOutcome(listener: OutcomeListener): void {
    (this.listeners ??= []).push(listener);
  }

  requestReinvocation(): void {
    this.reinvocationRequested = true;
  }

  state<T extends object>(type: new () => T): T {
    this.states ??= new Map();
    let state = this.states.get(type);
    if (state === undefined) this.states.set(type, (state = new type()));
    return state as T;
  }

  /** Calls the listeners with the outcome of the write. */
  settle(outcome: WriteOutcome): void {
    if (this.listeners !== undefined) for (const listener of this.listeners) listener(outcome);
  }
}
