import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import { visitScript } from "../tidy/syntax-tree.ts";
import { useInstalledPackage } from "./installed-package.ts";

describe("the package, installed into an empty folder", () => {
  const installed = useInstalledPackage();

  it("the import gives a server", () => {
    const script = `
      import { createServer } from "plinth";
      const server = await createServer({ port: false });
      await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } });
      const { items } = await server.client.list({ apiVersion: "v1", kind: "Namespace" });
      console.log(items.map((item) => item.metadata.name).join());
      await server.close();`;
    expect(installed.node("--input-type=module", "-e", script)).toBe(
      "default,made,platform-node-lease,platform-public,platform-system",
    );
  });

  it("installs two packages, with at most 35 MB", () => {
    const modules = path.join(installed.home, "node_modules");
    const lock = JSON.parse(readFileSync(path.join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, unknown>;
    };
    const compiled = `node_modules/@lmdb/lmdb-${process.platform}-${process.arch}`;
    expect(Object.keys(lock.packages)).toEqual([compiled, "node_modules/plinth"]);
    const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const bytes = files.reduce((sum, one) => sum + statSync(path.join(one.parentPath, one.name)).size, 0);
    expect(bytes).toBeLessThan(35e6);
  });

  it("the bundles import nothing, and come with the licenses of the libraries in them", () => {
    const dist = path.join(installed.home, "node_modules/plinth/dist");
    const licenses = readFileSync(path.join(dist, "third-party-licenses.txt"), "utf8");
    expect(licenses).toMatch(/^sorted-btree \d+\.\d+\.\d+, MIT\n\n(?:.*\n)*?.*Permission is hereby granted/m);
    const bundles = readdirSync(dist).filter((name) => /\.c?js$/.test(name));
    const text = bundles.map((name) => readFileSync(path.join(dist, name), "utf8")).join("\n");
    const named = [...text.matchAll(/(?:^import [^"();=]*|\bimport\()"([^".][^"]*)"/gm)].map(
      ([, name]) => name!,
    );
    const others = named.filter((name) => !isBuiltin(name));
    expect([...new Set(others)].toSorted()).toEqual([]);
  });

  it("the bundles for require have no import(), which other module loaders don't support", () => {
    const dist = path.join(installed.home, "node_modules/plinth/dist");
    const bundles = readdirSync(dist).filter((name) => name.endsWith(".cjs"));
    expect(bundles).toContain("index.cjs");
    const dynamic = bundles.filter((name) => {
      const text = readFileSync(path.join(dist, name), "utf8");
      // The words can also be in a string or a comment.
      if (!/\bimport\s*\(/.test(text)) return false;
      let count = 0;
      visitScript(text, ({ type }) => {
        if (type === "ImportExpression") count++;
      });
      return count > 0;
    });
    expect(dynamic).toEqual([]);
  });

  it("the bill of materials lists the same libraries as the licenses, with checksums of their archives", () => {
    const dist = path.join(installed.home, "node_modules/plinth/dist");
    const bill = JSON.parse(readFileSync(path.join(dist, "sbom.cdx.json"), "utf8")) as {
      specVersion: string;
      metadata: { component: { purl: string } };
      components: readonly { name: string; version: string; scope: string; hashes?: readonly object[] }[];
    };
    expect([bill.specVersion, bill.metadata.component.purl]).toEqual(["1.6", "pkg:npm/plinth@0.1.0"]);
    const bundled = bill.components.filter(({ scope }) => scope === "required");
    const licenses = readFileSync(path.join(dist, "third-party-licenses.txt"), "utf8");
    const headings = licenses.split(/\n-{80}\n\n/).map((text) => text.slice(0, text.indexOf(",")));
    expect(bundled.map(({ name, version }) => `${name} ${version}`)).toEqual(headings);
    expect(bundled.length).toBeGreaterThan(15);
    expect(bill.components.filter(({ hashes }) => hashes?.length !== 1)).toEqual([]);
  });

  it("each library that is loaded on demand works: YAML, HTTP client, ASN.1, RE2, LMDB", () => {
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
    expect(JSON.parse(installed.node("--input-type=module", "-e", script, csr))).toEqual([
      "c",
      expect.stringContaining("must be a valid regular expression"),
      "CertificateSigningRequest",
      expect.stringContaining("ECONNREFUSED"),
    ]);
  });

  it("npx plinth serve serves", async () => {
    const child = spawn(path.join(installed.home, "node_modules/.bin/plinth"), ["serve", "--secure-port=0"], {
      cwd: installed.home,
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
