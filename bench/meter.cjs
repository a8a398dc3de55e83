"use strict";
/**
 * Loaded into a measured process with `--require`: answers the bench's messages with figures that only the process itself knows.
 * It does nothing, and costs nothing, until the first message.
 */
const { monitorEventLoopDelay } = require("node:perf_hooks");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");

/** Milliseconds between two looks at the event loop: a turn that is measured appears longer by up to this. */
const resolution = 2;

let delays;

const methods = {
  /** Begins to measure the turns of the event loop. */
  startTurns() {
    delays ??= monitorEventLoopDelay({ resolution });
    delays.enable();
    delays.reset();
  },
  /** Ends the measurement; returns the longest turn in milliseconds. */
  stopTurns() {
    if (delays === undefined || delays.count === 0) return 0;
    delays.disable();
    return delays.max / 1e6;
  },
  /** Collects garbage, so that memory is comparable. */
  collectGarbage() {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc");
    collect();
    collect();
    delays?.reset();
  },
};

// The processes of a server with several workers have a channel too, to their parent, which must keep them running.
const isStartedByBench = process.env.PLINTH_PROCESS_ROLE === undefined;

if (process.send !== undefined && isStartedByBench) {
  process.on("message", (message) => {
    if (message === null || typeof message !== "object" || !Object.hasOwn(message, "meter")) return;
    process.send({ meter: message.meter, value: methods[message.method]() });
  });
  process.channel.unref();
}
