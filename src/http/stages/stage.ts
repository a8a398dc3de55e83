import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** One stage of the pipeline; `docs/lifecycle.md` uses the same names. */
export type Stage = { readonly name: string } & (
  | {
      /**
       * Reads the request, adds to it what later stages need, and returns; a promise only where it has to wait. It leaves
       * the pipeline by throwing a StatusError, which is answered.
       */
      readonly run: (service: HttpService, request: RequestContext) => MaybePromise<void>;
    }
  | {
      /** Schedules the following stages: calls `rest` once and returns its result. */
      readonly schedule: (
        service: HttpService,
        request: RequestContext,
        rest: () => MaybePromise<void>,
      ) => MaybePromise<void>;
    }
);
