import { RevisionCompactedError, type Revision } from "../../../src/storage/store.ts";
import { draftOf } from "./store-client.ts";
import { every, isConfigMap, override, withEvents, type Engine } from "./engine.ts";

/** Does not deliver every 20th event. */
export function droppedEvent(): Engine {
  const isDropped = every(20);
  return withEvents((event, next) => (isDropped() ? undefined : next(event)));
}

/** Delivers every 20th event twice. */
export function doubledEvent(): Engine {
  const isDoubled = every(20);
  return withEvents((event, next) => (isDoubled() ? next(event, event) : next(event)));
}

/** Delivers every 10th event a moment late, after those that follow it. */
export function reorderedEvents(): Engine {
  const isLate = every(10);
  return withEvents((event, next) => (isLate() ? void setTimeout(() => next(event), 10) : next(event)));
}

/** Delivers every 10th update as if the object was new. */
export function wrongType(): Engine {
  const isWrong = every(10);
  return withEvents((event, next) =>
    next(event.entry !== undefined && isWrong() ? { ...event, previous: undefined } : event),
  );
}

/** Delivers deletions with another value than the deleted one. */
export function wrongLastValue(): Engine {
  return withEvents((event, next) => {
    if (event.entry !== undefined || event.previous === undefined) return next(event);
    const { body } = draftOf({ uid: "another", token: "another" });
    next({ ...event, previous: { ...event.previous, body } });
  });
}

/** Delivers an update of an object that nobody wrote, at every 20th event. */
export function inventedEvent(): Engine {
  const isInvented = every(20);
  return withEvents((event, next) => {
    if (event.entry === undefined || !isConfigMap(event.key) || !isInvented()) return next(event);
    const { body } = draftOf({ uid: "invented", token: "invented" });
    next({ ...event, entry: { ...event.entry, body } });
  });
}

/** Announces the revision of an event by a bookmark before the event. */
export function earlyBookmark(): Engine {
  return (store) =>
    override(store, {
      subscribe: (options, listener) =>
        store.subscribe(options, {
          ...listener,
          ended: (error) => listener.ended(error),
          events(batch, upTo) {
            listener.events([], upTo);
            listener.events(batch, upTo);
          },
        }),
    });
}

/** Begins subscriptions a revision too late, as if the client had seen one more event. */
export function gapAfterReconnect(): Engine {
  return (store) =>
    override(store, {
      subscribe: (options, listener) =>
        store.subscribe({ ...options, after: (options.after + 1) as Revision }, listener),
    });
}

/** Doesn't deliver the events of a transaction to those who have received only a part of them. */
export function unrepeatedTransaction(): Engine {
  return (store) =>
    override(store, {
      subscribe: (options, listener) => store.subscribe({ ...options, repeatsTransaction: false }, listener),
    });
}

/** Delivers only half of the events of every fifth transaction. */
export function halfOfEvents(): Engine {
  const isHalf = every(5);
  return (store) =>
    override(store, {
      subscribe: (options, listener) =>
        store.subscribe(options, {
          ...listener,
          ended: (error) => listener.ended(error),
          events(batch, upTo) {
            const [first, second] = batch;
            const isTogether = second !== undefined && first?.revision === second.revision;
            listener.events(
              isTogether && isHalf() ? batch.slice(0, Math.ceil(batch.length / 2)) : batch,
              upTo,
            );
          },
        }),
    });
}

/** Continues a subscription whose history was removed with what is left, instead of ending it. */
export function lostAtCompaction(): Engine {
  return (store) =>
    override(store, {
      subscribe(options, listener) {
        let inner = store.subscribe(options, {
          ...listener,
          events: (batch, upTo) => listener.events(batch, upTo),
          ended: (error) => {
            if (!(error instanceof RevisionCompactedError)) return listener.ended(error);
            queueMicrotask(() => {
              inner = store.subscribe({ ...options, after: error.floor }, listener);
            });
          },
        });
        return {
          get position() {
            return inner.position;
          },
          sync: () => inner.sync(),
          close: () => inner.close(),
        };
      },
    });
}

/** Ends every 5th subscription as if its history had been removed. */
export function unfoundedGone(): Engine {
  const isGone = every(5);
  return (store) =>
    override(store, {
      subscribe(options, listener) {
        const subscription = store.subscribe(options, listener);
        if (isGone()) {
          subscription.close();
          queueMicrotask(() =>
            listener.ended(new RevisionCompactedError(options.after, (options.after + 1) as Revision)),
          );
        }
        return subscription;
      },
    });
}
