import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CreateServerOptions } from "../../src/index.ts";
import { settle } from "../api/support.ts";
import { TestServer, type TestServerOptions } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A recorded audit event as written in the log. */
// Events may have any shape; a wrong shape fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
export type Event = any;

/** A server with an audit policy. */
export class AuditedServer {
  private constructor(
    readonly api: TestServer,
    readonly file: string,
    private readonly folder: { remove(): void },
  ) {}

  /** @param policy the policy without apiVersion and kind; YAML or JSON. */
  static async start(
    policy: string,
    options: TestServerOptions = {},
    log: Partial<NonNullable<CreateServerOptions["audit"]>["log"]> = {},
  ): Promise<AuditedServer> {
    const folder = temporaryFolder();
    const policyFile = path.join(folder.path, "policy.yaml");
    const domain = options.vocabulary === "kubernetes" ? "k8s.io" : "platform.io";
    writeFileSync(policyFile, `apiVersion: audit.${domain}/v1\nkind: Policy\n${policy}\n`);
    const file = path.join(folder.path, "audit.log");
    try {
      const audit = { policyFile, log: { path: file, ...log } };
      return new AuditedServer(await TestServer.start({ ...options, audit }), file, folder);
    } catch (error) {
      folder.remove();
      throw error;
    }
  }

  /** The lines written so far. */
  async lines(): Promise<string[]> {
    // A line is written at the end of the event loop turn in which it is recorded.
    await settle();
    return readFileSync(this.file, "utf8").split("\n").slice(0, -1);
  }

  /** The events with an Audit-ID so far. */
  async events(id: unknown): Promise<Event[]> {
    return (await this.all()).filter(({ auditID }) => auditID === id);
  }

  /** Every event so far. */
  async all(): Promise<Event[]> {
    return (await this.lines()).map((line) => JSON.parse(line) as Event);
  }

  async close(): Promise<void> {
    await this.api.close();
    this.folder.remove();
  }
}

/** A policy that records everything at one level. */
export function everythingAt(level: string): string {
  return `rules: [{level: ${level}}]`;
}
