// Runs the programs over client libraries of other languages, unchanged, against a server of this checkout:
//   npm run test:programs
// Each is left out, with the reason, where its language isn't installed; its libraries are fetched by its own package manager.
// CI runs without them.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../../..");
const folder = mkdtempSync(path.join(tmpdir(), "plinth-programs-"));

const flags = [
  `--data-dir=${path.join(folder, "data")}`,
  "--secure-port=0",
  "--vocabulary=kubernetes",
  "--log-level=warn",
];
const server = spawn(process.execPath, [path.join(root, "dist/plinth.js"), "serve", ...flags], {
  stdio: ["ignore", "pipe", "inherit"],
});

let failures = 0;
try {
  await untilServing();
  const env = { ...process.env, KUBECONFIG: path.join(folder, "data/admin.kubeconfig") };
  program("Go", ["go", "version"], () => run("go", ["run", "."], { cwd: path.join(here, "go"), env }));
  program("Go with envtest", ["go", "version"], () => {
    const assets = path.join(folder, "assets");
    run(process.execPath, [path.join(root, "dist/plinth.js"), "envtest", `--install=${assets}`]);
    const envtest = { ...process.env, KUBEBUILDER_ASSETS: assets };
    run("go", ["run", "./envtest"], { cwd: path.join(here, "go"), env: envtest });
  });
  program("Python", ["python3", "--version"], () => {
    const python = path.join(folder, "venv/bin/python");
    const source = path.join(here, "python");
    run("python3", ["-m", "venv", path.join(folder, "venv")]);
    run(python, ["-m", "pip", "install", "--quiet", "-r", path.join(source, "requirements.txt")]);
    run(python, [path.join(source, "main.py")], { env });
  });
  program("Java", ["mvn", "--version"], () => {
    // What is compiled stays out of the sources.
    const project = path.join(folder, "java");
    cpSync(path.join(here, "java"), project, { recursive: true });
    run("mvn", ["--quiet", "compile", "exec:java", "-Dexec.mainClass=Main"], { cwd: project, env });
  });
} finally {
  server.kill();
  if (server.exitCode === null) await once(server, "exit");
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Waits for the line that says where the server serves. */
async function untilServing() {
  let text = "";
  for await (const part of server.stdout) {
    text += String(part);
    if (text.includes("https:")) break;
  }
  if (!text.includes("https:")) throw new Error("the server ended before it served");
}

function program(language, versionCommand, work) {
  const [command, ...args] = versionCommand;
  const found = spawnSync(command, args, { encoding: "utf8" });
  if (found.status !== 0) {
    console.log(`== ${language}: left out, as there is no ${command}`);
    return;
  }
  console.log(`== ${language}: ${(found.stdout + found.stderr).trim()}`);
  try {
    work();
  } catch (error) {
    failures++;
    console.log(`FAILED ${language}: ${error.message}`);
  }
}

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: "inherit", ...options });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}
