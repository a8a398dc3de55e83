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

/** Starts to measure a step. @returns a function that ends it. */
export function stepTimer(request: RequestContext, step: string): () => void {
  const startMs = performance.now();
  return () => addStep(request, step, performance.now() - startMs);
}
