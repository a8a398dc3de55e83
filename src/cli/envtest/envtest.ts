import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { defaultRelease, releases, type Release } from "../../base/releases.ts";
import { OptionsError } from "../../server/options/options-error.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { productVersion } from "../product-version.ts";
import { writeAssets, type Programs } from "./assets.ts";

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
