import { copyFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { ok } from "../../api/support.ts";
import { clientConfiguration } from "../../support/client-configuration.ts";
import { HttpsService } from "../../support/https-service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { files, write } from "./files.ts";
import type { FlaggedServer } from "./table.ts";

/** A recorded event as these rows look at it. */
export interface AuditEvent {
  readonly apiVersion?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly objectRef?: { readonly name?: string };
}

/** Where a backend of the audit sends events. */
export interface AuditSink {
  readonly backend: "audit-log" | "audit-webhook";
  /** The flag that turns it on, for a server. */
  target(server: string): string;
  /** The events about a config map so far. */
  eventsOf(server: FlaggedServer, name: string): readonly AuditEvent[];
}

const rules = (level: string) =>
  JSON.stringify({
    apiVersion: "audit.platform.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level, resources: [{ group: "", resources: ["configmaps"] }] }, { level: "None" }],
  });
export const metadataPolicy = write("metadata-policy.yaml", rules("Metadata"));
export const wholePolicy = write("whole-policy.yaml", rules("RequestResponse"));

export const logSink: AuditSink = {
  backend: "audit-log",
  target: (server) => `--audit-log-path=${path.join(files.path, "audit", server, "audit.log")}`,
  eventsOf(server, name) {
    const file = server.flag("audit-log-path");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    const events = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as AuditEvent);
    return events.filter(({ objectRef }) => objectRef?.name === name);
  },
};

/** A service that takes events, or refuses them while a test says so. */
export class AuditService implements AuditSink {
  readonly backend = "audit-webhook";
  private readonly folder = temporaryFolder();
  private readonly config: string;
  private constructor(private readonly service: HttpsService) {
    this.config = clientConfiguration(this.folder.path, service);
  }

  /** @param refuses whether it refuses a post. */
  static async start(refuses: (text: string) => boolean): Promise<AuditService> {
    return new AuditService(
      await HttpsService.start(({ text }) => (refuses(text) ? { status: 500, body: "" } : { body: "" })),
    );
  }

  /** Gives each server a file of its own, so that none shares what another one has used up. */
  target = (server: string): string => {
    const file = path.join(this.folder.path, `${server}.yaml`);
    copyFileSync(this.config, file);
    return `--audit-webhook-config-file=${file}`;
  };

  eventsOf(_server: FlaggedServer, name: string): readonly AuditEvent[] {
    return this.service.received
      .flatMap(({ text }) => {
        const { apiVersion, items } = JSON.parse(text) as { apiVersion: string; items: AuditEvent[] };
        return items.map((item) => ({ apiVersion, ...item }));
      })
      .filter(({ objectRef }) => objectRef?.name === name);
  }

  async close(): Promise<void> {
    await this.service.close();
    this.folder.remove();
  }
}

let sinkCount = 0;

/** A config map whose creation is audited; its name. */
export async function auditedMap(
  { admin }: FlaggedServer,
  length = 0,
  name = `audited-${++sinkCount}`,
): Promise<string> {
  const data = { text: "x".repeat(length) };
  await ok(admin.post("/api/v1/namespaces/default/configmaps", { metadata: { name }, data }));
  return name;
}

/** Requests after the expected events: an event too many would come out meanwhile. */
const furtherRequests = 40;

/**
 * Returns how many events about some objects a sink gets.
 *
 * @param expected number to wait for.
 */
export async function countOf(
  sink: AuditSink,
  server: FlaggedServer,
  names: readonly string[],
  expected: number,
): Promise<number> {
  const count = () => names.reduce((sum, name) => sum + sink.eventsOf(server, name).length, 0);
  await expect.poll(count).toBeGreaterThanOrEqual(expected);
  for (let round = 0; round < furtherRequests; round++) await server.admin.get("/livez");
  return count();
}
