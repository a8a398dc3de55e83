import { beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Watching } from "../support/api.ts";
import { configMap, grant, namespace, ok, settle, until } from "./support.ts";
import { path, shown, useWatchedNamespace } from "./watch-support.ts";

const { clock, server, versionNow } = useWatchedNamespace();

const minutes = 60_000;

/** The next events of a watch, as type and name. */
async function nextShown(watching: Watching, count: number): Promise<string[]> {
  const frames: string[] = [];
  while (frames.length < count) frames.push(shown(await watching.next()));
  return frames;
}

describe("watch events", () => {
  test("C-4.6-01 C-2.3-01 C-6-01 C-6-02 C-6-03 every change is an event in a chunked stream of {type, object}", async () => {
    const watching = await server.admin.watch(`${path}?resourceVersion=${await versionNow()}`);
    expect(watching.status).toBe(200);
    expect(watching.headers["transfer-encoding"]).toBe("chunked");
    expect(watching.headers["content-type"]).toBe("application/json");
    const made = await ok(server.admin.post(path, configMap("told")));
    const changed = await ok(server.admin.put(`${path}/told`, configMap("told", { a: "b" })));
    await ok(server.admin.patch(`${path}/told`, { data: { c: "d" } }));
    const applied = await ok(
      server.admin.ask("PATCH", `${path}/told?fieldManager=told`, {
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "told" }, data: { e: "f" } },
        contentType: "application/apply-patch+yaml",
      }),
    );
    await ok(server.admin.delete(`${path}/told`));
    const first = await watching.next();
    expect(first).toEqual({ type: "ADDED", object: made.body });
    expect(await watching.next()).toEqual({ type: "MODIFIED", object: changed.body });
    expect((await watching.next()).type).toBe("MODIFIED");
    expect(await watching.next()).toEqual({ type: "MODIFIED", object: applied.body });
    const last = await watching.next();
    expect(last.type).toBe("DELETED");
    expect(last.object).toMatchObject({
      kind: "ConfigMap",
      apiVersion: "v1",
      data: { a: "b", c: "d", e: "f" },
    });
    expect(Number(last.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(changed.body.metadata.resourceVersion),
    );
    watching.close();
  });

  test("a write without a change and a dry run send no event", async () => {
    await ok(server.admin.post(path, configMap("quiet")));
    const watching = await server.admin.watch(`${path}?resourceVersion=${await versionNow()}`);
    await ok(server.admin.put(`${path}/quiet`, configMap("quiet")));
    await ok(server.admin.put(`${path}/quiet?dryRun=All`, configMap("quiet", { x: "y" })));
    await ok(server.admin.delete(`${path}/quiet?dryRun=All`));
    await ok(server.admin.delete(`${path}/quiet`));
    expect(shown(await watching.next())).toBe("DELETED quiet");
    watching.close();
  });

  test("a delete of an object with finalizers is MODIFIED, the removal of the last one DELETED", async () => {
    await ok(server.admin.post(path, configMap("held", {}, { finalizers: ["example.com/a"] })));
    const watching = await server.admin.watch(`${path}?resourceVersion=${await versionNow()}`);
    await ok(server.admin.delete(`${path}/held`));
    await ok(server.admin.patch(`${path}/held`, { metadata: { finalizers: null } }));
    expect(await nextShown(watching, 2)).toEqual(["MODIFIED held", "DELETED held"]);
    watching.close();
  });

  test("a change into a selector is ADDED and out of it DELETED", async () => {
    await ok(server.admin.post(path, configMap("moves", { at: "first" }, { labels: { in: "no" } })));
    const watching = await server.admin.watch(
      `${path}?labelSelector=in%3Dyes&resourceVersion=${await versionNow()}`,
    );
    await ok(
      server.admin.patch(`${path}/moves`, { metadata: { labels: { in: "yes" } }, data: { at: "second" } }),
    );
    await ok(server.admin.patch(`${path}/moves`, { data: { at: "third" } }));
    const out = await ok(
      server.admin.patch(`${path}/moves`, { metadata: { labels: { in: "no" } }, data: { at: "fourth" } }),
    );
    expect(await nextShown(watching, 2)).toEqual(["ADDED moves", "MODIFIED moves"]);
    const left = await watching.next();
    expect(left.type).toBe("DELETED");
    // The last state that matched the selector, with the resourceVersion of the change.
    expect(left.object.data.at).toBe("third");
    expect(left.object.metadata.resourceVersion).toBe(out.body.metadata.resourceVersion);
    watching.close();
    await ok(server.admin.delete(`${path}/moves`));
  });
});

