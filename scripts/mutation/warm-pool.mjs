/**
 * A pool of vitest with one process that stays between runs. Loading the modules of a server takes seconds, and the tests that one mutant needs
 * usually a fraction of one.
 */
import path from "node:path";
import { BaseSequencer, ForksPoolWorker } from "vitest/node";

/** Runs after which a new process starts, so that what a mutant leaves in caches of modules can't reach many others. */
const runsOfProcess = 25;

let process;

/** Returns a worker of the common process, which starts if none runs. */
function workerOf(options) {
  const listeners = [];
  const answer = (type) => {
    const message = { type, __vitest_worker_response__: true };
    for (const { event, listener } of listeners.slice()) if (event === "message") listener(message);
  };
  return {
    name: "warm",
    cacheFs: true,
    async start() {
      if (process !== undefined) return;
      process = { worker: new ForksPoolWorker(options), runs: 0 };
      await process.worker.start();
      process.worker.on("exit", () => (process = undefined));
    },
    on(event, listener) {
      listeners.push({ event, listener });
      process?.worker.on(event, listener);
    },
    off(event, listener) {
      const index = listeners.findIndex((one) => one.event === event && one.listener === listener);
      if (index !== -1) listeners.splice(index, 1);
      process?.worker.off(event, listener);
    },
    send(message) {
      // The process would end.
      if (message.type === "stop") setImmediate(answer, "stopped");
      else process?.worker.send(message);
    },
    deserialize: (data) => data,
    async stop() {
      for (const { event, listener } of listeners.splice(0)) process?.worker.off(event, listener);
      if (process === undefined || ++process.runs < runsOfProcess) return;
      const { worker } = process;
      process = undefined;
      await worker.stop();
    },
  };
}

/** Longest duration of each test file until now. */
const durations = new Map();

/** Starts the fastest files first: a mutant is done with the first test that fails. */
class FastestFirst extends BaseSequencer {
  async sort(files) {
    for (const { project, moduleId } of files) {
      const key = `${project.name}:${path.relative(project.config.root, moduleId)}`;
      const { duration = 0 } = this.ctx.cache.getFileTestResults(key) ?? {};
      durations.set(moduleId, Math.max(duration, durations.get(moduleId) ?? 0));
    }
    return files.toSorted((a, b) => durations.get(a.moduleId) - durations.get(b.moduleId));
  }
}

/** Plugin of vite with which all tests run in the process. */
export const warmPool = {
  name: "warm-pool",
  config: () => ({ test: { sequence: { sequencer: FastestFirst } } }),
  configureVitest({ project }) {
    project.config.pool = "warm";
    project.config.poolRunner = { name: "warm", createPoolWorker: workerOf };
  },
};
