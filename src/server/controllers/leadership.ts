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

/** Whether other servers may work on the same store, so that one of them must be chosen for the controllers. */
export function isElected({ storage, leaderElection = true }: ServerOptions): boolean {
  return leaderElection && (isStore(storage) || storage.engine !== "memory");
}

/**
 * Has the servers over one store choose which of them runs controllers. A server that is alone begins at once.
 *
 * @param lead begins the work; it writes only while `holds` says so.
 * @param otherLeads called when another server is seen to lead.
 * @throws what `lead` throws when it begins at once.
 */
export async function electLeader(
  { vocabulary, clock, log }: ServerOptions,
  client: Client,
  lead: (holds: () => boolean) => Promise<RunningController>,
  otherLeads: () => void,
): Promise<RunningController> {
  const place = placeOfProcesses();
  const identity = `${hostname()}_${place}_${process.pid}_${randomUUID()}`;
  const lease = controllersLease(vocabulary);
  const events = new EventRecorder(client, clock, vocabulary.components.apiServer, (error) =>
    log.warn({ error: stackOf(error) }, "an event about the lease of the controllers could not be written"),
  );
  const election = new LeaderElection(client, vocabulary, clock, {
    identity,
    hasEnded: (holder) => hasEnded(holder, place),
    lead,
    otherLeads,
    failed: (error) => log.warn({ error: stackOf(error) }, "the lease of the controllers can't be had now"),
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

/** Tells one set of process numbers from another: it is the same for processes that see each other on this machine. */
function placeOfProcesses(): string {
  const read = (what: () => string): string => {
    try {
      return what();
    } catch {
      // Not on Linux: then the host's name must do.
      return "";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = read(() => readlinkSync("/proc/self/ns/pid"));
  return createHash("sha256").update(`${hostname()} ${boot} ${namespace}`).digest("hex").slice(0, 16);
}

/** Whether a holder was a process of this machine that isn't there any more. */
function hasEnded(identity: string, place: string): boolean {
  const [itsPlace, pid = ""] = identity.split("_").slice(-3);
  if (itsPlace !== place || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
