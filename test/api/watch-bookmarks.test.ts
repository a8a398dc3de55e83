import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { RBAC, configMap, ok, role, roleKinds, settle } from "./support.ts";
import { path, shown, useWatchedNamespace } from "./watch-support.ts";

const { clock, server, versionNow } = useWatchedNamespace();
beforeAll(async () => {
  for (const name of ["s1", "s2"]) await ok(server.admin.post(path, configMap(name)));
});

describe("bookmark events", () => {
  /** Advances the clock until the next bookmark is due. */
  const minute = () => clock.advance(61_000);

  test("C-4.6-09 C-2.3-02 are sent only with allowWatchBookmarks, and have only the resourceVersion", async () => {
    const from = await versionNow();
    const allowed = await server.admin.watch(`${path}?allowWatchBookmarks=true&resourceVersion=${from}`);
    const plain = await server.admin.watch(`${path}?resourceVersion=${from}`);
    await settle();
    await ok(server.admin.post(`${RBAC}/namespaces/watched/roles`, role("elsewhere")));
    await minute();
    const bookmark = await allowed.next();
    expect(bookmark.type).toBe("BOOKMARK");
    expect(bookmark.object).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
    });
    expect(Number(bookmark.object.metadata.resourceVersion)).toBeGreaterThan(Number(from));
    await ok(server.admin.patch(`${path}/s1`, { data: { bookmarks: "none" } }));
    expect((await plain.next()).type).toBe("MODIFIED");
    allowed.close();
    plain.close();
    await ok(server.admin.delete(`${RBAC}/namespaces/watched/roles/elsewhere`));
  });

  test("C-4.6-10 every change up to the bookmark's resourceVersion is sent before it", async () => {
    const watching = await server.admin.watch(
      `${path}?allowWatchBookmarks=true&resourceVersion=${await versionNow()}`,
    );
    await settle();
    const sent: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { body } = await ok(server.admin.patch(`${path}/s2`, { data: { bookmark: String(i) } }));
      sent.push(body.metadata.resourceVersion);
      await ok(server.admin.put(`${RBAC}/namespaces/watched/roles/x${i}`, role(`x${i}`)));
      await minute();
    }
    const seen: string[] = [];
    for (let bookmarks = 0; bookmarks < 5;) {
      const { type, object } = await watching.next();
      const version = object.metadata.resourceVersion as string;
      if (type === "BOOKMARK") {
        bookmarks++;
        expect(seen).toEqual(sent.filter((one) => Number(one) <= Number(version)));
      } else seen.push(version);
    }
    expect(seen).toEqual(sent);
    watching.close();
  });
});

describe.each(roleKinds)("$kind", ({ kind, list, all, make }) => {
  test("A-4.2-07 A-4.2-19 A-6-01 its list endpoints support watch", async () => {
    for (const place of new Set([list, all])) {
      const { resourceVersion } = (await ok(server.admin.get(place))).body.metadata;
      const watching = await server.admin.watch(
        `${place}?allowWatchBookmarks=true&resourceVersion=${resourceVersion}`,
      );
      await ok(server.admin.post(list, make("streamed")));
      await ok(server.admin.delete(`${list}/streamed`));
      const frames = await watching.through(({ type }) => type === "DELETED");
      expect(frames.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
      expect(frames[0]!.object).toMatchObject({ kind, metadata: { name: "streamed" } });
      watching.close();
    }
  });

  test("A-4.2-07 a watch of all namespaces has the events of each namespace", async () => {
    if (list === all) return;
    const { resourceVersion } = (await ok(server.admin.get(all))).body.metadata;
    const watching = await server.admin.watch(`${all}?resourceVersion=${resourceVersion}`);
    await ok(server.admin.post(list, make("both")));
    await ok(server.admin.post(list.replace("default", "watched"), make("both")));
    const namespaces = [
      (await watching.next()).object.metadata.namespace,
      (await watching.next()).object.metadata.namespace,
    ];
    expect(namespaces).toEqual(["default", "watched"]);
    watching.close();
  });
});

describe("sendInitialEvents", () => {
  const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  test("C-4.3-02 is 422 while the gate WatchList is off", async () => {
    const { status, body } = await server.admin.get(`${path}?watch=true&${initial}`);
    expect([status, body.details.causes[0].field]).toEqual([422, "sendInitialEvents"]);
    expect((await server.admin.get(`${path}?sendInitialEvents=true`)).status).toBe(422);
  });

  describe("with the gate on", () => {
    let gated: TestServer;
    const at = "/api/v1/namespaces/default/configmaps";
    beforeAll(async () => {
      gated = await TestServer.start({ featureGates: "WatchList=true" });
      for (const name of ["i1", "i2"]) await ok(gated.admin.post(at, configMap(name)));
    });
    afterAll(() => gated.close());

    test("C-4.3-03 is 422 without resourceVersionMatch=NotOlderThan", async () => {
      for (const query of [
        "sendInitialEvents=true",
        "sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1",
      ]) {
        const { status, body } = await gated.admin.get(`${at}?watch=true&${query}`);
        expect([status, body.details.causes[0].field]).toEqual([422, "resourceVersionMatch"]);
      }
    });

    test.each([
      ["C-4.6-12 version unset", ""],
      ["version given", "given"],
    ])(
      "C-4.6-11 %s: sends the state, then a bookmark at least as new, then changes",
      async (_what, version) => {
        const now = (await ok(gated.admin.get(at))).body.metadata.resourceVersion as string;
        const watching = await gated.admin.watch(
          `${at}?${initial}${version === "" ? "" : `&resourceVersion=${now}`}`,
        );
        const state = await watching.through(({ type }) => type === "BOOKMARK");
        expect(state.slice(0, -1).map(shown)).toEqual(["ADDED i1", "ADDED i2"]);
        expect(Number(state.at(-1)!.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(now));
        await ok(gated.admin.patch(`${at}/i1`, { data: { after: version } }));
        expect(shown(await watching.next())).toBe("MODIFIED i1");
        watching.close();
      },
    );

    test("C-4.6-13 with a future version, the bookmark is sent once the state is at least as new", async () => {
      const now = Number((await ok(gated.admin.get(at))).body.metadata.resourceVersion);
      const begun = gated.admin.watch(`${at}?${initial}&resourceVersion=${now + 2}`);
      await ok(gated.admin.patch(`${at}/i1`, { data: { awaited: "first" } }));
      await ok(gated.admin.patch(`${at}/i1`, { data: { awaited: "second" } }));
      const watching = await begun;
      const frames = await watching.through(({ type }) => type === "BOOKMARK");
      const told = frames.slice(0, -1).filter(({ object }) => object.metadata.name === "i1");
      expect(told.at(-1)!.object.data.awaited).toBe("second");
      expect(Number(frames.at(-1)!.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(now + 2);
      watching.close();
    });

    test("C-4.6-11 sends no bookmark without allowWatchBookmarks", async () => {
      const watching = await gated.admin.watch(
        `${at}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      );
      await watching.next();
      await watching.next();
      await ok(gated.admin.patch(`${at}/i2`, { data: { plain: "1" } }));
      expect((await watching.next()).type).toBe("MODIFIED");
      watching.close();
    });

    test("sendInitialEvents=false with a version starts after it", async () => {
      const now = (await ok(gated.admin.get(at))).body.metadata.resourceVersion as string;
      const query = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${now}`;
      const watching = await gated.admin.watch(`${at}?${query}`);
      await ok(gated.admin.patch(`${at}/i2`, { data: { without: "1" } }));
      expect(shown(await watching.next())).toBe("MODIFIED i2");
      watching.close();
    });
  });
});
