import { referenceRelease } from "../vocabulary/vocabulary.ts";
import type { Command } from "./command.ts";
import { productVersion } from "./product-version.ts";

export const versionCommand: Command = {
  flags: [],
  help: () => "Prints the version and its API release.\n\nUsage: plinth version\n",
  run() {
    const { major, minor } = referenceRelease;
    process.stdout.write(
      `plinth ${productVersion}, API release ${major}.${minor}, node ${process.version}\n`,
    );
    return Promise.resolve(0);
  },
};
