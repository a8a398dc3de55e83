import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock, type Clock } from "../../../src/base/time/clock.ts";
import { TestServer, type Answer } from "../../support/api.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

interface Entry {
  manager: string;
  operation: string;
  time: string;
  fieldsV1: object;
}
const entries = ({ body }: Answer) => (body.metadata.managedFields ?? []) as Entry[];
const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
const entry = (manager: string, operation: string, fieldsV1: object) => ({
  manager,
  operation,
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
});

/** Apply and managedFields with hostile clients. */
describe("apply with extreme managedFields and bodies", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const apply = (name: string, body: object | string, query = "fieldManager=me") =>
    server.admin.ask("PATCH", `${configMaps}/${name}?${query}`, {
      raw: typeof body === "string" ? body : JSON.stringify(body),
      contentType: "application/apply-patch+yaml",
    });

  it("many Update entries are merged to ten in one write", async () => {
    await server.admin.post(configMaps, configMap("many", { a: "1" }));
    const managedFields = Array.from({ length: 15_000 }, (_, i) =>
      entry(`u${i}`, "Update", { "f:data": { [`f:k${i}`]: {} } }),
    );
    const put = await server.admin.put(
      `${configMaps}/many`,
      configMap("many", { a: "1" }, { managedFields }),
    );
    expect(put.status).toBe(200);
    expect(entries(put)).toHaveLength(10);
    const ancient = entries(put).find(({ manager }) => manager === "ancient-changes");
    expect(Object.keys((ancient!.fieldsV1 as { "f:data": object })["f:data"])).toHaveLength(14_991);
    expect((await apply("many", configMap("many", { b: "1" }))).status).toBe(200);
  });

  it("many Apply entries are kept, and further writes are still possible", async () => {
    await server.admin.post(configMaps, configMap("crowd", { a: "1" }));
    const managedFields = Array.from({ length: 5000 }, (_, i) =>
      entry(`a${i}`, "Apply", { "f:data": { "f:a": {} } }),
    );
    const metadata = { managedFields };
    expect(
      (await server.admin.put(`${configMaps}/crowd`, configMap("crowd", { a: "1" }, metadata))).status,
    ).toBe(200);
    const refused = await apply("crowd", configMap("crowd", { a: "2" }));
    expect([refused.status, refused.body.details.causes.length]).toEqual([409, 5000]);
    const forced = await apply("crowd", configMap("crowd", { a: "2" }), "fieldManager=me&force=true");
    expect(entries(forced).map(({ manager }) => manager)).toEqual(["me"]);
  });

  it("an entry with the maximum nesting of a body is decoded and kept", async () => {
    await server.admin.post(configMaps, configMap("deep", { a: "1" }));
    let fields: object = {};
    for (let depth = 0; depth < 190; depth++) fields = { "f:x": fields };
    const metadata = { managedFields: [entry("deep", "Apply", fields)] };
    const put = await server.admin.put(`${configMaps}/deep`, configMap("deep", { a: "1" }, metadata));
    expect([put.status, entries(put)[0]!.fieldsV1]).toEqual([200, fields]);
    expect((await apply("deep", configMap("deep", { a: "1" }))).status).toBe(200);
  });

  it.each(["__proto__", "constructor", "toString", ".", "f:x", "-"])(
    "a member named %j is an ordinary member",
    async (name) => {
      const data = (value: string): string =>
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"named","annotations":{"x/y":"1"}},"binaryData":{},` +
        `"data":{"a":"1",${JSON.stringify(name)}:${JSON.stringify(value)}}}`;
      const key = /^[-._a-zA-Z0-9]+$/.test(name) && name !== ".";
      const made = await apply("named", data("1"));
      expect(made.status).toBe(key ? 201 : 422);
      if (!key) return;
      expect(made.text).toContain(`"f:${name}":{}`);
      expect(made.text).toContain(`${JSON.stringify(name)}:"1"`);
      const refused = await apply("named", data("2"), "fieldManager=other");
      expect([refused.status, refused.body.details.causes[0].field]).toEqual([409, `.data.${name}`]);
      const gone = await apply("named", configMap("named", { a: "1" }));
      expect(gone.text).not.toContain(`"f:${name}"`);
      expect(Object.keys(gone.body.data as object)).toEqual(["a"]);
      await server.admin.delete(`${configMaps}/named`);
    },
  );

  it("C-4.10-02 concurrent applies to a missing object all succeed", async () => {
    const managers = Array.from({ length: 8 }, (_, i) => `m${i}`);
    const answers = await Promise.all(
      managers.map((manager) =>
        apply("race", configMap("race", { [manager]: "1" }), `fieldManager=${manager}`),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(7).fill(200), 201]);
    const after = await server.admin.get(`${configMaps}/race`);
    expect(Object.keys(after.body.data as object).toSorted()).toEqual(managers.toSorted());
    expect(entries(after)).toHaveLength(8);
  });

  it("an object is applied only in the namespace of the URL", async () => {
    const other = configMap("elsewhere", { a: "1" }, { namespace: "other" });
    expect((await apply("elsewhere", other)).status).toBe(400);
    await apply("elsewhere", configMap("elsewhere", { a: "1" }, { namespace: "default" }));
    const { status, body } = await apply("elsewhere", { ...other, data: { a: "2" } });
    expect([status, body.message]).toEqual([400, expect.stringContaining("namespace")]);
    expect((await server.admin.get(`${configMaps}/elsewhere`)).body.data).toEqual({ a: "1" });
  });

  it.each([
    ["nothing", "", 400],
    ["text that is no YAML", "{", 400],
    ["two documents", "apiVersion: v1\n---\napiVersion: v1\n", 400],
    ["a list of objects", '{"apiVersion":"v1","kind":"List","items":[]}', 400],
    ["a date for a name", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 2026-01-01\n", 400],
  ])("a body that is %s is rejected", async (_what, body, status) => {
    expect((await apply("body", body)).status).toBe(status);
    expect((await server.admin.get(`${configMaps}/body`)).status).toBe(404);
  });

  it.each([
    ["longer than 128 characters", "x".repeat(129), 422],
    ["of 128 characters", "x".repeat(128), 201],
    ["with a line break", "a\nb", 422],
    ["with a space of no width", "a\u200bb", 422],
    ["with a space that doesn't break", "a\u00a0b", 422],
    ["with a plain space, letters of any script and signs", "ä 名 ★ é", 201],
  ])("C-4.10-03 a manager's name %s", async (_what, manager, status) => {
    const query = `fieldManager=${encodeURIComponent(manager)}`;
    const answer = await apply("manager", configMap("manager", { a: "1" }), query);
    expect(answer.status).toBe(status);
    if (status === 201) expect(entries(answer)[0]!.manager).toBe(manager);
    await server.admin.delete(`${configMaps}/manager`);
  });

  it("C-4.3-09 only valid characters of the User-Agent are used for the manager's name", async () => {
    const made = await server.admin.ask("POST", configMaps, {
      raw: JSON.stringify(configMap("agent", { a: "1" })),
      headers: { "user-agent": `to\u00adol${"x".repeat(200)}/1.0` },
    });
    // Header values are bytes read as Latin-1; the second byte of the soft hyphen isn't printable.
    expect(entries(made)[0]!.manager).toBe(`to\u00c2ol${"x".repeat(123)}`);
  });
});

describe("the time of managedFields entries", () => {
  let server: TestServer;
  let seconds = Math.floor(Date.now() / 1000);
  const clock: Clock = {
    now: () => seconds * 1000,
    monotonicNow: () => seconds * 1000,
    setTimer: systemClock.setTimer.bind(systemClock),
  };
  const tick = (): string => new Date(++seconds * 1000).toISOString().replace(".000", "");
  beforeAll(async () => {
    server = await TestServer.start({ clock });
  });
  afterAll(() => server.close());

  const apply = (data: object, manager: string, more = "") =>
    server.admin.ask("PATCH", `${configMaps}/timed?fieldManager=${manager}${more}`, {
      raw: JSON.stringify(configMap("timed", data)),
      contentType: "application/apply-patch+yaml",
    });
  const times = (answer: Answer): Record<string, string> =>
    Object.fromEntries(entries(answer).map(({ manager, time }) => [manager, time]));

  it("C-2.5-01 an entry has the time of its manager's last change, whatever other managers take from it", async () => {
    const first = tick();
    expect(times(await apply({ a: "1", b: "1" }, "me"))).toEqual({ me: first });
    tick();
    expect(times(await apply({ a: "1", b: "1" }, "me"))).toEqual({ me: first });
    const second = tick();
    expect(times(await apply({ a: "2", b: "1" }, "me"))).toEqual({ me: second });
    const third = tick();
    const taken = await apply({ b: "2" }, "other", "&force=true");
    expect(times(taken)).toEqual({ me: second, other: third });
    const fourth = tick();
    const path = `${configMaps}/timed?fieldManager=writer`;
    const patched = await server.admin.patch(path, { data: { c: "1" } });
    expect(times(patched)).toEqual({ me: second, other: third, writer: fourth });
    const fifth = tick();
    expect(times(await server.admin.patch(path, { data: { c: "2" } }))["writer"]).toBe(fifth);
    tick();
    expect(times(await server.admin.patch(path, { data: { c: "2" } }))["writer"]).toBe(fifth);
    const sixth = tick();
    expect(times(await apply({ a: "2", d: "1" }, "me"))).toEqual({ me: sixth, other: third, writer: fifth });
  });
});
