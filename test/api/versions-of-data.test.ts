import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Answer } from "../support/api.ts";
import { ManualClock, RBAC, configMap, namespace, ok, roleKinds, until } from "./support.ts";

/** Conventions 4.5: the meaning of resourceVersion in reads, for each cell of the table. */
const path = "/api/v1/namespaces/data/configmaps";
let server: TestServer;
let clock: ManualClock;
/** The resourceVersion of the first write of `a`, before `b` and before its change. */
let early: string;
/** The resourceVersion of the last write in the collection. */
let late: string;
let tokenAtEarly: string;

beforeAll(async () => {
  clock = new ManualClock();
  server = await TestServer.start({ clock });
  await ok(server.admin.post("/api/v1/namespaces", namespace("data")));
  await ok(server.admin.post(path, configMap("c", { at: "early" })));
  early = (await ok(server.admin.post(path, configMap("a", { at: "early" })))).body.metadata.resourceVersion;
  tokenAtEarly = (await ok(server.admin.get(`${path}?limit=1`))).body.metadata.continue;
  await ok(server.admin.post(path, configMap("b", { at: "late" })));
  late = (await ok(server.admin.put(`${path}/a`, configMap("a", { at: "late" })))).body.metadata
    .resourceVersion;
});
afterAll(() => server.close());

/** The objects at the two versions: names with the first letter of their write. */
const stateOf = ({ body }: Answer) =>
  body.items.map(
    (one: { metadata: { name: string }; data: { at: string } }) => `${one.metadata.name} ${one.data.at}`,
  );
const atEarly = ["a early", "c early"];
const atLate = ["a late", "b late", "c early"];

type Meaning =
  "Most Recent" | "Any" | "Not older than" | "Exact" | "Continue Token, Exact" | "Invalid" | "Bad Request";

/** Expects that a list has the meaning of its table cell. */
async function expectMeaning(query: string, version: string | undefined, meaning: Meaning): Promise<void> {
  const answer = await server.admin.get(`${path}?${query}`);
  if (meaning === "Invalid") {
    expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
    expect(answer.body.details.causes[0].field).toBe("resourceVersionMatch");
    return;
  }
  if (meaning === "Bad Request") {
    expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
    return;
  }
  expect(answer.status, answer.text).toBe(200);
  const { resourceVersion } = answer.body.metadata;
  const limited = query.includes("limit=1");
  switch (meaning) {
    case "Exact":
      expect(resourceVersion).toBe(version);
      return expect(stateOf(answer)).toEqual(limited ? atEarly.slice(0, 1) : atEarly);
    case "Continue Token, Exact":
      expect(resourceVersion).toBe(early);
      return expect(stateOf(answer)).toEqual(atEarly.slice(1));
    case "Not older than":
      return expect(Number(resourceVersion)).toBeGreaterThanOrEqual(Number(version));
    case "Any": // any state would do; this server gives the newest, which is preferred
    case "Most Recent":
      expect(Number(resourceVersion)).toBeGreaterThanOrEqual(Number(late));
      return expect(stateOf(answer)).toEqual(limited ? atLate.slice(0, 1) : atLate);
  }
}

describe("get", () => {
  test.each([
    ["C-4.5-01 unset: Most Recent", ""],
    ["C-4.5-02 0: Any, the newest preferred (C-4.5-25)", "?resourceVersion=0"],
    ["C-4.5-03 another: Not older than", "?resourceVersion=EARLY"],
    ["C-4.5-03 the newest", "?resourceVersion=LATE"],
  ])("%s", async (_what, query) => {
    const { body } = await ok(
      server.admin.get(`${path}/a${query.replace("EARLY", early).replace("LATE", late)}`),
    );
    expect(body.data.at).toBe("late");
    expect(body.metadata.resourceVersion).toBe(late);
  });
});

