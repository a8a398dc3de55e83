import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RBAC, configMap, namesIn, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

const path = "/api/v1/namespaces/default/configmaps";
const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  for (const name of ["polluted", "kind2", "x"])
    expect(({} as Record<string, unknown>)[name]).toBeUndefined();
  await server.close();
});

const text = (name: string) => `"${name}":{"polluted":"yes","x":"y"}`;

describe.each(names)("%s", (name) => {
  const object = name.toLowerCase().replaceAll("_", "");

  test("as an object member is an unknown field", async () => {
    const raw = `{${text(name)},"metadata":{${text(name)},"name":"m-${object}"}}`;
    const { status, warnings } = await server.admin.ask("POST", path, { raw });
    expect([status, warnings.length]).toEqual([201, 2]);
    const strict = await server.admin.ask("POST", `${path}?fieldValidation=Strict`, { raw });
    expect(strict.status).toBe(400);
  });

  test("as a map key is an ordinary key, in JSON, YAML and every patch type", async () => {
    const at = `${path}/k-${object}`;
    const raw = `{"metadata":{"name":"k-${object}"},"data":{"${name}":"first"}}`;
    await ok(server.admin.ask("POST", path, { raw }));
    const value = async () => (await ok(server.admin.get(at))).text;
    expect(await value()).toContain(`"data":{"${name}":"first"}`);
    const send = (body: string, kind: string) =>
      ok(server.admin.ask("PATCH", at, { raw: body, contentType: `application/${kind}-patch+json` }));
    await send(`{"data":{"${name}":"second"}}`, "merge");
    expect(await value()).toContain(`"data":{"${name}":"second"}`);
    await send(`{"data":{"${name}":"third"}}`, "strategic-merge");
    expect(await value()).toContain(`"data":{"${name}":"third"}`);
    await send(`[{"op":"add","path":"/data/${name}","value":"fourth"}]`, "json");
    expect(await value()).toContain(`"data":{"${name}":"fourth"}`);
    await send(`{"data":{"${name}":null}}`, "merge");
    expect(await value()).not.toContain("fourth");
    const yaml = `metadata:\n  name: k-${object}\ndata:\n  ${name}: fifth\n`;
    await ok(server.admin.ask("PUT", at, { raw: yaml, contentType: "application/yaml" }));
    expect(await value()).toContain(`"data":{"${name}":"fifth"}`);
  });

  test("as a JSON patch path doesn't reach a prototype", async () => {
    await server.admin.post(path, configMap(`p-${object}`));
    const tries = [
      [{ op: "add", path: `/${name}/polluted`, value: "yes" }],
      [{ op: "add", path: `/metadata/${name}/polluted`, value: "yes" }],
      [{ op: "copy", from: `/${name}`, path: "/data/x" }],
      [{ op: "test", path: `/${name}`, value: null }],
    ];
    for (const patch of tries) {
      const { status } = await server.admin.patch(`${path}/p-${object}`, patch, "json");
      expect([200, 400, 422]).toContain(status);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("as a label, selector, parameter and path doesn't reach a prototype", async () => {
    const labelled = `{"metadata":{"name":"l-${object}","labels":{"${name}":"v"}}}`;
    const { status } = await server.admin.ask("POST", path, { raw: labelled });
    expect(status).toBe(name === "__proto__" ? 422 : 201);
    if (status === 201)
      expect(namesIn(await server.admin.get(`${path}?labelSelector=${name}%3Dv`))).toEqual([`l-${object}`]);
    expect([200, 400]).toContain((await server.admin.get(`${path}?labelSelector=${name}`)).status);
    expect((await server.admin.get(`${path}?fieldSelector=${name}%3Dx`)).status).toBe(400);
    expect((await server.admin.get(`${path}?${name}=x&${name}[a]=b`)).status).toBe(200);
    for (const at of [
      `/${name}`,
      `/api/${name}/x`,
      `/api/v1/${name}`,
      `/apis/${name}/v1/x`,
      `${path}/none/${name}`,
      `/livez/${name}`,
    ]) {
      expect((await server.admin.get(at)).status, at).toBe(404);
    }
    expect((await server.admin.get(`${path}/${name}`)).status).toBe(404);
  });
});

test("roles and reviews with the names of Object.prototype members work", async () => {
  for (const name of names) {
    const role = { metadata: { name }, rules: [{ verbs: [name], apiGroups: [name], resources: [name] }] };
    const { status } = await server.admin.post(`${RBAC}/clusterroles`, role);
    expect(status).toBe(201);
    const spec = {
      user: name,
      groups: [name],
      resourceAttributes: { verb: name, group: name, resource: name },
    };
    const review = await ok(
      server.admin.post("/apis/authorization.platform.io/v1/subjectaccessreviews", { spec }),
    );
    expect(review.body.status.allowed).toBe(false);
    const raw = `{"spec":{"user":"a","extra":{"${name}":["x"]},"nonResourceAttributes":{"path":"/","verb":"get"}}}`;
    expect(
      (await server.admin.ask("POST", "/apis/authorization.platform.io/v1/subjectaccessreviews", { raw }))
        .status,
    ).toBe(201);
    expect((await server.admin.post(path, { kind: name, metadata: { name: "x" } })).status).toBe(400);
  }
});
