import { backupCommand, restoreCommand } from "./backup.ts";
import type { Command } from "./command.ts";
import { serveCommand } from "./serve.ts";
import { versionCommand } from "./version.ts";

/** Every command of the program. */
export const commands: readonly Command[] = [serveCommand, backupCommand, restoreCommand, versionCommand];
