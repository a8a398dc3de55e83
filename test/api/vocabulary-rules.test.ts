import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { referenceBehavior, specifiedBehavior } from "../../src/vocabulary/behavior.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { pod, rejected } from "../admission/plugins/support.ts";
import { decide, nodeClient, outcome, requestObject } from "../controllers/certificate-support.ts";
import { rsa, jwt } from "../authentication/jwt-support.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { subjectAltNames } from "../support/certificate-request.ts";
import { HttpsService } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { causeFields, namespace, ok } from "./support.ts";

/** Each row of docs/vocabularies.md, on a server with each vocabulary. */
describe.each([
  ["platform", platform, specifiedBehavior],
  ["kubernetes", kubernetes, referenceBehavior],
] as const)("the vocabulary %s", (vocabulary, { domain, groupSuffix, components, behavior }, side) => {
  const follows = { specification: vocabulary === "platform", reference: vocabulary === "kubernetes" };
  const folder = temporaryFolder();
  const signing = rsa();
  let provider: HttpsService;
  let server: TestServer;

  beforeAll(async () => {
    provider = await HttpsService.start(({ path: at }) => {
      const issuer = provider.url;
      if (at !== "/keys") return { body: { issuer, jwks_uri: `${issuer}/keys` } };
      return { body: { keys: [{ ...signing.publicKey.export({ format: "jwk" }), kid: "1" }] } };
    });
    const caFile = path.join(folder.path, "ca.pem");
    writeFileSync(caFile, provider.ca);
    const oidc = { issuerUrl: provider.url, clientId: "plinth", caFile, groupsClaim: "roles" };
    server = await TestServer.start({
      vocabulary,
      enabledAdmissionPlugins: ["PodTolerationRestriction"],
      disabledAdmissionPlugins: ["DefaultTolerationSeconds"],
      runtimeConfig: `authentication.${groupSuffix}/v1alpha1`,
      authentication: { oidc },
    });
    await ok(server.admin.post("/api/v1/namespaces", namespace("team")));
  });
  afterAll(async () => {
    await server.close();
    await provider.close();
    folder.remove();
  });

  test("has the behaviors of its vocabulary", () => {
    expect(behavior).toBe(side);
    expect(Object.keys(specifiedBehavior)).toEqual(Object.keys(referenceBehavior));
  });

  describe("several default classes", () => {
    const classes = [
      {
        of: "StorageClass",
        classes: `/apis/storage.${groupSuffix}/v1/storageclasses`,
        mark: `storageclass.${domain}/is-default-class`,
        members: { provisioner: "example.com/disks" },
        objects: "/api/v1/namespaces/team/persistentvolumeclaims",
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        field: "storageClassName",
      },
      {
        of: "IngressClass",
        classes: `/apis/networking.${groupSuffix}/v1/ingressclasses`,
        mark: `ingressclass.${domain}/is-default-class`,
        members: { spec: { controller: "example.com/controller" } },
        objects: `/apis/networking.${groupSuffix}/v1/namespaces/team/ingresses`,
        spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
        field: "ingressClassName",
      },
    ];
    const ids = "C-4.13-29 C-4.13-34";

    test.each(classes)(
      `${ids} a new object gets the newest $of or is rejected when several are marked as the default`,
      async ({ of, classes: all, mark, members, objects, spec, field }) => {
        const addClass = (name: string) =>
          ok(server.admin.post(all, { metadata: { name, annotations: { [mark]: "true" } }, ...members }));
        const add = (name: string, more: object = {}) =>
          server.admin.post(objects, { metadata: { name }, spec: { ...spec, ...more } });
        await addClass("m");
        expect((await ok(add("single"))).body.spec[field]).toBe("m");
        const oldest = Date.parse((await addClass("z")).body.metadata.creationTimestamp);
        if (follows.specification) {
          const why = `2 default ${of}es were found`;
          await rejected(add("several"), why);
          await rejected(add("named", { [field]: "m" }), why);
          await ok(server.admin.delete(`${all}/z`));
          await ok(add("several"));
          return;
        }
        // Creation times have a resolution of seconds: the next class is newer than the others.
        expect((await ok(add("named", { [field]: "z" }))).body.spec[field]).toBe("z");
        let last = await addClass("x0");
        for (let n = 1; Date.parse(last.body.metadata.creationTimestamp) === oldest; n++) {
          await ok(server.admin.delete(`${all}/x${n - 1}`));
          last = await addClass(`x${n}`);
        }
        const newest = last.body.metadata.name as string;
        expect((await ok(add("several"))).body.spec[field]).toBe(newest);
        // Whether or not it was created in the same second as the one before.
        await addClass("a");
        expect((await ok(add("twins"))).body.spec[field]).toBe("a");
      },
    );
  });

  describe("a CPU request in the namespace default", () => {
    const ranges = "/api/v1/namespaces/default/limitranges";

    test("C-4.13-61 a fresh store has the LimitRange that requests 0.1 CPU, or none", async () => {
      const { body } = await ok(server.admin.get(ranges));
      const limits = [{ type: "Container", defaultRequest: { cpu: "100m" } }];
      expect(body.items).toEqual(
        follows.specification
          ? [
              expect.objectContaining({
                metadata: expect.objectContaining({ name: "limits" }),
                spec: { limits },
              }),
            ]
          : [],
      );
      const created = await ok(server.admin.post("/api/v1/namespaces/default/pods", pod("request")));
      expect(created.body.spec.containers[0].resources).toEqual(
        follows.specification ? { requests: { cpu: "100m" } } : {},
      );
    });

    test("C-4.13-61 the LimitRange is not created again when it was deleted before a restart", async () => {
      const storage = { engine: "embedded" as const, dir: path.join(folder.path, "restart") };
      const names = async (deletes: boolean) => {
        const one = await TestServer.start({ vocabulary, storage });
        try {
          const { body } = await ok(one.admin.get(ranges));
          if (deletes && body.items.length > 0) await ok(one.admin.delete(`${ranges}/limits`));
          return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
        } finally {
          await one.close();
        }
      };
      const first = follows.specification ? ["limits"] : [];
      expect([await names(false), await names(true), await names(false)]).toEqual([first, first, []]);
    });
  });

  test("C-2.4-03 a custom kind without columns has the default table columns of the vocabulary", async () => {
    const group = "shop.example.com";
    const schema = { openAPIV3Schema: { type: "object" } };
    await ok(
      server.admin.post(`/apis/apiextensions.${groupSuffix}/v1/customresourcedefinitions`, {
        metadata: { name: `carts.${group}` },
        spec: {
          group,
          names: { plural: "carts", kind: "Cart" },
          scope: "Namespaced",
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      }),
    );
    const carts = `/apis/${group}/v1/namespaces/team/carts`;
    const cart = { apiVersion: `${group}/v1`, kind: "Cart", metadata: { name: "a" } };
    let answer: Answer;
    do answer = await server.admin.post(carts, cart);
    while (answer.status === 404);
    const created = (await ok(Promise.resolve(answer))).body.metadata.creationTimestamp as string;
    const tableOf = async (at: string) =>
      (
        await ok(
          server.admin.get(at, {
            accept: `application/json;as=Table;g=meta.${groupSuffix};v=v1`,
          }),
        )
      ).body;
    const { columnDefinitions, rows } = await tableOf(carts);
    const columns = columnDefinitions.map(({ name, type }: { name: string; type: string }) => [name, type]);
    expect(columns).toEqual([
      ["Name", "string"],
      [follows.specification ? "Created At" : "Age", "date"],
    ]);
    expect(rows[0].cells).toEqual(["a", follows.specification ? created : expect.stringMatching(/^\d+s$/)]);
    // A built-in kind without columns has them in both vocabularies.
    const ranges = await tableOf("/api/v1/namespaces/team/limitranges");
    expect(ranges.columnDefinitions[1].name).toBe("Created At");
  });

  test("C-4.13-107 a pod that sets an overhead is accepted only when it equals that of its runtime class in kubernetes", async () => {
    const classes = `/apis/node.${groupSuffix}/v1/runtimeclasses`;
    const overhead = { podFixed: { cpu: "100m" } };
    const tolerations = [{ key: "sandbox", operator: "Exists" }];
    const scheduling = { tolerations };
    await ok(server.admin.post(classes, { metadata: { name: "boxed" }, handler: "h", overhead, scheduling }));
    await ok(server.admin.post(classes, { metadata: { name: "bare" }, handler: "h" }));
    const pods = "/api/v1/namespaces/team/pods";
    const add = (spec: object) => server.admin.post(pods, pod("", spec, { generateName: "overhead-" }));
    for (const runtimeClassName of ["boxed", "bare", undefined])
      await rejected(add({ runtimeClassName, overhead: { cpu: "1" } }), "pod rejected: ");
    const filled = await ok(add({ runtimeClassName: "boxed" }));
    expect(filled.body.spec).toMatchObject({ overhead: { cpu: "100m" }, tolerations });
    for (const cpu of ["100m", "0.1"]) {
      const equal = add({ runtimeClassName: "boxed", overhead: { cpu } });
      if (follows.specification) await rejected(equal, "pod rejected: ");
      else expect((await ok(equal)).body.spec.overhead).toEqual({ cpu: "100m" });
    }
  });

  test("C-4.13-97 a toleration that contradicts one of the namespace is rejected, or stays beside it in kubernetes", async () => {
    const dedicated = { key: "dedicated", operator: "Equal", value: "team", effect: "NoSchedule" };
    const annotations = { [`scheduler.alpha.${domain}/defaultTolerations`]: JSON.stringify([dedicated]) };
    await ok(server.admin.post("/api/v1/namespaces", { metadata: { name: "marked", annotations } }));
    const other = { ...dedicated, value: "other" };
    const answer = server.admin.post("/api/v1/namespaces/marked/pods", pod("p", { tolerations: [other] }));
    if (follows.specification) await rejected(answer, "namespace tolerations and pod tolerations conflict");
    else expect((await ok(answer)).body.spec.tolerations).toEqual([other, dedicated]);
  });

  describe("certificate requests", () => {
    const all = `/apis/certificates.${groupSuffix}/v1/certificatesigningrequests`;
    const create = async (spec: Parameters<typeof requestObject>[0]) => {
      const object = { ...requestObject(spec), apiVersion: `certificates.${groupSuffix}/v1` };
      const { body } = await ok(server.admin.post(all, object));
      return { body, at: `${all}/${body.metadata.name}` };
    };

    test.each(["status", "approval"])(
      "C-2.6-12 a condition of another type is rejected by %s, or accepted in kubernetes",
      async (subresource) => {
        const { body, at } = await create({ signerName: "example.com/web" });
        const conditions = [{ type: "Reviewed", status: "Unknown" }];
        const answer = await server.admin.put(`${at}/${subresource}`, { ...body, status: { conditions } });
        if (follows.specification)
          expect([answer.status, causeFields(answer)]).toEqual([422, ["status.conditions[0].type"]]);
        else expect((await ok(Promise.resolve(answer))).body.status.conditions).toMatchObject(conditions);
      },
    );

    test.each([
      [components.nodeAgentClient, "client auth", []],
      [components.nodeAgentServing, "server auth", [subjectAltNames("DNS:n1.example.com")]],
    ])(
      "C-2.6-28 C-2.6-37 the signer %s fails a request without key encipherment, or signs it in kubernetes",
      async (signer, purpose, extensions) => {
        const sign = async (usages: readonly string[]) => {
          const signerName = `${domain}/${signer}`;
          const { at } = await create({ ...nodeClient, signerName, usages, extensions });
          await ok(decide(server.admin, at, "Approved"));
          return outcome(server.admin, at);
        };
        expect((await sign(["key encipherment", "digital signature", purpose])).issued).toBeDefined();
        expect((await sign([purpose])).failed?.message).toContain("usages must be exactly");
        expect((await sign(["key encipherment", purpose])).failed?.message).toContain(
          "usages must be exactly",
        );
        const { issued, failed } = await sign(["digital signature", purpose]);
        if (follows.specification) expect(failed?.message).toContain("usages must be exactly");
        else expect(issued).toBeDefined();
      },
    );
  });

  test("C-5.6-13 a groups claim that is a string or null is refused, or is one group or none in kubernetes", async () => {
    const now = Math.floor(Date.now() / 1000);
    const groupsOf = async (roles: unknown) => {
      const claims = { iss: provider.url, sub: "ann", aud: "plinth", iat: now, exp: now + 600, roles };
      const token = jwt({ alg: "RS256", kid: "1" }, claims, signing.privateKey);
      const reviews = `/apis/authentication.${groupSuffix}/v1alpha1/selfsubjectreviews`;
      const { status, body } = await server.as(token).post(reviews, {});
      return status === 201 ? (body.status.userInfo.groups as string[]) : status;
    };
    const own = "system:authenticated";
    expect(await groupsOf(["dev", "ops"])).toEqual(["dev", "ops", own]);
    expect(await groupsOf("dev")).toEqual(follows.specification ? 401 : ["dev", own]);
    expect(await groupsOf(null)).toEqual(follows.specification ? 401 : [own]);
    expect(await groupsOf(7)).toBe(401);
  });

  test.each(["healthz", "livez", "readyz"])(
    "C-4.11-10 the verbose answer of /%s ends with healthz, or with its own name in kubernetes",
    async (endpoint) => {
      const { text } = await ok(server.admin.get(`/${endpoint}?verbose`));
      const subject = follows.specification ? "healthz" : endpoint;
      expect(text.trimEnd().split("\n").at(-1)).toBe(`${subject} check passed`);
    },
  );

  test("HEAD of a resource is answered as GET, or is 405 in kubernetes", async () => {
    const allowed = follows.specification ? 200 : 405;
    const heads = [
      "/api/v1/namespaces",
      "/api/v1/namespaces?watch=true&timeoutSeconds=1",
      "/api/v1/nodes/none",
    ];
    const statuses = await Promise.all(heads.map((at) => server.admin.ask("HEAD", at)));
    expect(statuses.map(({ status }) => status)).toEqual([
      allowed,
      allowed,
      follows.specification ? 404 : 405,
    ]);
    expect((await server.admin.ask("HEAD", "/healthz")).status).toBe(200);
  });

  test("HEAD of documents is answered as GET, or is 405 in kubernetes for those of versions and OpenID", async () => {
    const statusOf = async (at: string) => (await server.admin.ask("HEAD", at)).status;
    const allowed = follows.specification ? 200 : 405;
    const version = ["/api", "/api/", "/api/v1", `/apis/rbac.authorization.${groupSuffix}/v1`, "/version"];
    for (const at of [...version, "/.well-known/openid-configuration", "/openid/v1/jwks"])
      expect([at, await statusOf(at)]).toEqual([at, allowed]);
    for (const at of ["/", "/apis", "/apis/apps", "/livez/ping", "/metrics", "/openapi/v2", "/openapi/v3"])
      expect([at, await statusOf(at)]).toEqual([at, 200]);
    expect((await server.admin.post("/version", {})).status).toBe(405);
  });

  test("C-9.2-05 the preferred version of flow control isn't new in this release, or is in kubernetes", async () => {
    const { body } = await server.admin.get(`/apis/flowcontrol.apiserver.${groupSuffix}`);
    const versions = body.versions.map(({ version }: { version: string }) => version);
    const preferred = follows.specification ? "v1beta2" : "v1beta3";
    expect([versions.toSorted(), body.preferredVersion.version]).toEqual([["v1beta2", "v1beta3"], preferred]);
  });
});
