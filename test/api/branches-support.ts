import type { Answer, Api } from "../support/api.ts";
import { ok } from "./support.ts";
import { at, maps, tenancy, workspaces as workspacesPath } from "./workspaces-support.ts";

export { maps, tenancy, workspacesPath };

/** Options of a server that serves workspaces. */
export const withBranches = { runtimeConfig: `${tenancy}/v1alpha1=true` };
const group = `/apis/${tenancy}/v1alpha1`;

/** Returns a path in a workspace; outside of workspaces without a name. */
export const within = (name: string, path: string) => (name === "" ? path : at(name, path));

/** Creates a workspace, by default a branch of the server. */
export const branch = async (api: Api, name: string, from: object | null = {}) =>
  (await ok(api.post(workspacesPath, { metadata: { name }, spec: from && { from } }))).body;

export const compare = (api: Api, spec: object): Promise<Answer> =>
  api.post(`${group}/workspacediffs`, { spec });

export const merge = (api: Api, spec: object, query = "?fieldManager=merger"): Promise<Answer> =>
  api.post(`${group}/workspacemerges${query}`, { spec });

export const rebase = (api: Api, spec: object, query = ""): Promise<Answer> =>
  api.post(`${group}/workspacerebases${query}`, { spec });

/** Returns the objects of a status in short: `update ConfigMap a`. */
export const inShort = ({ body }: Answer): string[] =>
  (body.status.objects ?? []).map(
    ({ action, kind, name }: { action: string; kind: string; name: string }) => `${action} ${kind} ${name}`,
  );

export const dataOf = async (api: Api, name: string, map: string) =>
  (await ok(api.get(within(name, `${maps}/${map}`)))).body.data;