describe("start of a watch", () => {
  beforeAll(async () => {
    for (const name of ["s1", "s2"]) await ok(server.admin.post(path, configMap(name)));
  });

  test.each([
    ["C-4.6-02 unset: synthetic ADDED events for everything, then changes", ""],
    ["C-4.6-03 0: the same, of a state that may be stale", "&resourceVersion=0"],
  ])("%s", async (_what, version) => {
    const watching = await server.admin.watch(`${path}?fieldSelector=metadata.name!%3Dz${version}`);
    expect(await nextShown(watching, 2)).toEqual(["ADDED s1", "ADDED s2"]);
    await ok(server.admin.patch(`${path}/s1`, { data: { again: version } }));
    expect(shown(await watching.next())).toBe("MODIFIED s1");
    watching.close();
  });

  test("C-4.6-04 another version: sends no synthetic events, and a resumed watch has no gap and no repetition", async () => {
    const from = await versionNow();
    const written: string[] = [];
    for (let i = 0; i < 10; i++) {
      const { body } = await ok(server.admin.patch(`${path}/s2`, { data: { i: String(i) } }));
      written.push(body.metadata.resourceVersion);
    }
    const seen: string[] = [];
    let at = from;
    for (const count of [3, 4, 3]) {
      const watching = await server.admin.watch(`${path}?resourceVersion=${at}`);
      for (let i = 0; i < count; i++) {
        at = (await watching.next()).object.metadata.resourceVersion;
        seen.push(at);
      }
      watching.close();
    }
    expect(seen).toEqual(written);
  });

  test("C-4.6-08 a future version may stay open without events until its timeout", async () => {
    const watching = await server.admin.watch(
      `${path}?resourceVersion=${Number(await versionNow()) + 1000}&timeoutSeconds=5`,
    );
    await settle();
    await clock.advance(6000);
    const frames = await watching.toEnd();
    for (const { type, object } of frames) {
      expect([type, object.code]).toEqual(["ERROR", 504]);
    }
  });
});

describe("end of a watch", () => {
  test("C-4.3-04 A-4.2-23 a watch ends after timeoutSeconds", async () => {
    const watching = await server.admin.watch(
      `${path}?timeoutSeconds=10&resourceVersion=${await versionNow()}`,
    );
    await settle();
    await clock.advance(9000);
    expect(watching.ended).toBe(false);
    await clock.advance(1500);
    expect(await watching.toEnd()).toEqual([]);
  });

  test("a watch without timeoutSeconds ends after 30 to 60 minutes", async () => {
    const watching = await server.admin.watch(`${path}?resourceVersion=${await versionNow()}`);
    await until(
      () => clock.due(61 * minutes),
      (timers) => timers > 0,
    );
    await clock.advance(29 * minutes);
    expect(watching.ended).toBe(false);
    await clock.advance(32 * minutes);
    await watching.toEnd();
  });

  test("a timeoutSeconds beyond the maximum of a timer doesn't end the watch immediately", async () => {
    const alone = await TestServer.start();
    const watching = await alone.admin.watch("/api/v1/namespaces?timeoutSeconds=9999999999");
    expect(shown(await watching.next())).toBe("ADDED default");
    await ok(alone.admin.post("/api/v1/namespaces", namespace("still-there")));
    await watching.through(({ object }) => object.metadata.name === "still-there");
    watching.close();
    await alone.close();
  });

  test.each([
    ["timeoutSeconds=-1", 422],
    ["timeoutSeconds=soon", 400],
    ["continue=abc", 422],
    ["resourceVersionMatch=Exact&resourceVersion=1", 422],
    ["labelSelector=a%20in", 400],
    ["fieldSelector=spec.x%3D1", 400],
  ])("?%s is refused with %d", async (query, status) => {
    expect((await server.admin.get(`${path}?watch=true&${query}`)).status).toBe(status);
  });

  test.each([
    ["true", true],
    ["1", true],
    ["", true],
    ["false", false],
    ["0", false],
  ])("watch=%j is a watch: %s", async (value, watches) => {
    const response = await server.admin.get(`${path}?watch=${value}&resourceVersion=0&timeoutSeconds=-1`);
    expect(response.body.message).toContain("timeoutSeconds");
    const verb = await server.as("lister").get(`${path}?watch=${value}`);
    expect(verb.body.message).toContain(watches ? "cannot watch" : "cannot list");
  });
});

