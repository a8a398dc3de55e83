import type { WriteRequest } from "../history.ts";
import { newObject } from "./objects.ts";

/** The path of transactions. */
export const transactions = "/apis/transactions.platform.io/v1alpha1/transactions";

/** A write in a transaction. */
export type TogetherRequest = Extract<WriteRequest, { verb: "create" | "patch" | "update" }>;

/** Returns a write as an operation of a transaction. */
export function operationOf(request: TogetherRequest): object {
  const { verb, key, token } = request;
  const created = newObject(key, token, 1) as { apiVersion?: string; kind?: string; metadata: object };
  const [, , namespace, name] = key.split("/");
  const named = { apiVersion: "v1", kind: "ConfigMap" };
  if (verb === "create")
    return { verb, object: { ...named, ...created, metadata: { ...created.metadata, namespace } } };
  const resourceVersion = request.expected === undefined ? undefined : String(request.expected);
  const patch = { metadata: { resourceVersion, annotations: { token } } };
  return { verb: "patch", ...named, namespace, name, patchType: "application/merge-patch+json", patch };
}
