import type { CommandEntry } from "./command.ts";

/** Every command of the program. */
export const commands: readonly CommandEntry[] = [
  { name: "serve", summary: "Runs the server.", load: async () => (await import("./serve.ts")).serveCommand },
  {
    name: "backup",
    summary: "Copies a data folder while it is being served.",
    load: async () => (await import("./backup.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "Fills an empty data folder from a backup.",
    load: async () => (await import("./backup.ts")).restoreCommand,
  },
  {
    name: "check",
    summary: "Reads everything that is stored and says what is damaged.",
    load: async () => (await import("./check.ts")).checkCommand,
  },
  {
    name: "compact",
    summary: "Gives room that isn't in use back to the disk.",
    load: async () => (await import("./compact.ts")).compactCommand,
  },
  {
    name: "convert",
    summary: "Writes manifests of older API versions in the current ones.",
    load: async () => (await import("./convert/command.ts")).convertCommand,
  },
  {
    name: "types",
    summary: "Writes TypeScript types of custom kinds from their definitions.",
    load: async () => (await import("./types/types.ts")).typesCommand,
  },
  {
    name: "auth",
    summary: "Explains who may do what on a server, and why.",
    load: async () => (await import("./auth/auth.ts")).authCommand,
  },
  {
    name: "completion",
    summary: "Prints a completion script for bash, zsh or fish.",
    load: async () => (await import("./completion.ts")).completionCommand(commands),
  },
  {
    name: "version",
    summary: "Says which version this is, and of which API release.",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];
