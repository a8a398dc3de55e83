import { describe, expect, test } from "vitest";
import type { HealthCheck } from "../../src/http/documents/health.ts";
import { healthChecks } from "../../src/server/health/health-checks.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { FlagReader, parseFlags } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { AUTHN, ManualClock, RBAC, configMap, ok, until } from "./support.ts";
import { manualOptions } from "../support/server-options.ts";

const server = useServer({ users: [{ name: "ann" }] });

/** The startup hooks of the reference, release 1.26. */
const referenceHooks = [
  "start-kube-apiserver-admission-initializer",
  "generic-apiserver-start-informers",
  "priority-and-fairness-config-consumer",
  "priority-and-fairness-filter",
  "storage-object-count-tracker-hook",
  "start-apiextensions-informers",
  "start-apiextensions-controllers",
  "crd-informer-synced",
  "bootstrap-controller",
  "rbac/bootstrap-roles",
  "scheduling/bootstrap-system-priority-classes",
  "priority-and-fairness-config-producer",
  "start-cluster-authentication-info-controller",
  "start-kube-apiserver-identity-lease-controller",
  "start-kube-apiserver-identity-lease-garbage-collector",
  "start-legacy-token-tracking-controller",
  "start-kube-aggregator-informers",
  "apiservice-registration-controller",
  "apiservice-status-available-controller",
  "kube-apiserver-autoregistration",
  "apiservice-openapi-controller",
  "apiservice-openapiv3-controller",
];

describe("Status objects", () => {
  test("NotFound names the object", async () => {
    const { status, body, headers } = await server.admin.get(`${RBAC}/clusterroles/none`);
    expect(status).toBe(404);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'clusterroles.rbac.authorization.platform.io "none" not found',
      reason: "NotFound",
      details: { name: "none", group: "rbac.authorization.platform.io", kind: "clusterroles" },
      code: 404,
    });
    expect(headers["cache-control"]).toBe("no-cache, private");
  });

  test("Invalid has a cause for each field", async () => {
    const { body } = await server.admin.post("/api/v1/namespaces/default/configmaps", {
      metadata: { name: "Bad", labels: { "-": "x" } },
      data: { "no good": "" },
    });
    expect(body).toMatchObject({ reason: "Invalid", code: 422, details: { name: "Bad", kind: "ConfigMap" } });
    const fields = body.details.causes.map((one: { field: string; reason: string }) => [
      one.field,
      one.reason,
    ]);
    expect(fields).toContainEqual(["metadata.name", "FieldValueInvalid"]);
    expect(fields).toContainEqual(["metadata.labels", "FieldValueInvalid"]);
    expect(fields).toContainEqual(["data[no good]", "FieldValueInvalid"]);
    for (const cause of body.details.causes) expect(body.message).toContain(cause.message);
  });

  test("Conflict tells the client how to retry", async () => {
    const at = "/api/v1/namespaces/default/configmaps";
    await ok(server.admin.post(at, configMap("c")));
    const { status, body } = await server.admin.put(`${at}/c`, configMap("c", {}, { resourceVersion: "1" }));
    expect([status, body.reason, body.details]).toEqual([409, "Conflict", { name: "c", kind: "configmaps" }]);
    expect(body.message).toContain("please apply your changes to the latest version and try again");
  });

  test.each([
    ["application/xml", 406],
    ["text/html;q=0.9", 406],
    ["application/json;q=0", 406],
    ["text/html, application/json;q=0.1", 200],
    ["*/*", 200],
    ["application/*", 200],
    ["application/json; charset=utf-8", 200],
  ])("C-7-03 Accept: %s is %d", async (accept, status) => {
    for (const at of ["/api/v1/namespaces/default", "/api/v1/namespaces", "/api/v1", "/apis", "/version"]) {
      expect((await server.admin.get(at, { accept })).status, at).toBe(status);
    }
  });

  test.each(["text/plain", "application/xml", "multipart/form-data"])(
    "the Content-Type %s is 415",
    async (contentType) => {
      const answer = await server.admin.ask("POST", "/api/v1/namespaces/default/configmaps", {
        raw: "x",
        contentType,
      });
      expect([answer.status, answer.body.reason]).toEqual([415, "UnsupportedMediaType"]);
    },
  );

  test("a compressed body is 415", async () => {
    const headers = { "content-encoding": "gzip" };
    expect((await server.admin.post("/api/v1/namespaces", {}, { headers })).status).toBe(415);
  });
});

