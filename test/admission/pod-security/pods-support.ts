import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";

export const label = (name: string, domain = "platform.io") => `pod-security.${domain}/${name}`;
export const NAMESPACES = "/api/v1/namespaces";
export const podsOf = (namespace: string) => `${NAMESPACES}/${namespace}/pods`;
export const plain = { containers: [{ name: "c", image: "example.com/image:1" }] };
export const onHost = { ...plain, hostPID: true };
export const podNamed = (name: string, spec: object = plain, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec,
});

/** Makes a namespace with pod security labels, given without their prefix. */
export async function namespaceWith(
  { admin }: Pick<TestServer, "admin">,
  name: string,
  labels: Record<string, string>,
  domain?: string,
): Promise<void> {
  const own = Object.entries(labels).map(([key, value]) => [label(key, domain), value]);
  await ok(admin.post(NAMESPACES, { metadata: { name, labels: Object.fromEntries(own) } }));
}

export const isOnHost = "host namespaces (hostPID=true)";
