import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { RangeOptions, Store } from "../../src/storage/store.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock, ok, settle } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const half = "x".repeat(200_000);

/** A store whose later pages are held back until they are released. */
function slowStore(clock: ManualClock) {
  const store = createMemoryStore({ clock });
  const state = { quick: Infinity, asked: 0, release: () => {} };
  const slow = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name !== "range") return member.bind(target);
      return async (options: RangeOptions) => {
        if (!options.prefix.includes("configmaps")) return target.range(options);
        if (++state.asked > state.quick) await new Promise<void>((resolve) => (state.release = resolve));
        return target.range(options);
      };
    },
  });
  return { slow: slow as unknown as Store, state };
}

describe("time limit of a list", () => {
  const clock = new ManualClock();
  const { slow, state } = slowStore(clock);
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ clock, storage: slow, enabledControllers: [] });
    for (const name of "abcdefghij")
      await ok(server.admin.post(path, { metadata: { name }, data: { half } }));
  });
  afterAll(() => server.close());
  beforeEach(() => Object.assign(state, { quick: Infinity, asked: 0 }));

  /** Begins a list; `over` returns its outcome. */
  async function begin(quick: number, query: string) {
    // The list may be cached.
    await ok(server.admin.patch(`${path}/a`, { data: { query } }));
    Object.assign(state, { quick, asked: 0 });
    const answer = server.admin.get(`${path}?${query}`).then(
      ({ status, body }) => `${status} ${body.reason ?? body.items.length}`,
      () => "broken off",
    );
    let over: string | undefined;
    void answer.then((text) => (over = text));
    while (state.asked <= quick) await settle();
    return { answer, over: () => over };
  }

  test.each(["timeoutSeconds=10", "timeoutSeconds=10&timeout=20s", "timeoutSeconds=20&timeout=10s"])(
    "C-4.3-04 %s: a list without a response after ten seconds is 504",
    async (query) => {
      const { answer, over } = await begin(0, query);
      await clock.advance(9_999);
      expect(over()).toBeUndefined();
      await clock.advance(1);
      expect(await answer).toBe("504 Timeout");
      state.release();
    },
  );

  test("C-4.3-04 a partially sent list is aborted at the limit", async () => {
    const { answer, over } = await begin(3, "timeoutSeconds=10");
    await clock.advance(9_999);
    expect(over()).toBeUndefined();
    await clock.advance(1);
    expect(await answer).toBe("broken off");
    state.release();
  });

  test.each(["", "timeoutSeconds=0", "timeoutSeconds=11"])("with %j the list is answered", async (query) => {
    const { answer } = await begin(0, query);
    await clock.advance(10_999);
    state.release();
    state.quick = Infinity;
    expect(await answer).toBe("200 10");
  });
});
