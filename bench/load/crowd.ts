/**
 * A crowd of watchers in one process. Only some of them read their events; of the others only the bytes that arrive are counted, because
 * a client that decrypts the events of 10,000 watchers needs more processor time than the server.
 */
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { createHistogram } from "node:perf_hooks";
import { serveParent } from "../serve-parent.ts";
import { Connection } from "./connection.ts";
import type { Address } from "./plan.ts";
import { SparseConnection } from "./sparse-connection.ts";
import { watchText } from "./requests.ts";
import { SequenceReader } from "./sequence-reader.ts";

export interface CrowdPlan {
  readonly address: Address;
  readonly watchers: number;
  /** Paths with queries; the watchers take them in turns. */
  readonly paths: readonly string[];
  readonly token: string;
  /** Streams of an HTTP/2 connection; undefined for HTTP/1.1, with a connection for each watcher. */
  readonly streams?: number | undefined;
  /** One in this many watchers reads its events. */
  readonly readingOneIn: number;
  /** Number of watchers that are opened concurrently. */
  readonly together: number;
}

export interface WritePlan {
  readonly address: Address;
  /** Requests, sent in turns, with a sequence mark that the event has too, after `"text":"`. */
  readonly texts: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Opened {
  readonly seconds: number;
  /** Attempts that failed and were repeated. */
  readonly failures: number;
  /** Processor time of this process, in microseconds. */
  readonly cpuMicros: number;
}

export interface Delivered {
  readonly writes: number;
  /** Time that the writes took. */
  readonly seconds: number;
  /** Received events of the watchers that read. */
  readonly events: number;
  /** From the moment at which a write was sent to the arrival of its event, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Bytes that arrived at all watchers. */
  readonly bytes: number;
  /** Processor time of this process, in microseconds. */
  readonly cpuMicros: number;
}

/** One watch. */
interface Watch {
  readonly lost: boolean;
  close(): void;
}

let watches: Watch[] = [];
let sessions: ClientHttp2Session[] = [];
let bytes = 0;
/** Sequence number of the next write: a write that changes nothing would have no event. */
let nextSequence = 0;
let delivered: ((sequence: number) => void) | undefined;

const handlers = { open, write, lost, close };
/** The functions that the bench calls. */
export type CrowdApi = typeof handlers;
serveParent(handlers);

/** Opens all watches; repeats failed attempts. */
async function open(plan: CrowdPlan): Promise<Opened> {
  close();
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  let next = 0;
  let failures = 0;
  if (plan.streams !== undefined) {
    const count = Math.ceil(plan.watchers / plan.streams);
    sessions = Array.from({ length: count }, () => openSession(plan.address));
  }
  const work = async (): Promise<void> => {
    while (next < plan.watchers) {
      const index = next++;
      for (let watch: Watch | undefined; watch === undefined;) {
        try {
          watch = await openOne(plan, index);
          watches.push(watch);
        } catch (error) {
          if (++failures > plan.watchers) throw error;
          await pause(retryMs);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: plan.together }, work));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds: (performance.now() - begun) / 1000, failures, cpuMicros: user + system };
}

/** Pause before an attempt is repeated. */
const retryMs = 100;

function openOne(plan: CrowdPlan, index: number): Promise<Watch> {
  const { token, address, readingOneIn, streams } = plan;
  const path = plan.paths[index % plan.paths.length]!;
  const onData = (part: Buffer): void => {
    bytes += part.length;
  };
  const reads = index % readingOneIn === 0;
  const onEvents = reads ? new SequenceReader((sequence) => delivered?.(sequence)) : undefined;
  if (streams !== undefined) {
    const session = sessions[Math.floor(index / streams)]!;
    return openStream(session, path, token, (part) => {
      onData(part);
      onEvents?.take(part);
    });
  }
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`;
  return SparseConnection.open(address, head, onData, onEvents && ((part) => onEvents.take(part)));
}

function openSession({ host, port, ca }: Address): ClientHttp2Session {
  const session = connectHttp2(`https://${host}:${port}`, {
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    settings: { initialWindowSize: 2 ** 20 },
  });
  // Its streams fail with it.
  session.on("error", () => undefined);
  session.on("connect", () => session.setLocalWindowSize(2 ** 24));
  return session;
}

function openStream(
  session: ClientHttp2Session,
  path: string,
  token: string,
  take: (part: Buffer) => void,
): Promise<Watch> {
  const stream: ClientHttp2Stream = session.request({
    ":path": path,
    authorization: `Bearer ${token}`,
    accept: "application/json",
  });
  return new Promise((resolve, reject) => {
    stream.on("error", reject);
    stream.on("close", () => reject(new Error("the server ended a watch")));
    stream.on("data", take);
    stream.once("response", (headers) => {
      if (headers[":status"] !== 200) reject(new Error(`the watch was refused: ${headers[":status"]}`));
      resolve({
        get lost() {
          return stream.closed;
        },
        close: () => stream.close(),
      });
    });
  });
}

/** Writes at a constant rate and measures when the events arrive. */
async function write({ address, texts, perSecond, seconds }: WritePlan): Promise<Delivered> {
  const histogram = createHistogram();
  const sentAt = new Map<number, number>();
  const firstSequence = nextSequence;
  nextSequence += perSecond * seconds;
  let events = 0;
  delivered = (sequence) => {
    const sent = sentAt.get(sequence);
    if (sent === undefined) return;
    events++;
    histogram.record(Math.max(1, Math.round((performance.now() - sent) * 1000)));
  };
  const bytesBefore = bytes;
  const cpuBefore = process.cpuUsage();
  const connections = await Promise.all(Array.from({ length: writers }, () => Connection.open(address)));
  const start = performance.now();
  const writeEach = async (connection: Connection, first: number): Promise<void> => {
    for (let index = first; index < perSecond * seconds; index += writers) {
      const sequence = firstSequence + index;
      await pause(start + (index / perSecond) * 1000 - performance.now());
      await writeOne(connection, Buffer.from(watchText(texts[sequence % texts.length]!, sequence)), () => {
        sentAt.set(sequence, performance.now());
      });
    }
  };
  await Promise.all(connections.map(writeEach));
  const took = (performance.now() - start) / 1000;
  await pause(lastEventsMs);
  for (const connection of connections) connection.close();
  delivered = undefined;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    writes: sentAt.size,
    seconds: took,
    events,
    p50: histogram.percentile(50) / 1000,
    p99: histogram.percentile(99) / 1000,
    max: histogram.max / 1000,
    bytes: bytes - bytesBefore,
    cpuMicros: user + system,
  };
}

/** Connections that write in turns. */
const writers = 4;
/** Time for the events of the last writes. */
const lastEventsMs = 2000;

async function writeOne(connection: Connection, request: Buffer, sends: () => void): Promise<void> {
  let answer: number | undefined;
  await connection.run({
    next: () => {
      if (answer !== undefined) return undefined;
      sends();
      return request;
    },
    answered: (status) => (answer = status),
  });
  if (answer! > 299) throw new Error(`a write was refused: ${answer}`);
}

/** The number of watches that the server has ended. */
function lost(): number {
  return watches.filter((watch) => watch.lost).length;
}

function close(): void {
  for (const watch of watches) watch.close();
  for (const session of sessions) session.destroy();
  watches = [];
  sessions = [];
}

function pause(milliseconds: number): Promise<void> | undefined {
  if (milliseconds <= 0) return undefined;
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
