import type { RequestContext } from "./context.ts";

/** A shorter step isn't recorded, in milliseconds. */
const shortStepMs = 1;
/** Maximum number of steps with different names in one request. */
const maxSteps = 32;

/** Adds the duration of a step to those of a request; the durations of repeated steps are added up. */
export function addStep(request: RequestContext, step: string, durationMs: number): void {
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