describe("history", () => {
  test("C-7-04 C-8-01 C-4.6-05 a version older than the retained history is 410; a watch from a new list continues", async () => {
    const old = await versionNow();
    await ok(server.admin.patch(`${path}/s1`, { data: { old: "1" } }));
    await clock.advance(4.5 * minutes);
    const early = await server.admin.watch(`${path}?resourceVersion=${old}`);
    expect(shown(await early.next())).toBe("MODIFIED s1");
    early.close();
    await ok(server.admin.patch(`${path}/s1`, { data: { old: "2" } }));
    await clock.advance(7 * minutes);
    const answer = await server.admin.get(`${path}?watch=true&resourceVersion=${old}`);
    const status = answer.status === 200 ? JSON.parse(answer.text).object : answer.body;
    expect([status.code, status.reason]).toEqual([410, "Expired"]);
    expect(status.message).toContain("too old resource version");
    const fresh = await server.admin.watch(`${path}?resourceVersion=${await versionNow()}`);
    await ok(server.admin.patch(`${path}/s1`, { data: { old: "3" } }));
    expect(shown(await fresh.next())).toBe("MODIFIED s1");
    fresh.close();
  });
});

describe("C-4.2-03 permission to watch", () => {
  test("watch is a separate permission", async () => {
    await grant(server.admin, "lister", [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }]);
    await grant(server.admin, "watcher", [{ verbs: ["watch"], apiGroups: [""], resources: ["configmaps"] }]);
    expect((await server.as("lister").get(path)).status).toBe(200);
    expect((await server.as("lister").get(`${path}?watch=true`)).status).toBe(403);
    expect((await server.as("watcher").get(path)).status).toBe(403);
    const watching = await server.as("watcher").watch(path);
    expect(watching.status).toBe(200);
    watching.close();
  });

  test("a user with permission for one object may watch and list it by its name", async () => {
    const rule = {
      verbs: ["get", "list", "watch"],
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["s1"],
    };
    await grant(server.admin, "one", [rule]);
    const one = server.as("one");
    const named = (name: string) => `${path}?fieldSelector=metadata.name%3D${name}`;
    expect((await one.get(named("s1"))).body.items).toHaveLength(1);
    const watching = await one.watch(named("s1"));
    expect(shown(await watching.next())).toBe("ADDED s1");
    watching.close();
    for (const denied of [
      path,
      named("s2"),
      `${path}?fieldSelector=metadata.name!%3Ds1`,
      `${path}?fieldSelector=metadata.name`,
    ]) {
      expect((await one.get(denied)).status, denied).toBe(403);
    }
    expect((await one.get(`${path}?fieldSelector=metadata.name%3Ds1,metadata.name%3Ds2`)).body.items).toEqual(
      [],
    );
    expect((await one.delete(named("s1"))).status).toBe(403);
  });
});