describe("list", () => {
  // id, resourceVersionMatch, limit, continue, resourceVersion, meaning
  test.each<[string, string, boolean, boolean, string, Meaning]>([
    ["C-4.5-04", "", false, false, "", "Most Recent"],
    ["C-4.5-05", "", false, false, "0", "Any"],
    ["C-4.5-06", "", false, false, "n", "Not older than"],
    ["C-4.5-07", "", true, false, "", "Most Recent"],
    ["C-4.5-08", "", true, false, "0", "Any"],
    ["C-4.5-09", "", true, false, "n", "Exact"],
    ["C-4.5-10 C-4.5-29", "", true, true, "", "Continue Token, Exact"],
    ["C-4.5-11", "", true, true, "0", "Continue Token, Exact"],
    ["C-4.5-12 C-7 400", "", true, true, "n", "Bad Request"],
    ["C-4.5-13", "Exact", false, false, "", "Invalid"],
    ["C-4.5-14", "Exact", false, false, "0", "Invalid"],
    ["C-4.5-15 C-4.5-28", "Exact", false, false, "n", "Exact"],
    ["C-4.5-16", "Exact", true, false, "", "Invalid"],
    ["C-4.5-17", "Exact", true, false, "0", "Invalid"],
    ["C-4.5-18", "Exact", true, false, "n", "Exact"],
    ["C-4.5-19", "NotOlderThan", false, false, "", "Invalid"],
    ["C-4.5-20", "NotOlderThan", false, false, "0", "Any"],
    ["C-4.5-21 C-4.5-27", "NotOlderThan", false, false, "n", "Not older than"],
    ["C-4.5-22", "NotOlderThan", true, false, "", "Invalid"],
    ["C-4.5-23", "NotOlderThan", true, false, "0", "Any"],
    ["C-4.5-24", "NotOlderThan", true, false, "n", "Not older than"],
  ])(
    "%s match %j, limit %s, continue %s, version %j: %s",
    async (_id, match, limit, token, given, meaning) => {
      const version = given === "n" ? early : given;
      const parts = [
        match === "" ? "" : `resourceVersionMatch=${match}`,
        limit ? "limit=1" : "",
        token ? `continue=${encodeURIComponent(tokenAtEarly)}` : "",
        given === "" ? "" : `resourceVersion=${version}`,
      ];
      await expectMeaning(parts.filter((part) => part !== "").join("&"), version, meaning);
    },
  );

  test("C-4.3-01 an unknown value of resourceVersionMatch is 422", async () => {
    await expectMeaning(`resourceVersion=${early}&resourceVersionMatch=Roughly`, early, "Invalid");
  });

  test.each(["abc", "-1", "1.5", "99999999999999999999"])(
    "the resourceVersion %j is malformed: 400",
    async (version) => {
      const answers = [
        await server.admin.get(`${path}?resourceVersion=${version}`),
        await server.admin.get(`${path}/a?resourceVersion=${version}`),
        await server.admin.get(`${path}?watch=true&resourceVersion=${version}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    },
  );

  test("C-4.5-26 Most Recent includes every write that finished before", async () => {
    for (let round = 0; round < 20; round++) {
      const data = { round: String(round) };
      const written = await ok(server.admin.put(`${path}/c`, configMap("c", data)));
      const { body } = await ok(server.admin.get(path));
      expect(body.items[2].data).toEqual(data);
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(written.body.metadata.resourceVersion),
      );
    }
    await ok(server.admin.put(`${path}/c`, configMap("c", { at: "early" })));
  });

  test("C-2.2-04 C-2.2-05 C-4.5-30 objects and lists have resourceVersions, which increase with writes", async () => {
    const before = (await ok(server.admin.get(path))).body;
    const a = before.items[0].metadata.resourceVersion;
    expect(a).toBe(late);
    const changed = await ok(server.admin.patch(`${path}/b`, { data: { more: "x" } }));
    expect(changed.body.metadata.resourceVersion).not.toBe(before.items[1].metadata.resourceVersion);
    const after = (await ok(server.admin.get(path))).body;
    expect(after.items[0].metadata.resourceVersion).toBe(a);
    expect(after.items[1].metadata.resourceVersion).toBe(changed.body.metadata.resourceVersion);
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(after.metadata.resourceVersion).toBeTypeOf("string");
  });
});

describe.each(roleKinds)("$kind", ({ list, make }) => {
  test("A-4.2-22 list supports resourceVersion and resourceVersionMatch", async () => {
    const { body } = await ok(server.admin.post(list, make("versioned")));
    const version = body.metadata.resourceVersion as string;
    await ok(server.admin.delete(`${list}/versioned`));
    const query = `resourceVersion=${version}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Dversioned`;
    expect((await server.admin.get(`${list}?${query}`)).body.items).toHaveLength(1);
    expect((await server.admin.get(`${list}?resourceVersionMatch=Exact`)).status).toBe(422);
  });

  test("A-4.2-32 deletecollection supports resourceVersion and resourceVersionMatch", async () => {
    await ok(server.admin.post(list, make("old", { labels: { dc: "1" } })));
    const { resourceVersion } = (await ok(server.admin.get(list))).body.metadata;
    await ok(server.admin.post(list, make("young", { labels: { dc: "1" } })));
    const query = `labelSelector=dc&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    await ok(server.admin.delete(`${list}?${query}`));
    expect([
      (await server.admin.get(`${list}/old`)).status,
      (await server.admin.get(`${list}/young`)).status,
    ]).toEqual([404, 200]);
    expect((await server.admin.delete(`${list}?resourceVersionMatch=Exact`)).status).toBe(422);
    expect((await server.admin.delete(`${list}?resourceVersion=1&resourceVersionMatch=Maybe`)).status).toBe(
      422,
    );
  });
});

describe("a resourceVersion in the future", () => {
  const reads = [
    ["get", `${path}/a?resourceVersion=`],
    ["list", `${path}?resourceVersion=`],
    ["list NotOlderThan", `${path}?resourceVersionMatch=NotOlderThan&resourceVersion=`],
    ["list Exact", `${path}?resourceVersionMatch=Exact&resourceVersion=`],
    ["list with limit", `${path}?limit=1&resourceVersion=`],
  ] as const;

  test.each(reads)("C-4.6-06 C-4.6-07 %s: 504 after a short time, with Retry-After", async (_what, query) => {
    const asked = server.admin.get(`${query}${Number(late) + 100_000}`);
    let answer: Answer | undefined;
    void asked.then((got) => (answer = got));
    await until(
      () => clock.advance(100),
      () => answer !== undefined,
    );
    expect([answer!.status, answer!.body.reason]).toEqual([504, "Timeout"]);
    expect(answer!.body.message).toContain("Too large resource version");
    expect(answer!.body.details.causes[0]).toMatchObject({ reason: "ResourceVersionTooLarge" });
    expect(Number(answer!.headers["retry-after"])).toBeGreaterThan(0);
    expect(answer!.body.details.retryAfterSeconds).toBe(Number(answer!.headers["retry-after"]));
  });

  test("C-4.6-06 the read is answered as soon as the version is reached", async () => {
    const latest = Number((await ok(server.admin.get(path))).body.metadata.resourceVersion);
    const asked = server.admin.get(`${path}/a?resourceVersion=${latest + 1}`);
    await until(
      () => clock.due(50),
      (timers) => timers > 0,
    );
    await ok(server.admin.patch(`${path}/b`, { data: { next: String(latest) } }));
    await clock.advance(100);
    expect((await asked).status).toBe(200);
  });
});

test("A-4.2-05 a list of all namespaces can be read at an exact resourceVersion", async () => {
  const { body } = await ok(
    server.admin.get(`${RBAC}/roles?resourceVersion=${early}&resourceVersionMatch=Exact`),
  );
  expect(body.metadata.resourceVersion).toBe(early);
});
