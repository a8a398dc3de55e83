import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { RequestLog } from "../../http/metrics/request-log.ts";
import type { ClientGuard, ClientRequest } from "../../resources/clients/client-guard.ts";
import { ConnectionLostError } from "../../resources/engine/connection-lost-error.ts";
import type { Target } from "../../resources/engine/engine.ts";
import { namespaceInPath } from "./client-guards.ts";

const methods: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};

/** Returns a guard that adds the requests of a user to a log, with those that the other guard rejects. */
export function recordingGuard(guard: ClientGuard, user: UserInfo, log: RequestLog): ClientGuard {
  return {
    async run(request, engine, call) {
      const startMs = performance.now();
      const add = (status: number) => log.add(recordOf(request, user, status, performance.now() - startMs));
      try {
        const result = await guard.run(request, engine, call);
        add(request.verb === "create" ? 201 : 200);
        return result;
      } catch (error) {
        add(statusOf(error));
        throw error;
      }
    },
    mayCreate: (target) => guard.mayCreate(target),
  };
}

function statusOf(error: unknown): number {
  if (error instanceof ConnectionLostError) return 0;
  return error instanceof StatusError ? error.code : 500;
}

function recordOf({ verb, target }: ClientRequest, user: UserInfo, status: number, durationMs: number) {
  const { resource, subresource, name } = target;
  const namespace = namespaceInPath(target);
  return {
    method: methods[verb] ?? "GET",
    path: pathOf(target),
    query: "",
    verb,
    group: resource.group,
    resource: resource.name,
    subresource,
    namespace,
    name,
    user: user.name,
    groups: user.groups,
    status,
    durationMs,
    userAgent: "",
    inProcess: true,
  };
}

/** The path of the same request over HTTP. */
function pathOf({ resource, namespace, name, subresource }: Target): string {
  const base = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`;
  const scope = namespace === "" ? "" : `/namespaces/${namespace}`;
  const object = [name, subresource].filter((segment) => segment !== "").map((segment) => `/${segment}`);
  return `${base}${scope}/${resource.name}${object.join("")}`;
}
