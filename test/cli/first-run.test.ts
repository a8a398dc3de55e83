import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { invokedAs } from "../../src/cli/invocation.ts";
import { startMessage } from "../../src/cli/serve/start-message.ts";
import { textLog } from "../../src/cli/log.ts";
import { usesColor } from "../../src/cli/terminal/terminal.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { Api } from "../support/api.ts";
import { isInstalled, program } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const folder = useTemporaryFolders();

/** Runs a command line until its output matches, ends it, and returns its output. */
async function outputUntil(command: string, words: readonly string[], expected: RegExp, cwd: string) {
  const child = spawn(command, words, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (expected.test(stdout)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${stderr}${stdout}`)));
  });
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  return { stdout, stderr };
}

describe("plinth without a command", () => {
  it("serves, and prints address, kubeconfig, vocabulary and three commands in at most nine lines", async () => {
    const { stdout } = await outputUntil(
      process.execPath,
      [program, "--secure-port=0"],
      / help {2,}.*\n/,
      folder(),
    );
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(9);
    expect(lines.slice(0, 6)).toEqual([
      expect.stringMatching(/^plinth serves platform names at https:\/\/127\.0\.0\.1:\d+$/),
      "administrator: .plinth/admin.kubeconfig",
      expect.stringMatching(
        /^console: https:\/\/127\.0\.0\.1:\d+\/console\/ \(node \S+ console signs you in\)$/,
      ),
      "names: platform (rbac.authorization.platform.io), for products with an API of their own",
      `kubectl, Helm and operators need Kubernetes names: node ${program} serve --kubernetes --data-dir=.plinth-kubernetes`,
      "next:",
    ]);
    expect(lines.slice(6).map((line) => line.trim().split(/ {2,}/)[0])).toEqual([
      `node ${program} auth who-can get secrets`,
      `node ${program} demo`,
      `node ${program} help`,
    ]);
  });

  it.skipIf(!isInstalled("script"))(
    "on a terminal it is colored, and log entries are lines of text",
    async () => {
      const command = `${process.execPath} ${program} --secure-port=0`;
      const { stdout } = await outputUntil("script", ["-qec", command, "/dev/null"], / help {2,}/, folder());
      expect(stdout).toContain(`\u001b[36mnode ${program} help`);
      const [gray, green, off] = ["\u001b[90m", "\u001b[32m", "\u001b[0m"];
      const entry = stdout.split("\n").find((line) => line.includes("controllers started"));
      expect(entry).toMatch(/\d\d:\d\d:\d\d\.\d{3}/);
      expect(entry).toContain(`${off} ${green}info ${off} controllers started`);
      expect(entry?.startsWith(gray)).toBe(true);
      expect(stdout).not.toContain('{"level"');
    },
  );

  it.skipIf(!isInstalled("script"))(
    "on a terminal it prints an address that signs the administrator in to the console once",
    async () => {
      const dir = folder();
      const server = spawn(
        "script",
        ["-qec", `${process.execPath} ${program} --secure-port=0`, "/dev/null"],
        {
          cwd: dir,
          stdio: ["pipe", "pipe", "pipe"],
        },
      );
      let stdout = "";
      server.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      const ended = once(server, "exit");
      try {
        await expect.poll(() => stdout, { timeout: 20_000 }).toMatch(/ help {2,}/);
        const [, url, code] = /(https:\/\/[\d.:]+)\/console\/#code=([\w-]{43})/.exec(stdout)!;
        expect(stdout).toContain("signs you in once, within 5 minutes");
        const client = new Api(
          url!,
          readFileSync(path.join(dir, ".plinth/pki/ca.crt"), "utf8"),
          `Bearer ${code}`,
        );
        const { status, body } = await client.ask("POST", "/console/sessions");
        const again = await client.ask("POST", "/console/sessions");
        client.close();
        expect([status, again.status]).toEqual([201, 401]);
        const { token } = body as { token: string };
        const session = new Api(
          url!,
          readFileSync(path.join(dir, ".plinth/pki/ca.crt"), "utf8"),
          `Bearer ${token}`,
        );
        expect((await session.get("/api/v1/secrets")).status).toBe(200);
        session.close();
      } finally {
        server.kill("SIGTERM");
        await ended;
      }
    },
  );

  it.each([["-v"], ["--version"], ["version"]])("%s prints the version", async (word) => {
    expect(await plinthHere(word)).toMatchObject({ code: 0, stdout: (await plinthHere("version")).stdout });
  });

  it.each(["serve", "backup", "convert", "auth"])(
    "help %s shows the flags of the command",
    async (command) => {
      const { code, stdout } = await plinthHere("help", command);
      expect([code, stdout]).toEqual([0, (await plinthHere(command, "--help")).stdout]);
      expect(stdout).toContain("--");
    },
  );

  it("help lists the commands, and a misspelled command gets a suggestion", async () => {
    expect((await plinthHere("help")).stdout).toMatch(/serve[\s\S]*backup[\s\S]*restore[\s\S]*version/);
    expect(await plinthHere("help")).toEqual(await plinthHere("--help"));
    expect(await plinthHere("sevre")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean plinth serve?") as string,
    });
    expect(await plinthHere("help", "convrt")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean plinth convert?") as string,
    });
    expect(await plinthHere("frobnicate")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("see plinth help") as string,
    });
  });

  it.each([
    [["serve", "--secure-prot=1"], "did you mean --secure-port?"],
    [["--log-levle=info"], "did you mean --log-level?"],
    [["serve", "--vocabulary=kubernets"], "did you mean kubernetes?"],
    [["serve", "--log-format=jsno"], "did you mean json?"],
    [["convert", "-f", "x", "-o", "yml"], "did you mean yaml?"],
  ])("%j is refused with a suggestion", async (words, suggestion) => {
    expect(await plinthHere(...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(suggestion) as string,
    });
  });
});

describe("the name of the program in suggestions", () => {
  const cwd = process.cwd();

  it.each([
    [{ npm_command: "exec" }, "/home/ann/.npm/_npx/1/node_modules/.bin/plinth", "npx plinth"],
    [{}, "/usr/local/bin/plinth", "plinth"],
    [{ npm_command: "start" }, `${cwd}/dist/plinth.js`, "node dist/plinth.js"],
    [{}, "/opt/plinth/dist/plinth.js", "node /opt/plinth/dist/plinth.js"],
  ])("with %j and the file %s is %s", (environment, file, expected) => {
    expect(invokedAs(environment, file)).toBe(expected);
  });
});

describe("the start message", () => {
  it("names the vocabulary and what kubectl needs", () => {
    const facts = {
      url: "https://127.0.0.1:6443",
      publicUrl: undefined,
      certificateHosts: ["localhost", "127.0.0.1", "::1"],
      hasOperatorCertificate: false,
      console: { url: "https://127.0.0.1:6443/console/#code=c", minutes: 5 },
      kubeconfig: "my data/admin.kubeconfig",
      program: "npx plinth",
    };
    const message = startMessage({ ...facts, vocabulary: kubernetes }, false);
    expect(message).toContain("plinth serves kubernetes names at https://127.0.0.1:6443\n");
    expect(message).toContain("kubectl: export KUBECONFIG='my data/admin.kubeconfig'\n");
    expect(message).toContain("  npx plinth demo --kubeconfig='my data/admin.kubeconfig'  loads");
    expect(message).toContain(
      "console: https://127.0.0.1:6443/console/#code=c (signs you in once, within 5 minutes)\n",
    );
    expect(message).toContain(
      "names: kubernetes (rbac.authorization.k8s.io), for kubectl, Helm and operators\n",
    );
    expect(message).toContain("npx plinth serve --vocabulary=platform --data-dir=.plinth-platform\n");
    const later = { ...facts, vocabulary: kubernetes, console: { ...facts.console, minutes: undefined } };
    expect(startMessage(later, false)).toContain(
      " (npx plinth console --kubeconfig='my data/admin.kubeconfig' signs you in)\n",
    );
    const without = { ...facts, vocabulary: kubernetes, console: undefined };
    expect(startMessage(without, false)).not.toContain("console");
    const own = startMessage(
      { ...facts, kubeconfig: ".plinth/admin.kubeconfig", vocabulary: platform },
      false,
    );
    expect(own).toContain("npx plinth serve --kubernetes");
    expect(own).toMatch(/^ {2}npx plinth demo {2,}loads/m);
  });

  it("names the URL for other machines and whether the certificate is valid for it", () => {
    const facts = {
      url: "https://localhost:6443",
      kubeconfig: "admin.kubeconfig",
      program: "npx plinth",
      vocabulary: kubernetes,
      hasOperatorCertificate: false,
      console: { url: "https://localhost:6443/console/", minutes: undefined },
    };
    const line = (publicUrl: string | undefined, certificateHosts: readonly string[], own = true) =>
      startMessage({ ...facts, publicUrl, certificateHosts, hasOperatorCertificate: !own }, false)
        .split("\n")
        .find((one) => one.startsWith("other machines"));
    expect(line(undefined, ["localhost"])).toBeUndefined();
    expect(line("https://192.0.2.7:6443", ["localhost", "127.0.0.1", "::1", "192.0.2.7", "node"])).toBe(
      "other machines: https://192.0.2.7:6443 (certificate for 192.0.2.7, node; --tls-san adds names)",
    );
    expect(line("https://[2001:db8::1]:6443", ["2001:db8::1"])).toContain("(certificate for 2001:db8::1");
    expect(line("https://api.example.com", ["*.example.com"], false)).toContain(
      "(certificate for *.example.com",
    );
    expect(line("https://a.b.example.com", ["*.example.com"], false)).toBe(
      "other machines: https://a.b.example.com (the certificate isn't valid for a.b.example.com, only for *.example.com; " +
        "--tls-cert-file names its hosts)",
    );
    const message = startMessage(
      { ...facts, publicUrl: "https://192.0.2.7:6443", certificateHosts: ["192.0.2.7"] },
      false,
    );
    expect(message.trimEnd().split("\n").length).toBeLessThanOrEqual(11);
  });

  it("has no colors if NO_COLOR is set or the terminal is dumb", () => {
    expect(usesColor({ TERM: "xterm" })).toBe(true);
    expect(usesColor({ TERM: "xterm", NO_COLOR: "1" })).toBe(false);
    expect(usesColor({ TERM: "dumb" })).toBe(false);
  });
});

describe("--kubernetes", () => {
  it("is short for --vocabulary=kubernetes", async () => {
    const words = [program, "serve", "--kubernetes", "--secure-port=0", "--storage-backend=memory"];
    const { stdout } = await outputUntil(process.execPath, words, / help {2,}/, folder());
    expect(stdout).toContain("plinth serves kubernetes names at ");
    expect(stdout).toContain("\nkubectl: export KUBECONFIG=.plinth/admin.kubeconfig\n");
  });

  it("contradicts --vocabulary=platform", async () => {
    const { code, stderr } = await plinthHere("serve", "--kubernetes", "--vocabulary=platform");
    expect(stderr).toContain("--kubernetes and --vocabulary=platform contradict each other");
    expect(code).toBe(2);
  });
});

describe("the log", () => {
  const entries = (level: "debug" | "info" | "warn" | "error" | "silent", color = false) => {
    const lines: string[] = [];
    const now = () => new Date(2026, 0, 2, 3, 4, 5, 67).getTime();
    return { lines, log: textLog(level, { color, write: (line) => lines.push(line), now }) };
  };

  it("as text has time, level, message and facts on one line, and stacks below", () => {
    const { lines, log } = entries("info");
    log.info({ path: "/api/v1", user: "system:node:a b", status: 200n, none: undefined }, "request");
    log.error({ error: "Error: broken\n    at here" }, "it failed");
    expect(lines).toEqual([
      '03:04:05.067 info  request path=/api/v1 user="system:node:a b" status=200\n',
      "03:04:05.067 error it failed\n    Error: broken\n        at here\n",
    ]);
  });

  it("as text escapes control characters of clients", () => {
    const { lines, log } = entries("info");
    log.info({ path: "/\u001b[31mred", name: "a\u202eb" }, "re\u0007quest");
    expect(lines).toEqual([
      String.raw`03:04:05.067 info  re\u0007quest path=/\u001b[31mred name=a\u202eb` + "\n",
    ]);
  });

  it("as text omits entries below the minimum level", () => {
    const { lines, log } = entries("warn");
    log.info({}, "one");
    log.warn({}, "two");
    log.error({}, "three");
    expect(lines.map((line) => line.slice(13).trim())).toEqual(["warn  two", "error three"]);
    const silent = entries("silent");
    silent.log.error({}, "four");
    expect(silent.lines).toEqual([]);
  });

  it.each([
    [["--log-format=text"], /^\d\d:\d\d:\d\d\.\d{3} info {2}/],
    [["--log-format=json"], /^\{"level":30,/],
    [[], /^\{"level":30,/],
  ])("with %j all its lines have one form", async (flags, form) => {
    const words = [program, "serve", "--secure-port=0", "--storage-backend=memory", ...flags];
    const { stderr } = await outputUntil(process.execPath, words, / help {2,}/, folder());
    const lines = stderr.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !form.test(line))).toEqual([]);
  });
});

describe("the access log", () => {
  it.each([["--access-log", "--log-level=info"], ["--log-level=debug"]])(
    "with %s has an entry per request with method, path, user, status and duration",
    async (...flags) => {
      const server = await ServerHere.start(folder(), "--storage-backend=memory", ...flags);
      try {
        await server.as("none").get("/api/v1/namespaces?limit=5");
        await server.as("none").get("/healthz");
      } finally {
        await server.stop();
      }
      const entries = server
        .log()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { msg: string; path?: string; durationMs?: number })
        .filter(({ msg }) => msg === "request");
      expect(entries.filter(({ path }) => path?.startsWith("/api/v1/") === true)).toEqual([
        expect.objectContaining({ method: "GET", path: "/api/v1/namespaces?limit=5", status: 401 }),
      ]);
      expect(entries.filter(({ durationMs }) => !(durationMs! >= 0))).toEqual([]);
    },
  );

  it("is off by default", async () => {
    const server = await ServerHere.start(folder(), "--storage-backend=memory", "--log-level=info");
    await server.as("none").get("/api/v1/namespaces");
    await server.stop();
    expect(server.log()).not.toContain('"request"');
  });
});
