import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { defaultRelease, gitVersionOf, releases, type Release } from "../../base/releases.ts";
import { acceptedFlags, acceptFlags } from "../flags/accepted-flags.ts";
import { helpText, type Command } from "../command.ts";
import { FlagReader, parseFlags, type FlagValues } from "../flags/flag-reader.ts";
import { serveFlags } from "../flags/flags.ts";
import { serveOptions } from "../serve/serve-options.ts";
import { startServerProcess } from "../serve/server-process.ts";
import { parentEnd, stopSignal } from "../serve/stop.ts";

/** Flags of `plinth serve` whose values this command chooses. */
const chosen: ReadonlySet<string> = new Set([
  "config",
  "data-dir",
  "kubernetes",
  "vocabulary",
  "write-kubeconfig",
]);
const isOfStorage = (name: string) => name === "storage-backend" || name.startsWith("etcd-");

/**
 * Controllers that run unless `--controllers` names others: only what a kube-apiserver does without a controller
 * manager. In the reference, etcd removes expired events.
 */
const defaultControllers = "event-expiry";

const flags = [...serveFlags, ...acceptedFlags].filter(({ name }) => !chosen.has(name));
/** envtest gives `--insecure-port` to servers whose help lists it; the reference release doesn't have the flag. */
const helpFlags = flags
  .filter(({ name }) => name !== "insecure-port")
  .map((flag) => {
    if (isOfStorage(flag.name))
      return { ...flag, default: "", doc: "Accepted without effect: objects are kept in memory." };
    return flag.name === "controllers" ? { ...flag, default: defaultControllers } : flag;
  });

const about = `Runs a server for tests with envtest until SIGINT or SIGTERM, or until its parent process ends.

It has the names of Kubernetes, keeps all objects in memory, and runs no controllers of the controller manager unless
--controllers names them. Certificates that no flag names are kept in a temporary folder, which is removed at the end.`;

/** Returns the help text of a program whose default release is `release`. */
export function kubeApiserverHelp(release: Release): string {
  const withRelease = helpFlags.map((flag) =>
    flag.name === "release" ? { ...flag, default: release } : flag,
  );
  return helpText("kube-apiserver [FLAGS]", about, withRelease);
}

/** The program `kube-apiserver` of an assets folder. */
export const kubeApiserverCommand: Command = {
  flags,
  help: () => kubeApiserverHelp(defaultRelease),
  async run(words) {
    if (words.includes("--version")) {
      const others = parseFlags(
        flags,
        words.filter((word) => word !== "--version"),
      );
      const release = new FlagReader(flags, others).choice("release", releases);
      process.stdout.write(`Kubernetes ${gitVersionOf(release)}\n`);
      return 0;
    }
    const values = parseFlags(flags, words);
    const folder = mkdtempSync(path.join(tmpdir(), "plinth-envtest-"));
    try {
      // As the reference, it reads no environment variables.
      const options = await serveOptions(withChosenValues(values, folder), {});
      const { log } = options.server;
      acceptFlags(new FlagReader(flags, values), log);
      const stop = Promise.race([stopSignal(), parentEnd()]);
      const server = await startServerProcess(options);
      await stop;
      log.info({}, "stopping");
      await server.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return 0;
  },
};

function withChosenValues(values: FlagValues, dataDir: string): FlagValues {
  return new Map([
    ["controllers", defaultControllers],
    ...[...values].filter(([name]) => !isOfStorage(name)),
    ["data-dir", dataDir],
    ["vocabulary", "kubernetes"],
    ["storage-backend", "memory"],
  ]);
}
