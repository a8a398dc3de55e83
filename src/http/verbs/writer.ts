import type { UserInfo } from "../../base/user-info.ts";
import type { WorkPace } from "../../base/turns/work-pace.ts";
import type { RequestReport } from "../../resources/engine/engine.ts";
import { paceOf } from "../limits/paced-request.ts";
import type { RequestContext } from "../request/context.ts";
import { reportOf } from "../request/report.ts";
import type { HttpService } from "../service.ts";

/** Write options that are common to all verbs. */
export interface Writer {
  readonly user: UserInfo;
  readonly report: RequestReport;
  readonly pace: WorkPace;
}

/** The common write options of a request. */
export function writerOf(service: HttpService, request: RequestContext): Writer {
  return { user: request.user, report: reportOf(request), pace: paceOf(service, request) };
}
