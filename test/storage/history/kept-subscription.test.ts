import { expect, test } from "vitest";
import { KeptSubscription, type KeptEvents } from "../../../src/storage/history/kept-subscription.ts";
import { revisionOf } from "../../../src/storage/entry.ts";
import {
  RevisionCompactedError,
  type Listener,
  type Revision,
  type Store,
  type StoreEvent,
  type Subscription,
} from "../../../src/storage/store.ts";

const eventAt = (at: number): StoreEvent => ({
  key: `/g/r/n/${at}`,
  revision: revisionOf(at),
  entry: undefined,
  previous: undefined,
});

/** A store over a network: its subscription ends while a reader waits for the newest events. */
function overtakenStore(): Store {
  let subscriptions = 0;
  const store: Pick<Store, "latestRevision" | "subscribe"> = {
    latestRevision: () => revisionOf(3),
    subscribe(options: { readonly after: Revision }, listener: Listener): Subscription {
      const isFirst = ++subscriptions === 1;
      const sync = async (): Promise<Revision> => {
        if (!isFirst) return revisionOf(3);
        listener.events([eventAt(2)], revisionOf(2));
        listener.ended(new RevisionCompactedError(revisionOf(2), revisionOf(3)));
        return revisionOf(3);
      };
      return { position: options.after, sync, close: () => undefined };
    },
  };
  return store as Store;
}

test("a reader who waits for the newest events waits for those that the history has", async () => {
  const history: KeptEvents = {
    floor: () => Promise.resolve(revisionOf(1)),
    async *changes() {
      for (const at of [2, 3]) yield { recordKey: String(at), revision: revisionOf(at) };
    },
    event: ({ revision }) => Promise.resolve(eventAt(revision)),
  };
  const heard: number[] = [];
  const subscription = new KeptSubscription(
    overtakenStore(),
    history,
    { prefix: "/g/r/", after: revisionOf(1) },
    {
      events: (batch) => heard.push(...batch.map(({ revision }) => revision)),
      ended: (error) => {
        throw error;
      },
    },
  );
  expect(await subscription.sync()).toBe(3);
  expect(heard).toEqual([2, 3]);
  subscription.close();
});
