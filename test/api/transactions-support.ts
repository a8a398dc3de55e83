import type { Answer, Api, TestServer } from "../support/api.ts";

/** Options of a server that serves transactions. */
export const withTransactions = { runtimeConfig: "transactions.platform.io/v1alpha1=true" };

/** The path of transactions. */
export const transactionsPath = "/apis/transactions.platform.io/v1alpha1/transactions";
/** The path of the ConfigMaps that the operations write. */
export const maps = "/api/v1/namespaces/default/configmaps";

/** Sends operations as one transaction. */
export const transact = (api: Api, operations: readonly object[], query = ""): Promise<Answer> =>
  api.post(`${transactionsPath}${query}`, { spec: { operations } });

/** A ConfigMap in the namespace `default`. */
export const map = (name: string, data: object = { name }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

/** Operations that create ConfigMaps. */
export const creates = (...names: string[]) => names.map((name) => ({ verb: "create", object: map(name) }));

/** An operation that deletes a ConfigMap. */
export const remove = (name: string, more: object = {}) => ({
  verb: "delete",
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "default",
  name,
  ...more,
});

/** The status of a get of a ConfigMap. */
export const statusOf = async ({ admin }: Pick<TestServer, "admin">, name: string) =>
  (await admin.get(`${maps}/${name}`)).status;
