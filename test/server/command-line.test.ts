import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { Api } from "../support/api.ts";
import { plinth, ServerProcess } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { ServerHere } from "../support/server-here.ts";

const folder = useTemporaryFolders();

describe("plinth", () => {
  it("shows every flag in its help", async () => {
    const { code, stdout } = await plinthHere("serve", "--help");
    expect(code).toBe(0);
    for (const { name } of serveFlags) expect(stdout).toContain(`--${name}`);
    expect(stdout).toContain("  WatchList (alpha, default false)\n");
    expect(stdout).toContain("  MemoryManager (beta, default true, no effect here)\n");
  });

  it("--cert-dir holds apiserver.crt and apiserver.key after the start, and serves with them again", async () => {
    const [dir, data] = [path.join(folder(), "certificates"), folder()];
    const at = (name: string) => path.join(dir, name);
    const shown: string[] = [];
    for (let start = 0; start < 2; start++) {
      const server = await ServerHere.start(data, `--cert-dir=${dir}`);
      try {
        // What the file holds suffices to trust the server, as in the reference.
        const api = new Api(server.url, readFileSync(at("apiserver.crt"), "utf8"), undefined);
        expect((await api.get("/version")).status).toBe(200);
        api.close();
        expect(readFileSync(at("apiserver.key"), "utf8")).toContain("PRIVATE KEY");
        expect(readFileSync(server.administrator, "utf8")).toContain("certificate-authority-data");
        shown.push(readFileSync(at("apiserver.crt"), "utf8"));
      } finally {
        await server.stop();
      }
    }
    expect(shown[1]).toBe(shown[0]);
  });

  it.each([
    ["--secure-prot=1", /unknown flag --secure-prot/],
    ["--secure_port=1", /unknown flag --secure_port; did you mean --secure-port\?/],
    ["--secure-port=abc", /--secure-port: "abc" is not an integer from 0 to 65535/],
    ["--secure-port=70000", /--secure-port: "70000" is not an integer from 0 to 65535/],
    ["--bind-address=nowhere", /--bind-address: "nowhere" is not an IP address/],
    ["--max-connections=0", /--max-connections: "0" is not an integer from 1 to/],
    ["--allow-privileged=maybe", /--allow-privileged: "maybe" is not true or false/],
    ["--vocabulary=klingon", /--vocabulary: "klingon" is not one of platform, kubernetes/],
    ["--storage-backend=floppy", /--storage-backend: "floppy" is not one of embedded, memory, etcd3/],
    ["--storage-backend=etcd3", /--storage-backend needs --etcd-servers/],
    [
      "--authorization-mode=RBAC,Nope",
      /--authorization-mode: "Nope" is not one of Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny/,
    ],
    ["--anonymous-auth=maybe", /--anonymous-auth: "maybe" is not true or false/],
    ["--history-retention=5", /--history-retention: "5" is not a length of time/],
    ["--tls-cert-file=x", /--tls-cert-file needs --tls-private-key-file/],
    ["--data-dir", /--data-dir needs a value/],
    ["extra", /unexpected argument "extra"/],
  ])("serve %s: exit code 2 and a clear message", async (flag, message) => {
    const { code, stderr } = await plinthHere("serve", flag);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(2);
  });

  it.each([
    ["--feature-gates=Nope=true", /--feature-gates: unrecognized feature gate: Nope/],
    [
      "--feature-gates=WatchList=x",
      /--feature-gates: "WatchList=x": a feature is set with NAME=true or NAME=false/,
    ],
    [
      "--service-cluster-ip-range=10.0.0.0",
      /--service-cluster-ip-range: "10.0.0.0" is not a range of addresses/,
    ],
    ["--service-node-port-range=5-1", /--service-node-port-range: "5-1" is not a range of ports/],
    [
      "--show-hidden-metrics-for-version=1.20",
      /--show-hidden-metrics-for-version: "1.20" is not the release before/,
    ],
    ["--runtime-config=nope/v1=true", /--runtime-config: "nope\/v1" is not a group version/],
    ["--runtime-config=v1/nope=true", /--runtime-config: "v1\/nope": v1 has no such resource/],
    ["--runtime-config=v1=perhaps", /--runtime-config: "v1=perhaps": the value is true or false/],
    [
      "--token-auth-file=/nowhere/tokens.csv",
      /--token-auth-file \/nowhere\/tokens\.csv: the file doesn't exist/,
    ],
    ["--client-ca-file=/nowhere/ca.crt", /--client-ca-file \/nowhere\/ca\.crt: the file doesn't exist/],
    [
      "--disable-admission-plugins=Nope",
      /--disable-admission-plugins: unknown admission plugin "Nope"; allowed are AlwaysAdmit, /,
    ],
    ["--enable-admission-plugins=Nope", /--enable-admission-plugins: unknown admission plugin "Nope"/],
    ["--controllers=nope", /--controllers: there is no controller "nope"; there are /],
    [
      "--etcd-servers=ftp://h",
      /--etcd-servers: "ftp:\/\/h" is not http:\/\/HOST:PORT or https:\/\/HOST:PORT/,
    ],
    ["--tls-san=no host", /--tls-san: "no host" is neither an IP address nor a DNS name/],
    [
      "--encryption-provider-config=/nowhere/x",
      /--encryption-provider-config \/nowhere\/x: the file doesn't exist/,
    ],
  ])("serve %s: exit code 2, and nothing is left open", async (flag, message) => {
    const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${folder()}`, flag);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(2);
  });

  it("serve: a store that can't be reached is exit code 1", async () => {
    const words = [`--data-dir=${folder()}`, "--etcd-servers=127.0.0.1:1"];
    const { code, stderr } = await plinthHere("serve", ...words);
    expect(stderr).toMatch(/etcd|127\.0\.0\.1:1/);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(1);
  });

  it("serve: a port in use is reported", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const { code, stderr } = plinth("serve", `--secure-port=${port}`, `--data-dir=${folder()}`);
    other.close();
    expect(stderr).toContain(`port ${port} of 127.0.0.1 is in use`);
    expect(code).toBe(1);
  });

  it("serve: a token file with a malformed line is rejected with the line's number", async () => {
    const dir = folder();
    const file = path.join(dir, "tokens.csv");
    writeFileSync(file, "secret-one,ana,1\nsecret-two,bela\n");
    const words = ["--secure-port=0", `--data-dir=${dir}`, `--token-auth-file=${file}`];
    const { code, stderr } = await plinthHere("serve", ...words);
    expect(stderr).toMatch(/line 2/);
    expect(stderr).not.toContain("secret-two");
    expect(code).toBe(2);
  });

  it("serve: a damaged data folder is reported, and nothing is overwritten", async () => {
    const dir = folder();
    mkdirSync(path.join(dir, "store"), { recursive: true });
    const file = path.join(dir, "store/data.mdb");
    writeFileSync(file, "this is not a database, but somebody's text\n".repeat(500));
    const before = readFileSync(file, "utf8");
    const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${dir}`);
    expect(stderr).toContain(path.join(dir, "store"));
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

describe("plinth serve", () => {
  it("C-1-02 objects survive a restart; secrets of the data folder are its owner's only", async () => {
    const dir = folder();
    const tokens = path.join(dir, "tokens.csv");
    writeFileSync(tokens, "t,root,1,system:masters\n");
    let server = await ServerProcess.start(dir, `--token-auth-file=${tokens}`);
    const made = await server.as("t").post("/api/v1/namespaces", { metadata: { name: "kept" } });
    expect(made.status).toBe(201);
    expect(await server.stop()).toBe(0);
    for (const file of [
      "admin.kubeconfig",
      "pki/ca.key",
      "pki/server.key",
      "store/data.mdb",
      "store/lock.mdb",
    ]) {
      expect(statSync(path.join(dir, file)).mode & 0o077, file).toBe(0);
    }
    server = await ServerProcess.start(dir, `--token-auth-file=${tokens}`);
    expect((await server.as("t").get("/api/v1/namespaces/kept")).body).toEqual(made.body);
    expect(await server.stop("SIGINT")).toBe(0);
  });

  it("C-5.2-03 a change of the token file takes effect after a restart", async () => {
    const dir = folder();
    const tokens = path.join(dir, "tokens.csv");
    writeFileSync(tokens, "first,root,1,system:masters\n");
    let server = await ServerHere.start(dir, `--token-auth-file=${tokens}`);
    writeFileSync(tokens, "second,root,1,system:masters\n");
    expect((await server.as("first").get("/api/v1/namespaces")).status).toBe(200);
    expect((await server.as("second").get("/api/v1/namespaces")).status).toBe(401);
    await server.stop();
    server = await ServerHere.start(dir, `--token-auth-file=${tokens}`);
    expect((await server.as("first").get("/api/v1/namespaces")).status).toBe(401);
    expect((await server.as("second").get("/api/v1/namespaces")).status).toBe(200);
    await server.stop();
  });

  it("backup while serving, and restore into an empty folder", async () => {
    const dir = folder();
    const tokens = path.join(dir, "tokens.csv");
    writeFileSync(tokens, "t,root,1,system:masters\n");
    const server = await ServerProcess.start(dir, `--token-auth-file=${tokens}`);
    const before = await server.as("t").post("/api/v1/namespaces", { metadata: { name: "before" } });
    const copy = path.join(folder(), "backup");
    const backup = plinth("backup", `--data-dir=${dir}`, `--to=${copy}`);
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/backed up revision \d+/) });
    await server.as("t").post("/api/v1/namespaces", { metadata: { name: "after" } });
    expect(plinth("check", `--data-dir=${dir}`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/: sound\n/),
    });
    await server.stop();
    expect(await plinthHere("restore", `--from=${copy}`, `--data-dir=${dir}`)).toMatchObject({ code: 1 });
    const fresh = folder();
    expect((await plinthHere("restore", `--from=${copy}`, `--data-dir=${fresh}`)).code).toBe(0);
    const restored = await ServerHere.start(fresh, `--token-auth-file=${tokens}`);
    const client = restored.as("t");
    expect((await client.get("/api/v1/namespaces/before")).body).toEqual(before.body);
    expect((await client.get("/api/v1/namespaces/after")).status).toBe(404);
    await restored.stop();
  });

  it("C-4.11-12 --shutdown-delay-duration: not ready at once, serving until the delay is over", async () => {
    const dir = folder();
    const tokens = path.join(dir, "tokens.csv");
    writeFileSync(tokens, "t,root,1,system:masters\n");
    const flags = [`--token-auth-file=${tokens}`, "--shutdown-delay-duration=1500ms"];
    const server = await ServerProcess.start(dir, ...flags);
    const client = server.as("t");
    expect((await client.get("/readyz")).status).toBe(200);
    process.kill(server.pid, "SIGTERM");
    let ready = await client.get("/readyz");
    while (ready.status === 200) ready = await client.get("/readyz");
    expect(ready.text).toContain("[-]shutdown failed");
    expect((await client.get("/livez")).status).toBe(200);
    expect((await client.get("/api/v1/namespaces/default")).status).toBe(200);
    expect(await server.ended()).toBe(0);
  });

  it("--max-connections and --allow-privileged reach the server", async () => {
    const dir = folder();
    const tokens = path.join(dir, "tokens.csv");
    writeFileSync(tokens, "t,root,1,system:masters\n");
    const flags = ["--max-connections=1", "--allow-privileged"];
    const server = await ServerHere.start(dir, `--token-auth-file=${tokens}`, ...flags);
    const client = server.as("t");
    const pod = { containers: [{ name: "c", image: "i", securityContext: { privileged: true } }] };
    const at = "/api/v1/namespaces/default/pods";
    expect((await client.post(at, { metadata: { name: "p" }, spec: pod })).status).toBe(201);
    // The client keeps its connection; another one is one too many.
    await expect(server.as("t").get("/livez")).rejects.toThrow();
    const { text } = await client.get("/metrics");
    expect(text).toMatch(/^platform_client_connections_refused_total [1-9]\d*$/m);
    expect(server.log()).toContain("too many connections: new ones are refused; see --max-connections");
    await server.stop();
  });

  it("an unreadable folder is reported", async () => {
    const dir = folder();
    const file = path.join(dir, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o600);
    const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${file}`);
    expect(stderr).toContain(file);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(2);
  });
});
