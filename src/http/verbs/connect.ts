import { StatusError } from "../../base/status-error.ts";
import type { HttpService } from "../service.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** A connection to what an object stands for: `proxy`, `log`, `exec`, `attach`, `portforward`. */
export function serveConnect(_service: HttpService, { target }: ResourceRequest): Promise<void> {
  throw new StatusError("ServiceUnavailable", `${target.subresource} can't be reached`);
}
