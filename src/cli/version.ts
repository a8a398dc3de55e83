import { releases } from "../base/releases.ts";
import type { Command } from "./command.ts";
import { productVersion } from "./product-version.ts";

export const versionCommand: Command = {
  flags: [],
  help: () => "Prints the version and its API release.\n\nUsage: plinth version\n",
  run() {
    process.stdout.write(
      `plinth ${productVersion}, API releases ${releases[0]} to ${releases.at(-1)}, node ${process.version}\n`,
    );
    return Promise.resolve(0);
  },
};
