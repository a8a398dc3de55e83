import type { RequestReport } from "../../resources/engine/engine.ts";
import type { RequestContext } from "./context.ts";
import { addStep } from "./steps.ts";

/** Collects the warnings of a request in its context, and passes annotations to its audit. */
class ContextReport implements RequestReport {
  constructor(private readonly request: RequestContext) {}

  warn(text: string): void {
    (this.request.warnings ??= new Set()).add(text);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    const { audit } = this.request;
    if (level === undefined || audit?.wantsRequest === true) audit?.annotate(key, value);
  }

  took(step: string, durationMs: number): void {
    addStep(this.request, step, durationMs);
  }

  get expiresAt(): number | undefined {
    return this.request.expiresAt;
  }
}

/** Returns the report to which verbs of `resources/` add warnings and annotations of an HTTP request. */
export function reportOf(request: RequestContext): RequestReport {
  return new ContextReport(request);
}
