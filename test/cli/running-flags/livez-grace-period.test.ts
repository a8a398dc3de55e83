import { expect, test } from "vitest";
import { optionsOfFlags } from "../../support/serve-options.ts";
import { startServer } from "../../../src/server/server.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import {
  RevisionCompactedError,
  StoreUnavailableError,
  type Listener,
  type RangeOptions,
  type Revision,
  type SubscribeOptions,
} from "../../../src/storage/store.ts";
import { until } from "../../api/support.ts";
import { Api } from "../../support/api.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A store in which the definitions of custom kinds can't be followed any more after {@link lose}. */
function storeWithoutDefinitions(clock: ManualClock) {
  const store = createMemoryStore({ clock });
  const ends: (() => void)[] = [];
  let lost = false;
  const isAbout = (prefix: string) => prefix.includes("/customresourcedefinitions");
  const range = async (options: RangeOptions) => {
    if (lost && isAbout(options.prefix)) throw new StoreUnavailableError("away");
    return store.range(options);
  };
  const subscribe = (options: SubscribeOptions, listener: Listener) => {
    const subscription = store.subscribe(options, listener);
    if (isAbout(options.prefix)) {
      ends.push(() => {
        subscription.close();
        listener.ended(new RevisionCompactedError(1 as Revision, 2 as Revision));
      });
    }
    return subscription;
  };
  const delayedStore = new Proxy(store, {
    get(target, name) {
      if (name === "range") return range;
      if (name === "subscribe") return subscribe;
      return Reflect.get(target, name) as unknown;
    },
  });
  const lose = () => {
    lost = true;
    for (const end of ends) end();
  };
  return { store, delayedStore, lose };
}

test.each([
  ["10s", 200],
  ["0s", 500],
] as const)(
  "C-4.11-11 --livez-grace-period=%s: /livez answers %d while a start hook hasn't passed, and 500 after the period",
  async (period, status) => {
    const clock = new ManualClock();
    const folder = temporaryFolder();
    const { store, delayedStore, lose } = storeWithoutDefinitions(clock);
    const words = [
      `--livez-grace-period=${period}`,
      "--secure-port=0",
      "--storage-backend=memory",
      "--leader-elect=false",
      `--data-dir=${folder.path}`,
      "--log-level=silent",
    ];
    const options = await optionsOfFlags(...words);
    const server = await startServer({ ...options, clock, storage: delayedStore });
    const api = new Api(server.url!, server.caCertificate, `Bearer ${server.adminToken}`);
    // Nobody has asked yet whether the hook has passed, which it now doesn't.
    lose();
    const hook = "poststarthook/start-apiextensions-controllers";
    try {
      await until(
        () => api.get("/readyz?verbose"),
        ({ text }) => text.includes(`[-]${hook} failed`),
      );
      expect((await api.get("/livez")).status).toBe(status);
      await clock.advance(9999);
      expect((await api.get("/livez")).status).toBe(status);
      await clock.advance(1);
      const late = await api.get("/livez?verbose");
      expect([late.status, late.text]).toEqual([500, expect.stringContaining(`[-]${hook} failed`)]);
    } finally {
      api.close();
      await server.close();
      await store.close();
      folder.remove();
    }
  },
);
