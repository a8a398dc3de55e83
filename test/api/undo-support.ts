import { randomUUID } from "node:crypto";
import type { Answer, Api } from "../support/api.ts";

/** Options of a server that serves undos and transactions, and keeps the history of everything. */
export const withUndos = { runtimeConfig: "api/alpha=true", keptHistory: ["*=30d"] };

/** The path of undos. */
export const undosPath = "/apis/history.platform.io/v1alpha1/undos";
/** The path of the ConfigMaps that the tests write. */
export const maps = "/api/v1/namespaces/default/configmaps";

/** Sends an undo. */
export const undo = (api: Api, spec: object, query = ""): Promise<Answer> =>
  api.post(`${undosPath}${query}`, { spec });

/** Sends a request with an audit id, by default a new one, and returns the id. */
export async function changeBy(
  api: Api,
  method: string,
  path: string,
  body: unknown,
  manager = "tester",
  id: string = randomUUID(),
): Promise<string> {
  const isPatch = method === "PATCH";
  const answer = await api.ask(method, `${path}${path.includes("?") ? "&" : "?"}fieldManager=${manager}`, {
    ...(body === undefined ? {} : { body }),
    ...(isPatch ? { contentType: "application/merge-patch+json" } : {}),
    headers: { "Audit-ID": id },
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return id;
}
