import type { Api } from "../support/api.ts";
import { apiVersionOf, objectWith, type Collection } from "./collections.ts";
import { growthOf, type Growth } from "./growth.ts";

/** The growth for one request. */
export interface RequestGrowth {
  readonly request: string;
  readonly growth: Growth;
  /** Status of the response with the most entries. */
  readonly status: number;
}

/** Size of the body with the most entries, in bytes, and the largest number of entries. */
const maxBytes = 1_000_000;
const maxEntries = 16_000;

/** Measures a create and an apply, without storing, with n, 2n and 4n entries of a collection. */
export async function builtInGrowths(api: Api, collection: Collection): Promise<RequestGrowth[]> {
  const { kind } = collection;
  const version = apiVersionOf(kind);
  const base = version.includes("/") ? `/apis/${version}` : `/api/${version}`;
  const path = `${base}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.resource}`;
  const entryBytes = JSON.stringify(objectWith(collection, 100)).length / 100;
  const n = Math.floor(Math.min(maxEntries, maxBytes / entryBytes) / 4);
  const bodies = new Map(
    [n, 2 * n, 4 * n].map((count) => [count, JSON.stringify(objectWith(collection, count))]),
  );
  const growths: RequestGrowth[] = [];
  const requests: readonly (readonly [name: string, method: string, at: string, contentType: string])[] = [
    ["create", "POST", `${path}?dryRun=All`, "application/json"],
    ["apply", "PATCH", `${path}/sample?dryRun=All&fieldManager=m`, "application/apply-patch+yaml"],
  ];
  for (const [request, method, at, contentType] of requests) {
    if (request === "apply" && !kind.verbs.includes("patch")) continue;
    let status = 0;
    const growth = await growthOf(n, async (count) => async () => {
      status = (await api.ask(method, at, { raw: bodies.get(count)!, contentType })).status;
    });
    growths.push({ request, growth, status });
  }
  return growths;
}
