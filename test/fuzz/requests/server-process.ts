/** A server in a process of its own, which measures the turns of its event loop and its memory. Its parent starts it by `ServerUnderTest`. */
import { writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { createServer } from "../../../src/index.ts";
import type { FromServer, ServerSettings, ToServer } from "./messages.ts";
import { TurnMeter } from "./turn-meter.ts";

/** Shortest turn that is reported, in milliseconds. */
const reportMs = 20;

const settings = JSON.parse(process.argv[2]!) as ServerSettings;

function send(message: FromServer): void {
  process.send!(message);
}

const reportDefect = (text: string): void => send({ type: "defect", text });
process.on("uncaughtException", (error) =>
  reportDefect(`uncaught exception: ${error.stack ?? String(error)}`),
);
process.on("unhandledRejection", (reason) =>
  reportDefect(`unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`),
);

const tokenAuthFile = `${settings.folder}/tokens.csv`;
writeFileSync(
  tokenAuthFile,
  settings.users.map(({ name, groups }) => `${name},${name},,"${groups.join(",")}"\n`).join(""),
);

const meter = new TurnMeter((turn) => {
  if (turn.ms >= reportMs) send({ type: "turn", ...turn });
});
meterIncomingBytes(meter);

const server = await createServer({
  vocabulary: settings.vocabulary,
  tokenAuthFile,
  retentionMs: 10_000,
  runtimeConfig: "api/all",
  anonymousAuth: true,
  log: {
    info: () => undefined,
    warn: () => undefined,
    error: (facts) => reportDefect(`logged error: ${JSON.stringify(facts)}`),
  },
});

process.on("message", (message: ToServer) => {
  switch (message.type) {
    case "memory":
      return send({ type: "memory", heapBytes: heapAfterCollection() });
    case "longest":
      return send({ type: "longest", ms: meter.takeLongest() });
    case "stop":
      return void server.close().then(() => process.exit(0));
  }
});
process.on("disconnect", () => process.exit(0));
send({ type: "ready", url: server.url!, ca: server.caCertificate!, adminToken: server.adminToken });

/** Every chunk that a socket reads begins a measurement. */
function meterIncomingBytes(turnMeter: TurnMeter): void {
  const { push } = Readable.prototype;
  Readable.prototype.push = function (this: Readable, ...args: Parameters<typeof push>) {
    turnMeter.begin();
    return push.apply(this, args);
  };
}

function heapAfterCollection(): number {
  if (globalThis.gc === undefined) throw new Error("the server must be started with --expose-gc");
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
