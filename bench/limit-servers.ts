/** Starts the limit servers with which the product is compared. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AnswersApi } from "./limits/answers.ts";
import type { CommitsApi } from "./limits/commits.ts";
import type { LeastApi } from "./limits/least.ts";
import type { ScanApi, ScanPlan } from "./limits/scan.ts";
import type { Address } from "./load/plan.ts";
import type { Options } from "./options.ts";
import { printProfile, profileFlags } from "./profile.ts";
import { Helper } from "./processes.ts";
import type { Bench } from "./scenario.ts";
import { temporaryFolder } from "./subject.ts";

export interface LimitServer {
  readonly address: Address;
  readonly pid: number;
  close(): Promise<void>;
}

/**
 * Starts a server that responds with these bytes; several bodies are the pages of a list.
 *
 * @param clientCa PEM of the CA for client certificates; undefined for none.
 */
export async function answersLimit(
  { options, tls }: Bench,
  bodies: readonly Buffer[],
  status = 200,
  clientCa?: string,
): Promise<LimitServer> {
  const folder = temporaryFolder();
  const files = bodies.map((body, index) => {
    const file = join(folder, `body-${index}`);
    writeFileSync(file, body);
    return file;
  });
  const profile = profileFolder(options);
  const helper = Helper.start<AnswersApi>("limits/answers.ts", profileFlags(profile));
  const port = await helper.call("open", { tls: { ...tls, clientCa }, files, status });
  return limitServer(helper, port, tls.ca, folder, profile);
}

/** Starts a server that commits a record per write and sends a frame to every watcher, or to one of `oneIn`. */
export async function commitsLimit({ options, tls }: Bench, sample: Buffer, oneIn = 1): Promise<LimitServer> {
  const folder = temporaryFolder();
  const profile = profileFolder(options);
  const helper = Helper.start<CommitsApi>("limits/commits.ts", profileFlags(profile));
  const port = await helper.call("open", { tls, dir: folder, sample, oneIn });
  return limitServer(helper, port, tls.ca, folder, profile);
}

/** Starts a server that does the minimum work of an API write. */
export async function leastLimit({ options, tls }: Bench, sample: Buffer): Promise<LimitServer> {
  const folder = temporaryFolder();
  const profile = profileFolder(options);
  const helper = Helper.start<LeastApi>("limits/least.ts", profileFlags(profile));
  const port = await helper.call("open", { tls, dir: folder, sample });
  return limitServer(helper, port, tls.ca, folder, profile);
}

/** Starts a server that reads every record of a collection for each response. */
export async function scanLimit(
  { options, tls }: Bench,
  plan: Pick<ScanPlan, "objects" | "sample" | "answer">,
): Promise<LimitServer> {
  const folder = temporaryFolder();
  const profile = profileFolder(options);
  const helper = Helper.start<ScanApi>("limits/scan.ts", profileFlags(profile));
  const port = await helper.call("open", { tls, dir: folder, ...plan });
  return limitServer(helper, port, tls.ca, folder, profile);
}

function profileFolder({ profile }: Options): string | undefined {
  return profile === undefined ? undefined : join(profile, "limit");
}

function limitServer(
  helper: Pick<Helper<never>, "pid" | "close">,
  port: number,
  ca: string,
  folder: string,
  profile: string | undefined,
): LimitServer {
  return {
    address: { host: "127.0.0.1", port, ca },
    pid: helper.pid,
    async close() {
      await helper.close();
      rmSync(folder, { recursive: true, force: true });
      if (profile !== undefined) printProfile(profile, "the limit", helper.pid);
    },
  };
}
