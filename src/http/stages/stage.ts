import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { PathHandler } from "../request/path-table.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** A stage that processes the request itself. */
export interface RunStage {
  readonly name: string;
  /**
   * Processes the request and sets members of the context for later stages. Returns a promise only if it must wait. Throws a
   * StatusError to end the request; the pipeline sends it as the response.
   */
  readonly run: (service: HttpService, request: RequestContext) => MaybePromise<void>;
}

/** One stage of the pipeline; `docs/lifecycle.md` uses the same names. */
export type Stage = { readonly name: string } & (
  | RunStage
  | {
      /** Returns the handler that serves the request without the following stages; undefined to continue with them. */
      readonly find: (service: HttpService, request: RequestContext) => PathHandler | undefined;
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
