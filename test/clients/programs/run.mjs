// Runs the programs over client libraries, unchanged, against servers of this checkout:
//   npm run test:programs -- [--only=go,java] [--update]
// A program is skipped, with the reason, if its language isn't installed; its libraries are fetched by its own package manager. The run
// fails if a program fails, or if docs/clients.md has another result; --update writes the results there. CI doesn't run it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { folder as here, programs, rowOf, rowsOf } from "./programs.mjs";

const root = path.resolve(here, "../../..");
const page = path.join(root, "docs/clients.md");
const folder = mkdtempSync(path.join(tmpdir(), "plinth-programs-"));
const plinth = path.join(root, "dist/plinth.js");
const { only, update } = parseArgs({
  options: { only: { type: "string" }, update: { type: "boolean", default: false } },
}).values;
const ids = only?.split(",");
const unknown = ids?.find((id) => programs.every((program) => program.id !== id));
if (unknown !== undefined) {
  throw new Error(`--only: no program ${unknown}; there are ${programs.map(({ id }) => id).join(", ")}`);
}

/** Runs a program with the environment that names the kubeconfig; returns its output. */
const commands = {
  go: (env) => run("go", ["run", "."], { cwd: path.join(here, "go"), env }),
  "go-oldest": (env) =>
    run("go", ["run", "-modfile=oldest.mod", "-tags=oldest", "."], { cwd: path.join(here, "go"), env }),
  "go-envtest": () => {
    const assets = path.join(folder, "assets");
    run(process.execPath, [plinth, "envtest", `--install=${assets}`]);
    const env = { ...process.env, KUBEBUILDER_ASSETS: assets };
    return run("go", ["run", "./envtest"], { cwd: path.join(here, "go"), env });
  },
  python: (env) => run(python(), [path.join(here, "python/main.py")], { env }),
  "python-kr8s": (env) => run(python(), [path.join(here, "python/kr8s_program.py")], { env }),
  java: (env) => maven("java", env),
  "java-operator": (env) => maven("java-operator", env),
  node: (env) => {
    const project = path.join(folder, "node");
    cpSync(path.join(here, "node"), project, { recursive: true });
    run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: project });
    return run(path.join(project, "node_modules/.bin/node"), ["main.mjs"], { cwd: project, env });
  },
};

const results = new Map();
let failures = 0;
try {
  for (const program of programs) {
    if (ids !== undefined && !ids.includes(program.id)) continue;
    const [command, ...args] = program.tool;
    const found = spawnSync(command, args, { encoding: "utf8" });
    if (found.status !== 0) {
      console.log(`== ${program.clients}: skipped, because ${command} isn't installed`);
      continue;
    }
    console.log(
      `== ${program.clients} (${
        stripVTControlCharacters(found.stdout + found.stderr)
          .trim()
          .split("\n", 1)[0]
      })`,
    );
    try {
      const output = await withServer(program.release, commands[program.id]);
      const count = [...output.matchAll(/^ok /gm)].length;
      if (count === 0) throw new Error("it reports no check");
      results.set(program, count === 1 ? "1 check passes" : `${count} checks pass`);
    } catch (error) {
      failures++;
      results.set(program, "fails");
      console.log(`FAILED ${program.clients}: ${error.message}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (update) writePage();
else comparePage();
console.log(`${results.size - failures} programs passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

/** Starts a server with a release, and calls a function with the environment that names its kubeconfig. */
async function withServer(release, call) {
  const data = mkdtempSync(path.join(folder, "data-"));
  const flags = [`--data-dir=${data}`, "--secure-port=0", "--kubernetes", "--log-level=warn"];
  const server = spawn(process.execPath, [plinth, "serve", ...flags, `--release=${release}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await untilServing(server);
    return call({ ...process.env, KUBECONFIG: path.join(data, "admin.kubeconfig") });
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, "exit");
  }
}

/** Waits for the line with the address of the server. */
async function untilServing(server) {
  let text = "";
  for await (const part of server.stdout) {
    text += String(part);
    if (text.includes("https:")) return;
  }
  throw new Error("the server ended before it served");
}

/** Returns the interpreter of an environment with the required packages. */
function python() {
  const environment = path.join(folder, "venv");
  const interpreter = path.join(environment, "bin/python");
  if (spawnSync(interpreter, ["--version"]).status === 0) return interpreter;
  run("python3", ["-m", "venv", environment]);
  run(interpreter, ["-m", "pip", "install", "--quiet", "-r", path.join(here, "python/requirements.txt")]);
  return interpreter;
}

/** Runs the class Main of a Maven project; its compiled classes stay out of the sources. */
function maven(name, env) {
  const project = path.join(folder, name);
  mkdirSync(project, { recursive: true });
  cpSync(path.join(here, name), project, { recursive: true });
  return run("mvn", ["--quiet", "compile", "exec:java", "-Dexec.mainClass=Main"], {
    cwd: project,
    env,
  });
}

/** Runs a command and shows its output. Returns what it wrote to standard output. */
function run(command, args, options = {}) {
  const { status, stdout, error } = spawnSync(command, args, {
    stdio: ["inherit", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (error !== undefined) throw error;
  const text = stripVTControlCharacters(stdout);
  process.stdout.write(text);
  if (status !== 0) throw new Error(`${command} exited with ${status}`);
  return text;
}

/** Writes the results of this run to the page; rows of other programs keep theirs. */
function writePage() {
  const text = readFileSync(page, "utf8");
  const old = rowsOf(text);
  const rows = programs.map((program) =>
    rowOf(program, results.get(program) ?? old.get(program.clients)?.at(-1) ?? "not run"),
  );
  const head = ["| client | release | what the program does | result |", "| --- | --- | --- | --- |"];
  const [before] = text.split(/^\|/m, 1);
  writeFileSync(page, [before.trimEnd(), "", ...head, ...rows, ""].join("\n"));
  spawnSync("npx", ["prettier", "--write", page], { cwd: root, stdio: "ignore" });
}

function comparePage() {
  const rows = rowsOf(readFileSync(page, "utf8"));
  for (const [program, result] of results) {
    const listed = rows.get(program.clients)?.at(-1);
    if (listed === result || result === "fails") continue;
    failures++;
    console.log(
      `FAILED docs/clients.md: ${program.clients} has ${listed ?? "no row"}, not ${result}; run with --update`,
    );
  }
}
