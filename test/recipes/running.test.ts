import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuthority, issueClientCertificate } from "../../src/base/certificates/serving-certificates.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, blocksOf, scriptOf } from "../support/pages.ts";
import { effort } from "../support/effort.ts";

/** Writes the files that commands of pages name, as the pages show them. */
function writeFiles(shell: PageShell): void {
  shell.file("audit-policy.yaml", blockOf("docs/running.md", "yaml file=audit-policy.yaml"));
  shell.file("policy.yaml", blockOf("docs/audit.md", "yaml"));
  shell.file("tracing.yaml", blockOf("docs/observability.md", "yaml"));
  const key = randomBytes(32).toString("base64");
  const encryption = blockOf("docs/encryption.md", "yaml configuration");
  shell.file("encryption.yaml", encryption.replace("<32 bytes in Base64>", key));
  const authority = createAuthority();
  const proxy = issueClientCertificate(authority, { commonName: "front-proxy", organizations: [], days: 1 });
  shell.file("front-proxy-ca.crt", authority.certificate);
  shell.file("front-proxy.crt", proxy.certificate);
  shell.file("front-proxy.key", proxy.key);
}

let shell: PageShell;
beforeEach(() => {
  shell = new PageShell();
});
afterEach(() => shell.close());

describe("the commands that start a server", () => {
  // Several pages show the same command.
  const commands = [...new Set(blocksOf("docs/*.md", "sh serve").map(({ text }) => text.trim()))];

  it("are more than ten", () => expect(commands.length).toBeGreaterThan(10));

  // In short every fourth.
  it.each(commands.filter((_, index) => index % effort(6, 1) === 0))("%s", async (command) => {
    writeFiles(shell);
    await shell.run(command);
    const [server] = shell.servers;
    expect(command.includes("--access-log") ? "" : server!.log()).toBe("");
    // A server with a delay needs as long to stop.
    if (!command.includes("--shutdown-delay-duration")) expect(await server!.stop()).toBe(0);
  });
});

it("docs/running.md: the other commands work on the data folder of a server", async () => {
  await shell.run("plinth serve");
  await shell.run(scriptOf("docs/running.md", "sh command"));
});
