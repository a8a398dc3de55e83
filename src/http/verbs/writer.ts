import { paceOf } from "../limits/paced-request.ts";
import { type RequestContext, reportOf } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { WorkPace } from "../../base/turns/work-pace.ts";
import type { RequestReport } from "../../resources/engine/engine.ts";

/** Write options that are common to all verbs. */
interface Writer {
  readonly user: UserInfo;
  readonly report: RequestReport;
  readonly pace: WorkPace;
}

/** The common write options of a request. */
export function writerOf(service: HttpService, request: RequestContext): Writer {
  return { user: request.user, report: reportOf(request), pace: paceOf(service, request) };
}
