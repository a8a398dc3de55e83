import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CreateServerOptions } from "../../src/index.ts";
import { settle } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/process.ts";

/** A recorded event, as it stands in the log. */
// Tests look into events of any shape; a wrong shape fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
export type Event = any;

/** A server whose requests are audited by a policy. */
export class AuditedServer {
  private constructor(
    readonly api: TestServer,
    readonly file: string,
    private readonly folder: { remove(): void },
  ) {}

  /** @param policy the policy's members behind apiVersion and kind; YAML or JSON. */
  static async start(
    policy: string,
    options: CreateServerOptions = {},
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

  /** The lines that were written so far. */
  async lines(): Promise<string[]> {
    // A line is written by the end of the turn in which it is recorded.
    await settle();
    return readFileSync(this.file, "utf8").split("\n").slice(0, -1);
  }

  /** The events about an audit id so far. */
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

/** A policy in which everything is recorded at one level. */
export function everythingAt(level: string): string {
  return `rules: [{level: ${level}}]`;
}
