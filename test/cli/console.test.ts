import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runConsole, type ConsoleEffects } from "../../src/cli/console/console.ts";
import { redirectPage } from "../../src/cli/console/redirect-page.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ console: true });
  writeFileSync(kubeconfig, server.server.kubeconfig());
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** Runs the command. @returns what it wrote, and the file that it opened with the content of that time. */
async function run(words: readonly string[], hasBrowser = true) {
  let [text, file, content, mode] = ["", "", "", 0];
  const effects: ConsoleEffects = {
    write: (part) => (text += part),
    openFile: (name) => {
      file = name;
      content = readFileSync(name, "utf8");
      mode = statSync(name).mode & 0o777;
      return Promise.resolve(hasBrowser);
    },
    wait: () => Promise.resolve(),
  };
  expect(await runConsole(words, { KUBECONFIG: kubeconfig }, effects)).toBe(0);
  return { text, file, content, mode };
}

it("plinth console prints an address with a code that opens one session of the administrator", async () => {
  const { text, file } = await run(["--open=false"]);
  const [, base, code] = /^(https:\S+)\/console\/#code=([\w-]{43})$/m.exec(text)!;
  expect(base).toBe(server.server.url);
  expect(file).toBe("");
  const { status, body } = await server.as(code).ask("POST", "/console/sessions");
  expect(status).toBe(201);
  expect((await server.as((body as { token: string }).token).get("/api/v1/secrets")).status).toBe(200);
});

it("plinth console opens the browser with a private file that is removed, not with the code in a command line", async () => {
  const { text, file, content, mode } = await run([]);
  const url = text.split("\n")[0]!;
  expect(file).not.toContain(url.split("#")[1]);
  expect(content).toContain(`url=${url}"`);
  expect(mode).toBe(0o600);
  expect(existsSync(file)).toBe(false);
});

it("plinth console says so when there is no browser", async () => {
  expect((await run([], false)).text).toContain("no browser was found: open the address above");
});

it("the page for the browser contains its address as text only", () => {
  expect(redirectPage('https://a/"><script>&')).not.toMatch(/<script>|"https:\/\/a\/"/);
});
