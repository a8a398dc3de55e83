import type { Answer, Api } from "../support/api.ts";

/** A request with a collection of `count` entries. */
export interface Law {
  readonly name: string;
  /** Smallest number of entries. */
  readonly n: number;
  /** Status of the response. */
  readonly status: number;
  /**
   * Creates what the request needs.
   *
   * @returns the request, which can be repeated: it stores nothing.
   */
  prepare(api: Api, count: number): Promise<() => Promise<Answer>>;
}

export const core = "/api/v1/namespaces/default";
export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const json = "application/json-patch+json";
export const apply = "application/apply-patch+yaml";

/** A list of entries, by index. */
export const entries = <T>(count: number, entry: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => entry(index));
/** A map of values, by index. */
export const members = <T>(count: number, value: (index: number) => T): Record<string, T> =>
  Object.fromEntries(entries(count, (index) => [`k${index}`, value(index)]));

/** A create that stores nothing. */
export function creating(name: string, n: number, path: string, object: (count: number) => object): Law {
  return {
    name: `create ${name}`,
    n,
    status: 201,
    prepare: async (api, count) => {
      const raw = JSON.stringify(object(count));
      return () => api.ask("POST", `${path}?dryRun=All`, { raw });
    },
  };
}

/** A request that answers with a review. */
export function reviewing(name: string, n: number, path: string, object: (count: number) => object): Law {
  const law = creating(name, n, path, object);
  return { ...law, name: `review ${name}`, prepare: (api, count) => reviewOf(api, path, object(count)) };
}

async function reviewOf(api: Api, path: string, object: object): Promise<() => Promise<Answer>> {
  const raw = JSON.stringify(object);
  return () => api.ask("POST", path, { raw });
}

let stored = 0;

/** Returns a name that no other law uses. */
export const newName = (): string => `law-${++stored}`;

/** A change, without storing it, of an object that has `count` entries. */
export function changing(
  name: string,
  n: number,
  {
    path,
    object,
    change,
    contentType,
    status = 200,
    query = "",
    subresource = "",
  }: {
    readonly path: string;
    readonly object: (count: number) => { readonly metadata: object };
    /** Body of the request; an update replaces the object. */
    readonly change: (count: number, name: string) => unknown;
    readonly contentType: string;
    readonly status?: number;
    readonly query?: string;
    /** For example `/status`. */
    readonly subresource?: string;
  },
): Law {
  return {
    name,
    n,
    status,
    prepare: async (api, count) => {
      const objectName = newName();
      const body = object(count);
      const created = await api.post(path, { ...body, metadata: { ...body.metadata, name: objectName } });
      if (created.status !== 201) throw new Error(`${name}: ${created.status} ${created.text.slice(0, 500)}`);
      const method = contentType === "application/json" ? "PUT" : "PATCH";
      const raw = JSON.stringify(change(count, objectName));
      return () =>
        api.ask(method, `${path}/${objectName}${subresource}?dryRun=All${query}`, { raw, contentType });
    },
  };
}
