import type { CommandEntry } from "./command.ts";

/** The commands that the overview and completion show. */
export const commands: readonly CommandEntry[] = [
  {
    name: "serve",
    summary: "Runs the server.",
    serves: true,
    load: async () => (await import("./serve/serve.ts")).serveCommand,
  },
  {
    name: "console",
    summary: "Opens the web console of a running server as its administrator.",
    load: async () => (await import("./console/console.ts")).consoleCommand,
  },
  {
    name: "kubeconfig",
    summary: "Prints a kubeconfig, or adds a context to yours.",
    load: async () => (await import("./kubeconfig/kubeconfig.ts")).kubeconfigCommand,
  },
  {
    name: "ready",
    summary: "Waits until a server is ready; for health checks and scripts.",
    load: async () => (await import("./ready.ts")).readyCommand,
  },
  {
    name: "backup",
    summary: "Copies a data folder while it is being served.",
    load: async () => (await import("./backups/backup.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "Fills an empty data folder from a backup, or brings back an object.",
    load: async () => (await import("./backups/restore.ts")).restoreCommand,
  },
  {
    name: "check",
    summary: "Reads all stored data and reports damage.",
    load: async () => (await import("./store/check.ts")).checkCommand,
  },
  {
    name: "compact",
    summary: "Shrinks the store's file by its unused space.",
    load: async () => (await import("./store/compact.ts")).compactCommand,
  },
  {
    name: "rewrite",
    summary: "Stores objects again that have an older key or version.",
    load: async () => (await import("./store/rewrite.ts")).rewriteCommand,
  },
  {
    name: "convert",
    summary: "Converts manifests of older API versions to the current ones.",
    load: async () => (await import("./convert/command.ts")).convertCommand,
  },
  {
    name: "validate",
    summary: "Judges manifests as an API server would, without a server.",
    load: async () => (await import("./validate/validate.ts")).validateCommand,
  },
  {
    name: "upgrade-check",
    summary: "Lists what an upgrade of the API release changes for manifests or a running server.",
    load: async () => (await import("./upgrade-check/upgrade-check.ts")).upgradeCheckCommand,
  },
  {
    name: "schema",
    summary: "Writes JSON schemas of all kinds for editors.",
    load: async () => (await import("./schema/schema.ts")).schemaCommand,
  },
  {
    name: "apply",
    summary: "Applies manifests to a server in one transaction.",
    load: async () => (await import("./apply/apply.ts")).applyCommand,
  },
  {
    name: "preview",
    summary: "Shows what manifests would do to a server, controllers included.",
    load: async () => (await import("./preview/preview.ts")).previewCommand,
  },
  {
    name: "history",
    summary: "Lists the versions of an object, or prints one.",
    load: async () => (await import("./history/history.ts")).historyCommand,
  },
  {
    name: "diff",
    summary: "Compares two states of an object by field, or a workspace with its base.",
    load: async () => (await import("./history/diff.ts")).diffCommand,
  },
  {
    name: "trash",
    summary: "Lists deleted objects that can be restored.",
    load: async () => (await import("./history/trash.ts")).trashCommand,
  },
  {
    name: "undo",
    summary: "Takes back what a change did, from the kept history.",
    load: async () => (await import("./undo/undo.ts")).undoCommand,
  },
  {
    name: "branch",
    summary: "Creates a workspace that begins with the state of another one.",
    load: async () => (await import("./branches/branch.ts")).branchCommand,
  },
  {
    name: "merge",
    summary: "Merges what a workspace has changed into its base.",
    load: async () => (await import("./branches/merge.ts")).mergeCommand,
  },
  {
    name: "rebase",
    summary: "Moves a workspace to a newer state of its base.",
    load: async () => (await import("./branches/rebase.ts")).rebaseCommand,
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
    name: "demo",
    summary: "Loads an example organisation into a running server.",
    load: async () => (await import("./demo/demo.ts")).demoCommand,
  },
  {
    name: "envtest",
    summary: "Writes an assets folder for envtest, the test environment of Go operators.",
    load: async () => (await import("./envtest/envtest.ts")).envtestCommand,
  },
  {
    name: "completion",
    summary: "Prints a completion script for bash, zsh or fish.",
    load: async () => (await import("./terminal/completion.ts")).completionCommand(commands),
  },
  {
    name: "version",
    summary: "Prints the version and its API release.",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];

/** The commands that the files of `plinth envtest` run. */
export const assetCommands: readonly CommandEntry[] = [
  {
    name: "kube-apiserver",
    summary: "Runs a server for envtest, with objects in memory.",
    serves: true,
    load: async () => (await import("./envtest/kube-apiserver.ts")).kubeApiserverCommand,
  },
  {
    name: "etcd",
    summary: "Answers envtest's health checks of etcd.",
    serves: true,
    load: async () => (await import("./envtest/etcd.ts")).etcdCommand,
  },
];
