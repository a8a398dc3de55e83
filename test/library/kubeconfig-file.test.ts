import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { AUTHN } from "../api/support.ts";
import { Api } from "../support/api.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

let server: Server;
const folder = useTemporaryFolders();
beforeAll(async () => {
  server = await createServer({ runtimeConfig: "authentication.platform.io/v1alpha1" });
});
afterAll(() => server.close());

/** The user as whom the server recognizes a client with the kubeconfig of the file. */
async function userOf(file: string): Promise<unknown> {
  const config = new KubeConfig();
  config.loadFromFile(file);
  const { server: url, caData } = config.getCurrentCluster()!;
  const { token, certData, keyData } = config.getCurrentUser()!;
  const decode = (data: string | undefined) => Buffer.from(data!, "base64").toString();
  const certificate = certData === undefined ? undefined : { cert: decode(certData), key: decode(keyData) };
  const api = new Api(url, decode(caData), token && `Bearer ${token}`, certificate);
  try {
    return (await api.post(`${AUTHN}/selfsubjectreviews`, {})).body.status.userInfo;
  } finally {
    api.close();
  }
}

describe("kubeconfigFile", () => {
  test("writes a private file for the administrator", async () => {
    const file = server.kubeconfigFile();
    expect(path.isAbsolute(file)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe(server.kubeconfig());
    expect(await userOf(file)).toMatchObject({ username: "admin" });
  });

  test("writes a file for another user, whom a client certificate identifies", async () => {
    const first = server.kubeconfigFile({ user: "devi", groups: ["shop-developers", "all: ü, =x"] });
    const second = server.kubeconfigFile({ user: "system:serviceaccount:shop:robot" });
    expect(await userOf(first)).toEqual({
      username: "devi",
      groups: ["shop-developers", "all: ü, =x", "system:authenticated"],
    });
    expect(await userOf(second)).toMatchObject({ username: "system:serviceaccount:shop:robot" });
  });

  test("replaces the file at a path and keeps it when the server stops", async () => {
    const file = path.join(folder(), "config");
    writeFileSync(file, "old", { mode: 0o644 });
    const other = await createServer();
    expect(other.kubeconfigFile({ path: file })).toBe(file);
    const temporary = other.kubeconfigFile();
    expect(readFileSync(file, "utf8")).toBe(readFileSync(temporary, "utf8"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await other.close();
    expect(existsSync(file)).toBe(true);
    expect(existsSync(path.dirname(temporary))).toBe(false);
    expect(() => other.kubeconfigFile()).toThrow("kubeconfigFile: the server is closed");
  });

  test("rejects unusable options and a missing folder", () => {
    expect(() => server.kubeconfigFile({ groups: ["a"] })).toThrow("the option groups needs the option user");
    expect(() => server.kubeconfigFile({ user: "" })).toThrow(TypeError);
    const file = path.join(folder(), "missing", "config");
    expect(() => server.kubeconfigFile({ path: file })).toThrow(/ENOENT/);
  });

  test("rejects a server without a socket", async () => {
    await using other = await createServer({ port: false });
    expect(() => other.kubeconfigFile()).toThrow("this server has no socket (port: false)");
  });

  test("rejects other users of a server with an operator's certificate", async () => {
    const own = createServingCertificates(["127.0.0.1"]);
    const [cert, key] = ["tls.crt", "tls.key"].map((name) => path.join(folder(), name)) as [string, string];
    writeFileSync(cert, own.serving.certificate + own.caCertificate);
    writeFileSync(key, own.serving.key);
    await using other = await createServer({ certificateFiles: { cert, key } });
    expect(other.kubeconfigFile()).toMatch(/kubeconfig$/);
    expect(() => other.kubeconfigFile({ user: "devi" })).toThrow(
      "this server can't issue client certificates",
    );
  });
});
