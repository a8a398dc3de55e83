import { afterEach, describe, expect, test } from "vitest";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { StoreUnavailableError, type CommitResult, type Store, type Write } from "../../src/storage/store.ts";
import { namespace, ok, until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

const quotas = "/api/v1/namespaces/team/resourcequotas";
const configMaps = "/api/v1/namespaces/team/configmaps";
const ownLine = "[+]poststarthook/controllers/resourcequota-charges ok";

let server: TestServer;
afterEach(() => server.close());

interface Setting {
  readonly clock?: ManualClock;
  readonly storage?: Store;
}

/** Starts a server without the controller `resourcequota`, and creates a quota with a status. */
async function start(enabledControllers: readonly string[], setting: Setting = {}): Promise<void> {
  server = await TestServer.start({ enabledControllers: [...enabledControllers], ...setting });
  await ok(server.admin.post("/api/v1/namespaces", namespace("team")));
  const hard = { configmaps: "100", secrets: "5" };
  await ok(server.admin.post(quotas, { metadata: { name: "quota" }, spec: { hard } }));
  await ok(
    server.admin.patch(`${quotas}/quota/status`, {
      status: { hard, used: { configmaps: "0", secrets: "0" } },
    }),
  );
}

const create = (name: string) => server.admin.post(configMaps, { metadata: { name } });
const quota = async () => (await ok(server.admin.get(`${quotas}/quota`))).body;
const used = async () => (await quota()).status.used.configmaps as string;

/** Advances the clock in small steps until the status has the expected usage. */
async function untilUsed(clock: ManualClock, expected: string): Promise<void> {
  await until(
    async () => {
      await clock.advance(10);
      return used();
    },
    (value) => value === expected,
  );
}

describe("the ResourceQuota admission plugin writes the status of a quota", () => {
  test.each([[["*", "-resourcequota", "-root-ca-cert-publisher"]], [[]]])(
    "ResourceQuota writes status.used after a create when the controllers are %j",
    async (enabledControllers) => {
      await start(enabledControllers);
      await ok(create("a"));
      expect(await until(used, (value) => value !== "0")).toBe("1");
      await ok(create("b"));
      expect(await until(used, (value) => value !== "1")).toBe("2");
      expect((await quota()).status).toEqual({
        hard: { configmaps: "100", secrets: "5" },
        used: { configmaps: "2", secrets: "0" },
      });
      expect((await server.admin.get("/readyz?verbose")).text).toContain(ownLine);
    },
  );

  test("only the controller resourcequota writes the status when it is enabled", async () => {
    server = await TestServer.start({ enabledControllers: ["resourcequota"] });
    expect((await server.admin.get("/readyz?verbose")).text).not.toContain("resourcequota-charges");
  });

  test("a burst of creates results in one write of the quota", async () => {
    const clock = new ManualClock();
    await start([], { clock });
    const before = await quota();
    const watch = await server.admin.watch(`${quotas}?resourceVersion=${before.metadata.resourceVersion}`);
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => create(`m${n}`).then((one) => ok(Promise.resolve(one)))),
    );
    await untilUsed(clock, "60");
    expect((await watch.next()).object.status.used.configmaps).toBe("60");
    await ok(create("last"));
    await untilUsed(clock, "61");
    expect((await watch.next()).object.status.used.configmaps).toBe("61");
    watch.close();
  });

  test("a create succeeds, and the status is written later, when the status write fails", async () => {
    const clock = new ManualClock();
    let outage: "unavailable" | "conflict" | undefined;
    let attempts = 0;
    await start([], {
      clock,
      storage: storeWith(clock, async (write, commit) => {
        if (outage === undefined || write.kind !== "update" || !write.key.includes("/resourcequotas/"))
          return commit();
        attempts++;
        if (outage === "unavailable") throw new StoreUnavailableError("away");
        // One conflict with another writer.
        outage = undefined;
        return { ok: false, current: undefined };
      }),
    });
    for (const kind of ["unavailable", "conflict"] as const) {
      outage = kind;
      attempts = 0;
      await ok(create(kind));
      await until(
        async () => {
          await clock.advance(10);
          return attempts;
        },
        (count) => count > 0,
      );
      outage = undefined;
      await untilUsed(clock, kind === "unavailable" ? "1" : "2");
    }
  });
});

type Intercept = (write: Write, commit: () => Promise<CommitResult>) => Promise<CommitResult>;

/** Returns a memory store whose commits call `intercept`. */
function storeWith(clock: ManualClock, intercept: Intercept): Store {
  const store = createMemoryStore({ clock });
  const commit = (write: Write) => intercept(write, () => store.commit(write));
  return new Proxy(store, {
    get: (target, name) => (name === "commit" ? commit : (Reflect.get(target, name) as unknown)),
  });
}
