import type { RequestReport } from "../../resources/engine/engine.ts";
import type { RequestContext } from "./context.ts";

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

/** A shorter step isn't recorded, in milliseconds. */
const shortStepMs = 1;
/** Maximum number of steps with different names in one request. */
const maxSteps = 32;

/** Adds the duration of a step to those of a request; the durations of repeated steps are added up. */
function addStep(request: RequestContext, step: string, durationMs: number): void {
  if (durationMs < shortStepMs) return;
  const steps = (request.steps ??= new Map());
  const before = steps.get(step);
  if (before !== undefined || steps.size < maxSteps) steps.set(step, (before ?? 0) + durationMs);
}

/** Adds a step that ends now and began when the previous one ended. Stages between them that don't wait count towards it. */
export function endStep(request: RequestContext, step: string): void {
  const nowMs = performance.now();
  addStep(request, step, nowMs - request.stepEndMs);
  request.stepEndMs = nowMs;
}

/** Adds a step within another one that still runs; both began at the same time. */
export function endInnerStep(request: RequestContext, step: string): void {
  addStep(request, step, performance.now() - request.stepEndMs);
}
