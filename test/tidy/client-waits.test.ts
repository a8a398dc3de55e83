import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** The files in which each of these words may occur, which together make up every wait for the reader of a response. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  // `awaitDrain` releases the seat of the request; `drainInTime` has no other caller.
  "drainInTime(": ["src/http/limits/fair-limiter.ts", "src/http/transport/body-stream.ts"],
  // Listeners on events, for which no request waits, and the implementations.
  "onDrain(": [
    "src/http/answers/respond.ts",
    "src/http/connect/forward.ts",
    "src/http/transport/body-stream.ts",
    "src/http/transport/websocket.ts",
    "src/http/transport/writable-body.ts",
  ],
};

const http = sources.filter((file) => file.startsWith("src/http/"));

test.each(Object.entries(allowed))("only the named files call %s", (word, files) => {
  expect(http.filter((file) => read(file).includes(word)).toSorted()).toEqual(files);
});

/** A promise that resolves with an event of a stream whose peer decides when it comes. */
const awaitedEvent = /new Promise[^;]*?\b(?:onDrain|once|onceAny)\([^;]*?"(?:drain|finish)"/;

test("no promise of src/http resolves with the drain event of a stream", () => {
  expect(http.filter((file) => awaitedEvent.test(read(file)))).toEqual([]);
});
