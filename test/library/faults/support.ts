import type { ApiObject, Server, TypedClient, BuiltInObjects } from "../../../src/index.ts";
import type { Api, Answer, Frame } from "../../support/api.ts";

/** What the transports of a request have in common: an object, or an error with its reason or code. */
export interface Driver {
  get(name: string): Promise<ApiObject>;
  list(): Promise<{ readonly names: string[]; readonly resourceVersion: string }>;
  create(name: string): Promise<unknown>;
  update(object: ApiObject): Promise<unknown>;
  delete(name: string): Promise<unknown>;
  /** Starts a watch after a resource version. */
  watch(resourceVersion: string): WatchLog;
}

/** What a watch has received: `ADDED a`, and how it ended: `closed`, `lost` or the reason of a status. */
export interface WatchLog {
  readonly events: string[];
  /** Resolves with how the watch ends. */
  readonly end: Promise<string>;
  close(): void;
}

const inDefault = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
export const newConfigMap = (name: string) => ({
  apiVersion: "v1" as const,
  kind: "ConfigMap" as const,
  metadata: { name, namespace: "default" },
  data: {},
});

/** Requests of a client in the process. */
export function inProcess(client: TypedClient<BuiltInObjects>): Driver {
  return {
    get: (name) => client.get({ ...inDefault, name }),
    list: async () => {
      const { items, resourceVersion } = await client.list(inDefault);
      return { names: items.map(({ metadata }) => metadata.name!), resourceVersion };
    },
    create: (name) => client.create(newConfigMap(name)),
    update: (object) => client.update(object as never),
    delete: (name) => client.delete({ ...inDefault, name }),
    watch(resourceVersion) {
      const events: string[] = [];
      let watch: { close(): void };
      const end = new Promise<string>((resolve) => {
        watch = client.watch(
          { ...inDefault, resourceVersion },
          ({ type, object }) => void events.push(`${type} ${object.metadata.name}`),
          (error) => resolve(endOf(error)),
        );
      });
      return { events, end, close: () => watch.close() };
    },
  };
}

function endOf(error: Error & { isComplete?: boolean; reason?: string }): string {
  return error.reason ?? (error.isComplete === true ? "closed" : "lost");
}

const path = "/api/v1/namespaces/default/configmaps";

/** Requests over HTTP. */
export function overHttp(api: Api): Driver {
  const objectOf = async (answer: Promise<Answer>): Promise<ApiObject> => {
    const { status, body, headers } = await answer;
    if (status < 400) return body as ApiObject;
    throw Object.assign(new Error(body.message), { ...body, retryAfter: headers["retry-after"] });
  };
  return {
    get: (name) => objectOf(api.get(`${path}/${name}`)),
    list: async () => {
      const { items, metadata } = (await objectOf(api.get(path))) as never as {
        items: ApiObject[];
        metadata: { resourceVersion: string };
      };
      return { names: items.map((item) => item.metadata.name!), resourceVersion: metadata.resourceVersion };
    },
    create: (name) => objectOf(api.post(path, newConfigMap(name))),
    update: (object) => objectOf(api.put(`${path}/${object.metadata.name}`, object)),
    delete: (name) => objectOf(api.delete(`${path}/${name}`)),
    watch(resourceVersion) {
      const events: string[] = [];
      let close = () => undefined as void;
      const follow = async (): Promise<string> => {
        const response = await api.open("GET", `${path}?watch=true&resourceVersion=${resourceVersion}`, {});
        close = () => void response.destroy();
        response.setEncoding("utf8");
        let rest = "";
        let failure: string | undefined;
        try {
          for await (const text of response) {
            const lines = (rest + String(text)).split("\n");
            rest = lines.pop()!;
            for (const line of lines) {
              const { type, object } = JSON.parse(line) as Frame;
              if (type === "ERROR") failure = object.reason;
              else events.push(`${type} ${object.metadata.name}`);
            }
          }
          return failure ?? "closed";
        } catch {
          return "lost";
        }
      };
      return { events, end: follow().catch(() => "lost"), close: () => close() };
    },
  };
}

/** Deletes the config maps of the test. */
export async function deleteConfigMaps({ client }: Server): Promise<void> {
  const { items } = await client.list(inDefault);
  for (const { metadata } of items) await client.delete({ ...inDefault, name: metadata.name! });
}
