/** A request in the namespace of its case; the default method is POST, the default user the administrator. */
export interface Request {
  readonly method?: "POST" | "PUT" | "PATCH";
  /** Below the namespace: `configmaps`, `deployments/web/scale`. */
  readonly path: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly user?: "joe";
  /** Whether managed fields are compared instead of the object. */
  readonly showsManagers?: boolean;
}

/** A policy: its spec without `matchConstraints` matches all kinds of the cases. */
export interface PolicyCase {
  readonly spec: object;
  /** Members of the spec of the binding. */
  readonly binding?: object;
}

/** Policies and requests that are sent to the reference and to this server. */
export interface Case {
  readonly name: string;
  /** Objects that exist before the policies. */
  readonly objects?: readonly { readonly path: string; readonly body: object }[];
  readonly validating?: readonly PolicyCase[];
  readonly mutating?: readonly PolicyCase[];
  readonly requests: readonly Request[];
}

/** Creates a ConfigMap. */
export const configMap = (data: object = { a: "b" }, metadata: object = {}): Request => ({
  path: "configmaps",
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map", ...metadata }, data },
});
