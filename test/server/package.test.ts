import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import { root, temporaryFolder } from "../support/process.ts";

/** The registry is asked only for what isn't in npm's own cache; without either the tests are skipped. */
const installMs = 120_000;

describe("the package, installed into an empty folder", () => {
  const folder = temporaryFolder();
  const home = path.join(folder.path, "empty");
  let installed = false;

  beforeAll(() => {
    mkdirSync(home);
    const packed = spawnSync(
      "npm",
      ["pack", "--ignore-scripts", `--pack-destination=${folder.path}`, "--json"],
      { cwd: root, encoding: "utf8" },
    );
    expect(packed.status, packed.stderr).toBe(0);
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    writeFileSync(path.join(home, "package.json"), '{ "private": true, "type": "module" }\n');
    const words = [
      "install",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      path.join(folder.path, filename),
    ];
    const install = spawnSync("npm", words, { cwd: home, encoding: "utf8", timeout: installMs });
    const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(install.stderr);
    if (!offline) expect(install.status, install.stderr).toBe(0);
    installed = install.status === 0;
  }, installMs);

  afterAll(folder.remove);

  it("the import gives a server", (context) => {
    if (!installed) context.skip("the registry can't be reached");
    const script = `
      import { createServer } from "plinth";
      const server = await createServer({ port: false });
      await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } });
      const { items } = await server.client.list({ apiVersion: "v1", kind: "Namespace" });
      console.log(items.map((item) => item.metadata.name).join());
      await server.close();`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: home,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe("default,made,platform-node-lease,platform-public,platform-system");
  });

  it("installs two packages, with at most 30 MB", (context) => {
    if (!installed) context.skip("the registry can't be reached");
    const modules = path.join(home, "node_modules");
    const lock = JSON.parse(readFileSync(path.join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, unknown>;
    };
    const compiled = `node_modules/@lmdb/lmdb-${process.platform}-${process.arch}`;
    expect(Object.keys(lock.packages)).toEqual([compiled, "node_modules/plinth"]);
    const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const bytes = files.reduce((sum, one) => sum + statSync(path.join(one.parentPath, one.name)).size, 0);
    expect(bytes).toBeLessThan(30e6);
  });

  it("the bundles import nothing, and come with the licenses of the libraries in them", (context) => {
    if (!installed) context.skip("the registry can't be reached");
    const dist = path.join(home, "node_modules/plinth/dist");
    const licenses = readFileSync(path.join(dist, "third-party-licenses.txt"), "utf8");
    expect(licenses).toMatch(/^sorted-btree \d+\.\d+\.\d+, MIT\n\n(?:.*\n)*?.*Permission is hereby granted/m);
    const bundles = readdirSync(dist).filter((name) => name.endsWith(".js"));
    const text = bundles.map((name) => readFileSync(path.join(dist, name), "utf8")).join("\n");
    const named = [...text.matchAll(/(?:^import [^"();=]*|\bimport\()"([^".][^"]*)"/gm)].map(
      ([, name]) => name!,
    );
    const others = named.filter((name) => !isBuiltin(name));
    expect([...new Set(others)].toSorted()).toEqual([]);
  });

  it("each library that is loaded on demand works: YAML, HTTP client, ASN.1, RE2, LMDB", (context) => {
    if (!installed) context.skip("the registry can't be reached");
    const script = `
      import { createServer } from "plinth";
      import { request } from "node:https";
      const server = await createServer({ storage: { engine: "embedded", dir: "./data" } });
      const send = (path, type, body) => new Promise((resolve, reject) => {
        const headers = { "content-type": type, authorization: "Bearer " + server.adminToken };
        const sent = request(server.url + path, { method: "POST", ca: server.caCertificate, headers }, (answer) => {
          let text = "";
          answer.on("data", (chunk) => (text += chunk)).on("end", () => resolve({ status: answer.statusCode, ...JSON.parse(text) }));
        });
        sent.on("error", reject).end(body);
      });
      const json = (path, body) => send(path, "application/json", JSON.stringify(body));
      const results = [];
      const maps = "/api/v1/namespaces/default/configmaps";
      results.push((await send(maps, "application/yaml", "{metadata: {name: a}, data: {b: c}}")).data.b);
      const definition = {
        metadata: { name: "orders.example.com" },
        spec: {
          group: "example.com", scope: "Namespaced", names: { plural: "orders", kind: "Order" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object",
            properties: { size: { type: "string", pattern: "^[a-z]+(" } } } } }],
        },
      };
      results.push((await json("/apis/apiextensions.platform.io/v1/customresourcedefinitions", definition)).message);
      const request64 = process.argv[1];
      const csr = { metadata: { name: "a" }, spec: { request: request64, signerName: "platform.io/apiserver-client", usages: ["client auth"] } };
      results.push((await json("/apis/certificates.platform.io/v1/certificatesigningrequests", csr)).kind);
      const webhook = {
        metadata: { name: "a" },
        webhooks: [{ name: "a.example.com", clientConfig: { url: "https://127.0.0.1:1/" }, sideEffects: "None",
          admissionReviewVersions: ["v1"], rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }] }],
      };
      await json("/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations", webhook);
      results.push((await json(maps, { metadata: { name: "b" } })).message);
      console.log(JSON.stringify(results));
      await server.close();`;
    const keys = newKeys();
    const csr = Buffer.from(
      certificateRequest("alice", keys, { organizations: [], extensions: [] }),
    ).toString("base64");
    const words = ["--input-type=module", "-e", script, csr];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: home, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      "c",
      expect.stringContaining("must be a valid regular expression"),
      "CertificateSigningRequest",
      expect.stringContaining("ECONNREFUSED"),
    ]);
  });

  it("the types of the package have no errors, and wrong uses of them have", (context) => {
    if (!installed) context.skip("the registry can't be reached");
    writeFileSync(
      path.join(home, "use.ts"),
      `import { createServer, type Server } from "plinth";
       const server: Server = await createServer({ vocabulary: "kubernetes" });
       const text: string = server.kubeconfig();
       const wrong: number = server.url;
       export { text, wrong };`,
    );
    writeFileSync(
      path.join(home, "use.cts"),
      `import { createServer } from "plinth";
       import type { ConfigMap } from "plinth/kinds";
       import type { Store } from "plinth/storage";
       const data = (map: ConfigMap): Record<string, string> | undefined => map.data;
       const wrong = (map: ConfigMap): number => map.data;
       const open = (storage: Store) => createServer({ storage });
       export { data, open, wrong };`,
    );
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const words = [
      tsc,
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--types",
      "node",
      "--typeRoots",
      path.join(root, "node_modules/@types"),
      "use.ts",
      "use.cts",
    ];
    const { stdout } = spawnSync(process.execPath, words, { cwd: home, encoding: "utf8" });
    // All errors: the declarations of the package are checked too.
    const errors = stdout.split("\n").filter((line) => line.includes(": error "));
    expect(errors.toSorted()).toEqual([
      expect.stringMatching(/^use\.cts\(5,\d+\): error TS2322/),
      expect.stringMatching(/^use\.ts\(4,\d+\): error TS2322/),
    ]);
  });

  it("npx plinth serve serves", async (context) => {
    if (!installed) context.skip("the registry can't be reached");
    const child = spawn(path.join(home, "node_modules/.bin/plinth"), ["serve", "--secure-port=0"], {
      cwd: home,
    });
    const out = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes("administrator:")) resolve(text);
      });
      child.once("exit", (code) => reject(new Error(`ended with ${code}: ${text}`)));
    });
    expect(out).toMatch(/plinth serves platform names at https:\/\/127\.0\.0\.1:\d+/);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });
});
