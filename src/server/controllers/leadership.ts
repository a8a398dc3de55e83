import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { RunningController } from "../../controllers/controller.ts";
import { EventRecorder } from "../../controllers/event-recorder.ts";
import { controllersLease, LeaderElection } from "../../controllers/leader-election.ts";
import { stackOf } from "../../base/logger.ts";
import { isStore } from "../../storage/guarded-store.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Whether other servers may share the store, so that a leader must be elected for the controllers. */
export function isElected({ storage, leaderElection = true }: ServerOptions): boolean {
  return leaderElection && (isStore(storage) || storage.engine !== "memory");
}

/**
 * Takes part in the election of the server that runs the controllers. A server without others starts at once.
 *
 * @param lead starts the controllers; they may write only while `holds` returns true.
 * @param otherLeads called when another server is the leader.
 * @throws what `lead` throws if this server starts at once.
 */
export async function electLeader(
  { vocabulary, clock, log }: ServerOptions,
  client: Client,
  lead: (holds: () => boolean) => Promise<RunningController>,
  otherLeads: () => void,
): Promise<RunningController> {
  const pidNamespace = pidNamespaceId();
  const identity = `${hostname()}_${pidNamespace}_${process.pid}_${randomUUID()}`;
  const lease = controllersLease(vocabulary);
  const events = new EventRecorder(client, clock, vocabulary.components.apiServer, (error) =>
    log.warn({ error: stackOf(error) }, "an event about the lease of the controllers could not be written"),
  );
  const election = new LeaderElection(client, vocabulary, clock, {
    identity,
    hasEnded: (holder) => hasEnded(holder, pidNamespace),
    lead,
    otherLeads,
    failed: (error) =>
      log.warn(
        { error: stackOf(error) },
        "the lease of the controllers can't be acquired or renewed; retrying",
      ),
    changed(leads) {
      log.info(
        { identity },
        leads
          ? "controllers started; this process is the leader"
          : "controllers stopped; this process is not the leader",
      );
      const what = leads ? "became leader" : "stopped leading";
      events.record(lease, "Normal", "LeaderElection", `${identity} ${what}`);
    },
  });
  await election.start();
  return {
    async close() {
      await election.close();
      await events.close();
    },
  };
}

/** Returns an identifier of the PID namespace: equal for processes of one machine that see the same process ids. */
function pidNamespaceId(): string {
  const read = (what: () => string): string => {
    try {
      return what();
    } catch {
      // Only Linux has these files; elsewhere the host name is used alone.
      return "";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = read(() => readlinkSync("/proc/self/ns/pid"));
  return createHash("sha256").update(`${hostname()} ${boot} ${namespace}`).digest("hex").slice(0, 16);
}

/** Whether the lease holder was a process of this machine that has ended. */
function hasEnded(identity: string, pidNamespace: string): boolean {
  const [holderPidNamespace, pid = ""] = identity.split("_").slice(-3);
  if (holderPidNamespace !== pidNamespace || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
