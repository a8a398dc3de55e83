import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { RequestTrace } from "../request/request-trace.ts";
import { stepTimer } from "../request/steps.ts";
import type { HttpService } from "../service.ts";
import type { Stage } from "./stage.ts";

/** Stages that always have a span; others have one if they take some time. */
const alwaysRecorded = new Set(["Authentication", "Authorization", "Verb"]);

/** Runs the stages from an index on, with spans, for a request that may be traced. Returns a promise only if a stage waits. */
export function runTraced(
  stages: readonly Stage[],
  service: HttpService,
  request: RequestContext,
  trace: RequestTrace,
  first = 0,
): MaybePromise<void> {
  const restFrom = (at: number) => () => runTraced(stages, service, request, trace, at);
  for (let at = first; at < stages.length; at++) {
    const stage = stages[at]!;
    if ("schedule" in stage) {
      const taken = trace.wait(stage.name);
      const stepTaken = stepTimer(request, stage.name);
      return stage.schedule(service, request, () => {
        taken();
        stepTaken();
        // One turn serves several requests, so it may have begun in the context of another one.
        return service.tracing!.tracer.outside(restFrom(at + 1));
      });
    }
    if ("find" in stage) {
      const handler = stage.find(service, request);
      if (handler !== undefined) return handler(request) ?? undefined;
      continue;
    }
    const run = (): MaybePromise<void> => stage.run(service, request);
    const done = trace.stage(stage.name, alwaysRecorded.has(stage.name), request, run);
    if (done instanceof Promise) return done.finally(stepTimer(request, stage.name)).then(restFrom(at + 1));
  }
}
