import { parseFlags } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";

/** The options of a server that `plinth serve` starts with these flags. */
export async function optionsOfFlags(...words: readonly string[]): Promise<ServerOptions> {
  return (await serveOptions(parseFlags(serveFlags, words), {})).server;
}