describe("authentication of requests", () => {
  test("wrong credentials are 401 everywhere, never anonymous", async () => {
    for (const at of ["/version", "/healthz", "/api/v1/namespaces", "/nothing"]) {
      expect((await server.as("wrong").get(at)).status).toBe(401);
    }
    const basic = await server.as(undefined).get("/version", { headers: { authorization: "Basic YTpi" } });
    expect(basic.status).toBe(200);
  });

  test("a request without credentials is 401 when anonymous access is off", async () => {
    const closed = await TestServer.start({ anonymousAuth: false });
    expect((await closed.as(undefined).get("/version")).status).toBe(401);
    expect((await closed.admin.get("/version")).status).toBe(200);
    await closed.close();
  });

  test("anonymous access is off with AlwaysAllow unless it is enabled explicitly", async () => {
    const open = await TestServer.start({ authorizationModes: ["AlwaysAllow"] });
    expect((await open.as(undefined).get("/api/v1/namespaces")).status).toBe(401);
    await open.close();
  });
});

describe("health", () => {
  const anonymous = () => server.as(undefined);
  test.each([
    ["C-4.11-01", "healthz"],
    ["C-4.11-02", "livez"],
    ["C-4.11-03", "readyz"],
  ])("%s GET /%s is 200 for anonymous clients", async (_id, endpoint) => {
    const { status, text, headers } = await anonymous().get(`/${endpoint}`);
    expect([status, text]).toEqual([200, "ok"]);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  test.each(["livez", "readyz", "healthz"])(
    "C-4.11-04 C-4.11-05 C-4.11-06 C-4.11-09 C-4.11-10 /%s supports verbose output and a path for each check",
    async (endpoint) => {
      const { text } = await server.admin.get(`/${endpoint}?verbose`);
      const lines = text.trimEnd().split("\n");
      expect(lines.at(-1)).toBe("healthz check passed");
      const names = lines.slice(0, -1).map((line) => /^\[\+\](\S+) ok$/.exec(line)![1]!);
      expect(names).toContain("ping");
      for (const name of names) {
        const { status, text: one } = await server.admin.get(`/${endpoint}/${name}`);
        expect([status, one]).toEqual([200, "ok"]);
      }
      expect((await server.admin.get(`/${endpoint}/nothing`)).status).toBe(404);
    },
  );

  test.each(["livez", "readyz", "healthz"])(
    "C-4.11-04 /%s has the check names of the reference when the vocabulary is kubernetes",
    async (endpoint) => {
      const { TestServer } = await import("../support/api.ts");
      const reference = await TestServer.start({ vocabulary: "kubernetes" });
      try {
        const { text } = await reference.admin.get(`/${endpoint}?verbose`);
        const names = text.split("\n").map((line) => line.split(" ", 1)[0]!.slice("[+]".length));
        const always = ["ping", "log", "etcd", "autoregister-completion"];
        const more = endpoint === "readyz" ? ["etcd-readiness", "informer-sync", "shutdown"] : [];
        const hooks = referenceHooks.map((hook) => `poststarthook/${hook}`);
        expect(names).toEqual(expect.arrayContaining([...always, ...more, ...hooks]));
        for (const name of [...always, ...more, ...hooks])
          expect((await reference.admin.get(`/${endpoint}/${name}`)).text).toBe("ok");
      } finally {
        await reference.close();
      }
    },
  );

  test("one request queries the store once for all checks, and a hook's check fails until its startup step is done", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore({ clock });
    let asked = 0;
    const counted = new Proxy(store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (key === "latestRevision") asked++;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const life = { synced: false, published: true, bootstrapped: true, stopping: false };
    const { readyz } = healthChecks({
      store: counted,
      policy: { sync: () => undefined },
      needs: undefined,
      life,
      vocabulary: kubernetes,
      clock,
      livezGracePeriodMs: 0,
      controllers: [{ name: "poststarthook/controllers/customresourcedefinition", check: () => "not yet" }],
    });
    const problems = new Map(
      await Promise.all(readyz.map(async ({ name, check }) => [name, await check()] as const)),
    );
    expect(asked).toBe(1);
    expect(problems.get("poststarthook/rbac/bootstrap-roles")).toBeUndefined();
    expect(problems.get("poststarthook/start-apiextensions-controllers")).toBe("not yet");
    for (const hook of referenceHooks.filter((one) => /informer|openapi|autoregistration/.test(one)))
      expect(problems.get(`poststarthook/${hook}`)).toContain("still being loaded");
  });

  test("C-4.11-07 exclude leaves out each named check and may be repeated", async () => {
    const { text, status } = await server.admin.get("/readyz?verbose&exclude=ping&exclude=store");
    expect(status).toBe(200);
    expect(text).toMatch(/^\[\+\]ping excluded: ok$[^]*^\[\+\]store excluded: ok$/m);
    expect((await server.admin.get("/readyz?verbose&exclude=none")).text).toContain(
      'warn: some health checks cannot be excluded: no matches for "none"',
    );
  });

  test("C-4.11-11 /livez tolerates startup for --livez-grace-period, /readyz doesn't", async () => {
    const clock = new ManualClock();
    const life = { synced: false, published: true, bootstrapped: false, stopping: false };
    const words = parseFlags(serveFlags, ["--livez-grace-period=10s"]);
    const { livez, readyz } = healthChecks({
      store: createMemoryStore({ clock }),
      policy: { sync: () => undefined },
      needs: undefined,
      life,
      vocabulary: platform,
      clock,
      livezGracePeriodMs: new FlagReader(serveFlags, words).durationMs("livez-grace-period"),
    });
    const failing = async (checks: readonly HealthCheck[]) => {
      const results = await Promise.all(
        checks.map(async ({ name, check }) => [name, await check()] as const),
      );
      return results.filter(([, problem]) => problem !== undefined).map(([name]) => name);
    };
    const start = expect.arrayContaining(["informer-sync", "poststarthook/rbac/bootstrap-roles"]);
    expect([await failing(livez), await failing(readyz)]).toEqual([[], start]);
    await clock.advance(10_000);
    expect(await failing(livez)).toEqual(start);
    // A restart doesn't help when a store refuses writes.
    Object.assign(life, { bootstrapDelayed: true });
    const delayed = "poststarthook/rbac/bootstrap-roles";
    expect(await failing(livez)).not.toContain(delayed);
    expect(await failing(readyz)).toContain(delayed);
    life.bootstrapped = true;
    const hooks = await failing(livez);
    expect(hooks).not.toContain("poststarthook/rbac/bootstrap-roles");
    expect(hooks).toContain("poststarthook/generic-apiserver-start-informers");
    Object.assign(life, { synced: true, bootstrapped: true });
    expect([await failing(livez), await failing(readyz)]).toEqual([[], []]);
  });

  test("C-4.11-08 C-4.11-09 C-4.11-12 a stopping server is live but not ready", async () => {
    const { startServer } = await import("../../src/server/server.ts");
    const { silentLogger } = await import("../../src/base/logger.ts");
    const { Api } = await import("../support/api.ts");
    const clock = new ManualClock();
    const stopping = await startServer(manualOptions(clock, silentLogger, { shutdownDelayMs: 20_000 }));
    const api = new Api(stopping.url!, stopping.caCertificate, `Bearer ${stopping.adminToken}`);
    expect((await api.get("/readyz")).status).toBe(200);
    const closed = stopping.close();
    const { status, text } = await api.get("/readyz");
    expect(status).toBe(500);
    expect(text).toMatch(/^\[-\]shutdown failed: .*\nhealthz check failed\n$/m);
    expect((await api.get("/livez")).status).toBe(200);
    expect((await api.get("/readyz/shutdown")).status).toBe(500);
    expect((await api.get("/readyz?exclude=shutdown")).status).toBe(200);
    api.close();
    await until(
      () => clock.advance(20_000),
      () => true,
    );
    await closed;
  });
});

describe("discovery", () => {
  test("/api and /apis list the versions and groups", async () => {
    const ann = server.as("ann");
    expect((await ok(ann.get("/api"))).body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    const { body } = await ok(ann.get("/apis"));
    expect(body).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
    const names = body.groups.map((one: { name: string }) => one.name);
    expect(names).toEqual(
      expect.arrayContaining(["authorization.platform.io", "rbac.authorization.platform.io"]),
    );
    for (const one of body.groups) {
      const { kind: _, apiVersion: __, ...document } = (await ok(ann.get(`/apis/${one.name}`))).body;
      expect(document).toEqual(one);
      expect(one.preferredVersion).toEqual(one.versions[0]);
    }
  });

  test("/api/v1 lists every resource with scope, verbs, short names and subresources", async () => {
    const { body } = await ok(server.admin.get("/api/v1"));
    expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
    const found = (name: string) => body.resources.find((one: { name: string }) => one.name === name);
    expect(found("configmaps")).toMatchObject({
      namespaced: true,
      kind: "ConfigMap",
      shortNames: ["cm"],
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    });
    expect(found("namespaces")).toMatchObject({
      namespaced: false,
      verbs: expect.not.arrayContaining(["deletecollection"]),
    });
    expect(found("namespaces/finalize")).toMatchObject({ kind: "Namespace", verbs: ["update"] });
  });

  test("/version returns the version and / the index of paths", async () => {
    expect((await ok(server.as(undefined).get("/version"))).body).toMatchObject({ major: "1", minor: "26" });
    expect((await ok(server.admin.get("/"))).body.paths).toEqual(
      expect.arrayContaining(["/api", "/apis", "/livez", "/version"]),
    );
  });
});

describe("runtime configuration", () => {
  test("an alpha version is served only when it is enabled", async () => {
    const at = `${AUTHN}/selfsubjectreviews`;
    expect((await server.admin.post(at, {})).status).toBe(404);
    expect((await server.admin.get(AUTHN)).status).toBe(404);
    for (const config of [
      "authentication.platform.io/v1alpha1",
      "authentication.platform.io/v1alpha1=true",
      "api/alpha",
      `${AUTHN.slice(6)}/selfsubjectreviews`,
    ]) {
      const on = await TestServer.start({ runtimeConfig: config });
      expect((await on.admin.post(at, {})).status, config).toBe(201);
      await on.close();
    }
  });

  test("a version or resource can be disabled", async () => {
    const off = await TestServer.start({
      runtimeConfig: "v1/secrets=false,authorization.platform.io/v1=false",
    });
    expect((await off.admin.get("/api/v1/secrets")).status).toBe(404);
    expect((await off.admin.get("/api/v1/configmaps")).status).toBe(200);
    expect((await off.admin.get("/apis/authorization.platform.io/v1")).status).toBe(404);
    expect((await off.admin.get("/apis/authorization.platform.io")).status).toBe(404);
    await off.close();
  });

  test.each(["nothing/v1", "v1/nothing", "v1=maybe"])(
    "the start fails with the runtime configuration %s",
    async (runtimeConfig) => {
      await expect(TestServer.start({ runtimeConfig })).rejects.toThrow("runtimeConfig");
    },
  );
});
