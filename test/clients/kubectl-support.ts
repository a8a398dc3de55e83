import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { Kubectl, type KubectlProgram } from "../support/kubectl.ts";

/** kubectl with the kubeconfig of a server that starts before the tests of the file. */
export function useKubectl(program: KubectlProgram) {
  const client = {} as { kubectl: Kubectl };
  let server: Server | undefined;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "plinth-tokens-"));
    const tokenAuthFile = join(folder, "tokens.csv");
    const groups = "system:serviceaccounts,system:serviceaccounts:asking";
    writeFileSync(tokenAuthFile, `robots-token,system:serviceaccount:asking:robot,7,"${groups}"\n`);
    // Tests count the ConfigMaps of a namespace.
    const enabledControllers = ["*", "-root-ca-cert-publisher"];
    server = await createServer({ vocabulary: "kubernetes", tokenAuthFile, enabledControllers });
    client.kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await client.kubectl?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  return client;
}

/** Creates a namespace that no other test uses and returns its name. */
export async function createNamespace(kubectl: Kubectl, name: string): Promise<string> {
  await kubectl.ok(["create", "namespace", name]);
  return name;
}

/** The manifest of a ConfigMap. */
export function configMap(name: string, data: object, metadata: object = {}): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data });
}
