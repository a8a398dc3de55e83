import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { parseFlags } from "../../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../../src/cli/flags/flags.ts";
import {
  serveOptions,
  variableOf,
  warnOfVariables,
  type ServeOptions,
} from "../../../src/cli/serve/serve-options.ts";
import { serverOptionsOf } from "../../../src/server/options/library-options.ts";
import { ServerProcess } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { plinthHere } from "../../support/program-here.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

function configuration(text: string, name = "plinth.yaml"): string {
  const file = path.join(folder.path, name);
  writeFileSync(file, text);
  return file;
}

const optionsOf = (words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<ServeOptions> =>
  serveOptions(parseFlags(serveFlags, words), environment);

const withFile = (text: string, ...words: readonly string[]) =>
  optionsOf([`--config=${configuration(text)}`, ...words]);

describe("options of plinth serve", () => {
  test("come from flags, then environment variables, then the configuration file, then defaults", async () => {
    const file = configuration("port: 1\nhost: 127.0.0.2\nretentionMs: 10m\nextraHosts: [a]\n");
    const environment = { PLINTH_SECURE_PORT: "2", PLINTH_BIND_ADDRESS: "127.0.0.3", PLINTH_CONFIG: file };
    const { server } = await optionsOf(["--secure-port=3"], environment);
    expect(server).toMatchObject({ port: 3, host: "127.0.0.3", retentionMs: 600_000, extraHosts: ["a"] });
    expect(server).toMatchObject({ anonymousAuth: undefined, eventLifeMs: 3_600_000 });
  });

  test("in a file have the keys of createServer", async () => {
    const options = {
      vocabulary: "kubernetes" as const,
      flow: { fair: false, maxReading: 3 },
      authentication: {
        serviceAccounts: { lookup: false },
        oidc: { issuerUrl: "https://id.example.com", clientId: "me" },
      },
      audit: { log: { path: "-", batch: { throttle: { perSecond: 2, burst: 1 } }, truncate: {} } },
      clusterSigning: { signers: { client: { cert: "/c", key: "/k" } } },
    };
    const { server } = await withFile(JSON.stringify(options));
    const library = serverOptionsOf(options);
    for (const key of ["vocabulary", "flow", "authentication", "audit", "clusterSigning"] as const)
      expect(server[key]).toEqual(library[key]);
    expect(server.audit.log!.batch.throttle).toEqual({ perSecond: 2, burst: 1 });
    expect(server.audit.log!.truncate).toEqual({ maxEventBytes: 102_400, maxBatchBytes: 10_485_760 });
  });

  test("false in a file turns off a group that is on by default", async () => {
    const { server } = await withFile("audit: {webhook: {configFile: /w, batch: {throttle: false}}}");
    expect(server.audit.webhook!.batch.throttle).toBeUndefined();
    const { server: usual } = await withFile("audit: {webhook: {configFile: /w}}");
    expect(usual.audit.webhook!.batch.throttle).toEqual({ perSecond: 10, burst: 15 });
  });

  test("of etcd imply its engine from every source, and a flag chooses another engine", async () => {
    const file = "storage: {endpoints: ['http://127.0.0.1:1']}";
    expect((await withFile(file)).server.storage).toMatchObject({ engine: "etcd", prefix: "/registry" });
    expect((await withFile(file, "--storage-backend=memory")).server.storage).toEqual({ engine: "memory" });
    const { server } = await optionsOf([], { PLINTH_ETCD_SERVERS: "http://127.0.0.1:1" });
    expect(server.storage).toMatchObject({ engine: "etcd" });
  });

  test("variables that are nearly those of flags are named in a warning; those of Kubernetes for a Service are not", () => {
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
    const service = {
      PLINTH_SERVICE_HOST: "10.0.0.1",
      PLINTH_SERVICE_PORT: "443",
      PLINTH_SERVICE_PORT_HTTPS: "443",
      PLINTH_PORT: "tcp://10.0.0.1:443",
      PLINTH_PORT_443_TCP_ADDR: "10.0.0.1",
    };
    const correct = { PLINTH_SECURE_PORT: "1", HOME: "/root" };
    warnOfVariables({ ...service, ...correct, PLINTH_SECURE_PRT: "1", PLINTH_FEATUREGATES: "A=true" }, log);
    expect(warnings).toEqual([
      "PLINTH_SECURE_PRT has no effect; did you mean PLINTH_SECURE_PORT?",
      "PLINTH_FEATUREGATES has no effect; did you mean PLINTH_FEATURE_GATES?",
    ]);
  });

  test("an empty variable is unset", async () => {
    const { server } = await optionsOf([], { PLINTH_CLIENT_CA_FILE: "", PLINTH_ANONYMOUS_AUTH: "" });
    expect([server.clientCaFile, server.anonymousAuth]).toEqual([undefined, undefined]);
  });

  test.each([
    ["prot: 1", "plinth.yaml: prot: there is no such option; did you mean port?"],
    ["secure-port: 1", "plinth.yaml: secure-port: there is no such option; that of --secure-port is port"],
    ["audit: {log: {file: x}}", "plinth.yaml: audit.log.file: there is no such option; there are path, "],
    ["port: many", 'plinth.yaml: port: "many" is not an integer from 0 to 65535'],
    ["port: false", "plinth.yaml: port: the program needs a port"],
    ["host: nowhere", 'plinth.yaml: host: "nowhere" is not an IP address'],
    ["storage: memory", 'plinth.yaml: storage: "memory" is not an object of options'],
    [
      "storage: {engine: lmdb}",
      'plinth.yaml: storage.engine: "lmdb" is not one of embedded, memory, etcd, postgres',
    ],
    ["storage: {engine: memory, prefix: /x}", "plinth.yaml: storage.prefix: there is no such option"],
    ["authentication: {oidc: {}}", "--oidc-issuer-url: is needed, and must be a text"],
    [
      "authentication: {oidc: {clientId: me}}",
      "plinth.yaml: authentication.oidc.clientId needs --oidc-issuer-url",
    ],
    ["audit: {log: {path: '-', batch: {batchEvents: 3, bufferEvents: 2}}}", "batchEvents: 3 is more than"],
    ["[1]", "plinth.yaml: [1] is not an object of options"],
    ["a: b: c", "--config "],
    ["port: 1\nport: 2", "plinth.yaml: port: set more than once"],
    ["__proto__: {}", "plinth.yaml: __proto__: there is no such option"],
  ])("in a file like %j are refused", async (text, message) => {
    await expect(withFile(text)).rejects.toThrow(message);
  });

  test("from a variable are refused by its name", async () => {
    await expect(optionsOf([], { PLINTH_SECURE_PORT: "x" })).rejects.toThrow(
      'PLINTH_SECURE_PORT: "x" is not an integer from 0 to 65535',
    );
  });

  test("--config of a missing file is refused", async () => {
    await expect(optionsOf(["--config=/nowhere/plinth.yaml"])).rejects.toThrow(
      "--config /nowhere/plinth.yaml: the file doesn't exist",
    );
  });

  test("each flag has a variable of its own", () => {
    expect(new Set(serveFlags.map(({ name }) => variableOf(name))).size).toBe(serveFlags.length);
    expect(variableOf("audit-log-maxage")).toBe("PLINTH_AUDIT_LOG_MAXAGE");
  });
});

describe("the program", () => {
  test("--config=FILE and environment variables set what the server does", async () => {
    const file = configuration("vocabulary: kubernetes\nauthorizationModes: [AlwaysAllow]\n", "run.yaml");
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "ann-token,ann,1\n");
    const words = [`--config=${file}`, `--token-auth-file=${tokens}`];
    const server = await ServerProcess.start(path.join(folder.path, "data"), ...words);
    const { status, text } = await server
      .as("ann-token")
      .get("/apis/rbac.authorization.k8s.io/v1/clusterroles");
    await server.stop();
    expect([status, text.includes("cluster-admin")]).toEqual([200, true]);
  });

  test("an error of the start names the variable or key that set the option", async () => {
    const file = configuration("clientCaFile: /nowhere/ca.crt\n", "wrong.yaml");
    const words = [`--config=${file}`, `--data-dir=${path.join(folder.path, "unused")}`];
    const { code, stderr } = await plinthHere(
      "serve",
      "--storage-backend=memory",
      "--secure-port=0",
      ...words,
    );
    expect(code).toBe(2);
    expect(stderr).toContain(
      `${file}: clientCaFile (--client-ca-file) /nowhere/ca.crt: the file doesn't exist`,
    );
  });
});
