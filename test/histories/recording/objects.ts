import { createHash } from "node:crypto";
import type { ObservedObject } from "../history.ts";

/** The resources that clients write, by their name in keys. */
const paths = {
  configmaps: ["/api/v1", "configmaps"],
  services: ["/api/v1", "services"],
  rolebindings: ["/apis/rbac.authorization.platform.io/v1", "rolebindings"],
  leases: ["/apis/coordination.platform.io/v1", "leases"],
} as const;

/** Name of a resource in keys. */
export type ResourceName = keyof typeof paths;

/** An object of the API, as far as the recording reads it. */
export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly nodePort?: number }[];
    readonly holderIdentity?: string;
  };
}

/** Returns the path of a key or of a prefix. */
export function pathOf(keyOrPrefix: string): string {
  const [, resource, namespace, name] = keyOrPrefix.split("/");
  const [group, plural] = paths[resource as ResourceName];
  const collection =
    namespace === undefined || namespace === ""
      ? `${group}/${plural}`
      : `${group}/namespaces/${namespace}/${plural}`;
  return name === undefined || name === "" ? collection : `${collection}/${name}`;
}

/** Returns the resource of a key or prefix. */
export function resourceOf(keyOrPrefix: string): ResourceName {
  return keyOrPrefix.split("/")[1] as ResourceName;
}

/** Returns the key of an object's collection and the object as the judge sees it. */
export function observe(resource: ResourceName, object: ApiObject): ObservedObject {
  const { resourceVersion, ...metadata } = object.metadata;
  const { kind: _kind, apiVersion: _version, ...rest } = object as ApiObject & Record<string, unknown>;
  const text = JSON.stringify({ ...rest, metadata });
  const observed = {
    key: `/${resource}/${metadata.namespace}/${metadata.name}`,
    revision: Number(resourceVersion),
    uid: metadata.uid,
    token: metadata.annotations?.["token"] ?? "",
    digest: createHash("sha1").update(text).digest("hex").slice(0, 12),
  };
  if (resource !== "services") return observed;
  const { clusterIP, ports = [] } = object.spec ?? {};
  const addresses = clusterIP === undefined || clusterIP === "None" ? [] : [clusterIP];
  return {
    ...observed,
    claims: [
      ...addresses,
      ...ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [`port ${nodePort}`])),
    ],
  };
}

/** Returns a new object with a token; `size` is the number of bytes of its payload, where the kind has one. */
export function newObject(key: string, token: string, size: number): object {
  const name = key.split("/")[3]!;
  const metadata = { name, annotations: { token } };
  switch (resourceOf(key)) {
    case "configmaps":
      return { metadata, data: { payload: "x".repeat(size) } };
    case "services":
      return { metadata, spec: { type: "NodePort", ports: [{ port: 80 }] } };
    case "rolebindings":
      return {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: "view" },
        subjects: [{ apiGroup: "rbac.authorization.platform.io", kind: "User", name }],
      };
    case "leases":
      return { metadata, spec: {} };
  }
}
