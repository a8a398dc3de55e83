import type { OtherProcesses } from "../../base/other-processes.ts";
import { defaultMaxConnections } from "../../server/start/open-files.ts";
import type { ServeOptions } from "../serve/serve-options.ts";

/** What a child process of `plinth serve --workers` does. */
export type Role =
  /** Commits the writes of all workers. */
  { readonly kind: "committer"; readonly socket: string } | WorkerRole;

/** Serves requests. */
export interface WorkerRole {
  readonly kind: "worker";
  /** Number of the worker, from 1; its replacement has the same. */
  readonly number: number;
  /** Number of workers. */
  readonly workers: number;
  /** Whether it writes the administrator's kubeconfig and prints the start message, when its parent allows it. */
  readonly announces: boolean;
  /** Port of all workers. With any free one, replacements would listen on another one when no worker is left that has it. */
  readonly port: number;
  /** Path of the committer's socket; undefined if the store has no committer. */
  readonly socket: string | undefined;
}

/** A message of a child process to its parent: it serves. */
export const readyMessage = "ready";
/** A message of the parent to the worker that announces the start: all workers serve. */
export const announceMessage = "announce";
/** The signal of the parent to the committer: all workers have ended. Unlike a message, it also ends a process that is still starting. */
export const stopCommitterSignal = "SIGUSR2";

const variable = "PLINTH_PROCESS_ROLE";

/** Returns the environment of a child process with a role. */
export function environmentOf(role: Role): Record<string, string> {
  return { [variable]: JSON.stringify(role) };
}

/** Returns the role of this process; undefined for one that a user has started. Its child processes don't inherit the role. */
export function takeRole(): Role | undefined {
  const text = process.env[variable];
  if (text === undefined || process.send === undefined) return undefined;
  delete process.env[variable];
  return JSON.parse(text) as Role;
}

/** Returns the options of a worker: limits of the whole server are divided, and each worker has an audit log of its own. */
export function optionsOfWorker(
  { server, ...rest }: ServeOptions,
  { number, workers, port, socket }: WorkerRole,
  otherProcesses?: OtherProcesses,
): ServeOptions {
  const share = (limit: number) => Math.ceil(limit / workers);
  const { flow, audit, maxConnections } = server;
  const log = audit.log && { ...audit.log, path: auditLogOf(audit.log.path, number) };
  return {
    ...rest,
    server: {
      ...server,
      port,
      committer: socket,
      otherProcesses,
      processes: workers,
      maxConnections: share(maxConnections ?? defaultMaxConnections),
      flow: { ...flow, maxReading: share(flow.maxReading), maxChanging: share(flow.maxChanging) },
      audit: { ...audit, log },
    },
  };
}

/** Returns the path of a worker's audit log: that of the flag for the first one, then `audit-2.log`. Standard output is shared. */
function auditLogOf(path: string, number: number): string {
  if (number === 1 || path === "-") return path;
  const [, begin, extension = ""] = /^(.*?)(\.[^./]*)?$/.exec(path)!;
  return `${begin}-${number}${extension}`;
}
