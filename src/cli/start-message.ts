import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { paint, usesColor } from "./terminal.ts";

/** What a started server tells on standard output. */
export interface StartFacts {
  readonly url: string;
  readonly vocabulary: Vocabulary;
  /** File of the administrator's kubeconfig. */
  readonly kubeconfig: string;
}

/** Returns the message of a started server: address, kubeconfig, vocabulary, and commands to try. */
export function startMessage(
  { url, vocabulary, kubeconfig }: StartFacts,
  isColored = process.stdout.isTTY && usesColor(process.env),
): string {
  const strong = (text: string) => paint(text, "bold", isColored);
  const worksWithKubectl = vocabulary.clientSideApply !== undefined;
  const kubectl = worksWithKubectl
    ? `kubectl: export KUBECONFIG=${shellWord(kubeconfig)}`
    : "kubectl needs Kubernetes names: plinth serve --kubernetes --data-dir=.plinth-kubernetes";
  const next = [
    worksWithKubectl
      ? ["kubectl get namespaces", "lists objects"]
      : ["plinth auth who-can get secrets", "explains who is allowed an action"],
    ["plinth demo", "loads an example organisation"],
    ["plinth help", "lists all commands"],
  ] as const;
  return [
    `plinth serves ${vocabulary.name} names at ${strong(url)}`,
    `administrator: ${strong(kubeconfig)}`,
    kubectl,
    "next:",
    ...next.map(([command, effect]) => `  ${paint(command.padEnd(33), "cyan", isColored)}${effect}`),
    "",
  ].join("\n");
}

/** Quotes a text for a shell if it needs that. */
function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
