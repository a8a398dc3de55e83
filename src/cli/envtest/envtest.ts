import { createHash } from "node:crypto";
import {
  realpathSync,
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { defaultRelease, releases, type Release } from "../../base/releases.ts";
import { OptionsError } from "../../server/options/options-error.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { productVersion } from "../product-version.ts";
import { makeFolder } from "../../base/files/folders.ts";
import { shellQuoted } from "../terminal/shell.ts";
import { etcdCommand } from "./etcd.ts";
import { kubeApiserverHelp } from "./kube-apiserver.ts";

/** The second line of every file, by which files of this command are recognized. */
const mark = "# Written by plinth envtest, which overwrites it.";

/**
 * Returns a script that runs a command of this program with the same Node. The script itself answers `--help`, because envtest
 * asks both programs at each start.
 */
function commandScript(command: string, help: string, { node, program }: Programs): string {
  return `#!/bin/sh
${mark}
for word do
  if [ "$word" = --help ] || [ "$word" = -h ]; then
    cat <<'END OF HELP'
${help.trimEnd()}
END OF HELP
    exit 0
  fi
done
exec ${shellQuoted(node)} ${shellQuoted(program)} ${command} "$@"
`;
}

const kubectlScript = `#!/bin/sh
${mark}
# Runs the first kubectl of PATH that isn't such a script.
set -f
IFS=:
for folder in $PATH; do
  file="\${folder:-.}/kubectl"
  if [ -f "$file" ] && [ -x "$file" ]; then
    second=
    { read -r first && read -r second; } <"$file"
    if [ "$second" != ${shellQuoted(mark)} ]; then
      unset IFS
      exec "$file" "$@"
    fi
  fi
done
echo "kubectl: there is no kubectl in PATH; install it, plinth doesn't include it" >&2
exit 127
`;

/** Absolute paths of the programs that the scripts run. */
interface Programs {
  readonly node: string;
  /** The file of `plinth`. */
  readonly program: string;
}

/**
 * Writes the programs that envtest looks for in a folder. Files that are up to date aren't touched, and others are replaced
 * atomically, so that several processes can write the same folder while programs of it start.
 *
 * @param release the API release of the server, unless the suite chooses another with `--release`.
 * @throws {OptionsError} if the folder can't be written or has such a file of another origin.
 */
function writeAssets(folder: string, programs: Programs, release: Release): void {
  // Flags of the suite come later and override the release.
  const command = release === defaultRelease ? "kube-apiserver" : `kube-apiserver --release=${release}`;
  const files = new Map([
    ["kube-apiserver", commandScript(command, kubeApiserverHelp(release), programs)],
    ["etcd", commandScript("etcd", etcdCommand.help(), programs)],
    ["kubectl", kubectlScript],
  ]);
  try {
    makeFolder(folder);
    const foreign = [...files.keys()].find((name) => isForeign(path.join(folder, name)));
    if (foreign !== undefined) {
      throw new OptionsError(
        `${path.join(folder, foreign)} was not written by plinth envtest; remove it or choose another folder with --install`,
      );
    }
    for (const [name, text] of files) writeProgram(path.join(folder, name), text);
  } catch (error) {
    if (error instanceof OptionsError) throw error;
    const { message } = error as Error;
    throw new OptionsError(`${folder} can't be written: ${message}; choose another folder with --install`, {
      cause: error,
    });
  }
}

/** Whether the file exists and isn't one of this command. */
function isForeign(file: string): boolean {
  const start = startOf(file);
  return start !== undefined && start.split("\n")[1] !== mark;
}

/** Returns the first bytes of a file; undefined if it doesn't exist. A real kube-apiserver is too large to read as a whole. */
function startOf(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(200);
    return bytes.toString("latin1", 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

function writeProgram(file: string, text: string): void {
  if (startOf(file) !== undefined && readFileSync(file, "utf8") === text) {
    chmodSync(file, 0o755);
    return;
  }
  const fresh = `${file}.${process.pid}.new`;
  try {
    writeFileSync(fresh, text, { mode: 0o755 });
    chmodSync(fresh, 0o755);
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

const flags: readonly Flag[] = [
  {
    name: "install",
    type: "string",
    default: "",
    doc: "Folder to write; it is created if it is missing. Default: one for each version and release in the user's cache folder.",
  },
  {
    name: "release",
    type: "string",
    default: defaultRelease,
    doc: `API release of the kube-apiserver: ${releases[0]} to ${releases.at(-1)}.`,
  },
];

const about = `Writes a folder with the programs that envtest starts (kube-apiserver, etcd, kubectl), and prints its path.

  export KUBEBUILDER_ASSETS=$(npx plinth envtest)`;

/** Writes an assets folder for controller-runtime's envtest. */
export const envtestCommand: Command = {
  flags,
  help: () => helpText("plinth envtest [--release=RELEASE] [--install=DIR]", about, flags),
  run(words) {
    const values = parseFlags(flags, words);
    const reader = new FlagReader(flags, values);
    const [install, release] = [reader.optional("install"), reader.choice("release", releases)];
    if (values.has("install") && install === undefined)
      throw new OptionsError("--install needs the path of a folder");
    if (process.platform === "win32")
      throw new OptionsError("plinth envtest writes shell scripts, which envtest can't start on Windows");
    const programs = { node: process.execPath, program: realpathSync(process.argv[1]!) };
    const folder = install === undefined ? cachedFolder(programs, release) : path.resolve(install);
    writeAssets(folder, programs, release);
    process.stdout.write(`${folder}\n`);
    return Promise.resolve(0);
  },
};

/** Returns the folder for these programs, so that installations and releases don't overwrite each other's files. */
function cachedFolder({ node, program }: Programs, release: Release): string {
  const digest = createHash("sha256").update(`${node}\n${program}`).digest("hex").slice(0, 8);
  const suffix = release === defaultRelease ? "" : `-${release}`;
  return path.join(userCache(), "plinth", "envtest", `${productVersion}-${digest}${suffix}`);
}

function userCache(): string {
  const { XDG_CACHE_HOME: cache } = process.env;
  if (cache !== undefined && path.isAbsolute(cache)) return cache;
  return path.join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}
