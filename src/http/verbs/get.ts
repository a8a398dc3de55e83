import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { getObject } from "../../resources/reads/get.ts";
import { parseResourceVersion } from "../../resources/engine/resource-version.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendStored } from "./answer.ts";
import { refuseExport } from "../request/parameters.ts";
import type { ResourceContext } from "../request/context.ts";

/** GET of one object. */
export function serveGet(service: HttpService, request: ResourceContext): MaybePromise<void> {
  const { query } = request.facts;
  const version = query.empty ? undefined : parseResourceVersion(query.get("resourceVersion"));
  if (!query.empty) refuseExport(query);
  const encoding = encodingOf(service, request);
  return andThen(getObject(service.engine, request.target, version), (entry) =>
    sendStored(service, request, encoding, entry),
  );
}
