import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { readClientConfiguration } from "../../src/remote/client-configuration.ts";
import { inClusterConfiguration } from "../../src/remote/in-cluster-configuration.ts";
import { RemoteFault } from "../../src/remote/answer-reader.ts";
import { RemoteService, serviceLimits } from "../../src/remote/remote-service.ts";
import { ManualClock } from "../api/support.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";

let service: HttpsService;
let reply: () => Reply;
const folder = mkdtempSync(path.join(tmpdir(), "plinth-remote-"));
beforeAll(async () => {
  service = await HttpsService.start(() => reply());
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  service.received.length = 0;
  reply = () => ({ body: { ok: true } });
});

/** A configuration in YAML, as operators write it. */
function configured(
  user: string,
  cluster = "",
): Promise<Awaited<ReturnType<typeof readClientConfiguration>>> {
  writeFileSync(path.join(folder, "ca.pem"), service.ca);
  const file = path.join(folder, "service.yaml");
  writeFileSync(
    file,
    `
apiVersion: v1
kind: Config
current-context: only
contexts:
- {name: only, context: {cluster: far, user: me}}
clusters:
- name: far
  cluster:
    server: ${service.url}//x/../ask/
    certificate-authority: ca.pem
${cluster}
users:
- name: me
  user: ${user}
`,
  );
  return readClientConfiguration(file);
}

describe("a service that a client configuration names", () => {
  it("is asked in JSON at the clean path of its URL, and answers in JSON", async () => {
    const remote = new RemoteService(await configured("{}"), systemClock);
    expect(await remote.post({ question: 1 })).toEqual({ ok: true });
    expect(service.received[0]).toMatchObject({ method: "POST", path: "/ask", text: '{"question":1}' });
    await remote.close();
    await expect(remote.post({})).rejects.toThrow("no more requests");
  });

  it("sends the current token of the file", async () => {
    const clock = new ManualClock();
    const token = path.join(folder, "token");
    writeFileSync(token, "first\n");
    const remote = new RemoteService(await configured("{tokenFile: token}"), clock);
    const sent = async () => {
      await remote.post({});
      return service.received.at(-1)!.headers["authorization"];
    };
    expect(await sent()).toBe("Bearer first");
    writeFileSync(token, "second\n");
    expect(await sent()).toBe("Bearer first");
    await clock.advance(60_000);
    expect(await sent()).toBe("Bearer second");
    rmSync(token);
    await clock.advance(60_000);
    await expect(sent()).rejects.toThrow("can't be read");
    await remote.close();
  });

  it.each<[string, Reply, number]>([
    ["a failure of its own", { status: 500, headers: { "retry-after": "0" }, body: "" }, 3],
    ["being busy", { status: 429, headers: { "retry-after": "0" }, body: "" }, 3],
    ["refusing the server", { status: 403, body: "" }, 1],
    ["a redirection", { status: 301, headers: { location: "/other" }, body: "" }, 1],
    ["something that isn't JSON", { body: "ok" }, 1],
    ["more than it may say", { body: JSON.stringify("x".repeat(2000)) }, 1],
  ])("that answers with %s is asked as often as makes sense", async (_what, answer, times) => {
    reply = () => answer;
    const limits = { ...serviceLimits, attempts: 3, maxAnswerBytes: 1000 };
    const remote = new RemoteService(await configured("{}"), systemClock, limits);
    await expect(remote.post({})).rejects.toThrow(RemoteFault);
    expect(service.received).toHaveLength(times);
    await remote.close();
  });

  it("is named by its URL without secrets in the error when it is unreachable", async () => {
    const limits = { ...serviceLimits, attempts: 1 };
    const configuration = await configured("{token: secret}");
    const server = new URL("https://127.0.0.1:1/ask?key=secret");
    const remote = new RemoteService({ ...configuration, server }, systemClock, limits);
    const said = await remote.post({ also: "secret" }).catch((error: unknown) => String(error));
    expect(said).toContain("https://127.0.0.1:1/ask can't be reached");
    expect(said).not.toContain("secret");
    await remote.close();
  });

  it("must be the one that the configuration names, unless it says that this doesn't matter", async () => {
    const named = await configured("{}", "    tls-server-name: other.example");
    const remote = new RemoteService(named, systemClock, { ...serviceLimits, attempts: 1 });
    await expect(remote.post({})).rejects.toThrow("can't be reached");
    await remote.close();
    await expect(configured("{}", "    insecure-skip-tls-verify: true")).rejects.toThrow(
      "can't be given together",
    );
    const { tls } = named;
    const blind = { ...named, tls: { ...tls, ca: undefined, verify: false } };
    const anybody = new RemoteService(blind, systemClock);
    expect(await anybody.post({})).toEqual({ ok: true });
    await anybody.close();
  });
});

describe("the API server of the cluster of a pod", () => {
  const names = { name: "kubernetes" } as const;
  const credentials = (environment: Record<string, string>) => ({ environment, folder });
  const address = () => {
    const { hostname, port } = new URL(service.url);
    return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  };

  it("is asked with the token and the CA certificate of the service account", async () => {
    writeFileSync(path.join(folder, "token"), "of-the-pod\n");
    writeFileSync(path.join(folder, "ca.crt"), service.ca);
    const configuration = await inClusterConfiguration(credentials(address()), names, "/apis/reviews");
    expect(configuration.files).toEqual([path.join(folder, "ca.crt")]);
    const remote = new RemoteService(configuration, systemClock);
    expect(await remote.post({ question: 1 })).toEqual({ ok: true });
    expect(service.received[0]).toMatchObject({
      path: "/apis/reviews",
      headers: { authorization: "Bearer of-the-pod" },
    });
    await remote.close();
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const { server } = await inClusterConfiguration(credentials(environment), names, "/");
    expect(server.href).toBe("https://[fd00::1]/");
  });

  it("needs the environment of a pod and valid files", async () => {
    const message = (environment: Record<string, string>, of = folder) =>
      inClusterConfiguration({ environment, folder: of }, names, "/").then(
        () => "none",
        (error: Error) => error.message,
      );
    const missing =
      "the server isn't in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set";
    expect(await message({})).toBe(missing);
    expect(await message({ KUBERNETES_SERVICE_HOST: "a" })).toBe(missing);
    expect(await message({ KUBERNETES_SERVICE_HOST: "a b", KUBERNETES_SERVICE_PORT: "1" })).toContain(
      '"a b:1" is no address',
    );
    expect(await message(address(), "/nowhere")).toContain(
      "the token of the service account: /nowhere/token",
    );
    writeFileSync(path.join(folder, "ca.crt"), "no certificate");
    expect(await message(address())).toBe(`${path.join(folder, "ca.crt")}: holds no certificate in PEM`);
  });
});
