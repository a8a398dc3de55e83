import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import type { Scheduler } from "./scheduler.ts";
import { Dice } from "../../support/dice.ts";

/** Replaces a member of an object and returns a function that restores it. */
function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}

/**
 * Replaces the sources of time, order and randomness of the process that the product uses without injection: clocks of durations,
 * immediates, and the random values of the crypto module.
 *
 * @returns a function that restores them.
 */
export function replaceGlobals(scheduler: Scheduler, seed: number): () => void {
  const dice = new Dice(seed);
  const immediate = (task: (...values: unknown[]) => void, ...values: unknown[]): object => {
    scheduler.immediate(() => task(...values));
    return {};
  };
  const later = (task: () => void, delayMs = 0): object => {
    const timer = scheduler.after("process", delayMs, task);
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  };
  const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => dice.below(256)));
  const restores = [
    replace(Date, "now", () => Math.floor(scheduler.startMs + scheduler.nowMs)),
    replace(performance, "now", () => scheduler.nowMs),
    replace(globalThis, "setImmediate", immediate),
    replace(globalThis, "setTimeout", later),
    replace(globalThis, "clearTimeout", (timer?: { cancel?(): void }) => timer?.cancel?.()),
    replace(timers, "setImmediate", (value: unknown) => new Promise((resolve) => immediate(resolve, value))),
    replace(
      timers,
      "setTimeout",
      (delayMs: number, value: unknown) =>
        new Promise((resolve) => scheduler.after("process", delayMs, () => resolve(value))),
    ),
    replace(crypto, "randomBytes", bytes),
    replace(crypto, "randomInt", (from: number, to?: number) =>
      to === undefined ? dice.below(from) : from + dice.below(to - from),
    ),
    replace(crypto, "randomUUID", () => uuidOf(bytes(16))),
    replace(crypto, "generateKeyPairSync", keyPairs()),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const generateKeyPair = crypto.generateKeyPairSync;
let keyPair: unknown;

/** Returns one key pair for all servers of the process: keys aren't subject of the simulation, and can't be derived from a seed. */
function keyPairs(): (type: string, options: object) => unknown {
  return (type, options) =>
    (keyPair ??= (generateKeyPair as (type: string, options: object) => unknown)(type, options));
}
