import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** One stage of the pipeline, under the name that it has in `docs/lifecycle.md`. */
export type Stage = { readonly name: string } & (
  | {
      /**
       * Reads the request, adds to it what later stages need, and returns; a promise only where it has to wait. It leaves
       * the pipeline by throwing a StatusError, which is answered.
       */
      readonly run: (service: HttpService, request: RequestContext) => MaybePromise<void>;
    }
  | {
      /** Decides when the stages after it run: calls `rest` once, and returns what becomes of it. */
      readonly schedule: (
        service: HttpService,
        request: RequestContext,
        rest: () => MaybePromise<void>,
      ) => MaybePromise<void>;
    }
);
