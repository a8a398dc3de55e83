import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { administratorFile } from "./administrator-file.ts";
import { defaultDataDir } from "./data-folder.ts";
import { shellWord } from "./shell.ts";
import { columns, paint } from "./terminal.ts";

/** What a started server prints on standard output. */
export interface StartFacts {
  readonly url: string;
  readonly vocabulary: Vocabulary;
  /** File of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The words with which the user runs this program. */
  readonly program: string;
}

/** Returns the message of a started server: address, kubeconfig, vocabulary, and commands to try. */
export function startMessage(
  { url, vocabulary, kubeconfig, program }: StartFacts,
  isColored: boolean,
): string {
  const strong = (text: string) => paint(text, "bold", isColored);
  // The commands find the kubeconfig of a server in this folder.
  const access =
    kubeconfig === administratorFile(defaultDataDir) ? "" : ` --kubeconfig=${shellWord(kubeconfig)}`;
  const worksWithKubectl = vocabulary.clientSideApply !== undefined;
  const kubectl = worksWithKubectl
    ? `kubectl: export KUBECONFIG=${shellWord(kubeconfig)}`
    : `kubectl needs Kubernetes names: ${program} serve --kubernetes --data-dir=.plinth-kubernetes`;
  const next: (readonly [string, string])[] = [
    worksWithKubectl
      ? ["kubectl get namespaces", "lists objects"]
      : [`${program} auth who-can get secrets${access}`, "explains who is allowed an action"],
    [`${program} demo${access}`, "loads an example organisation"],
    [`${program} help`, "lists all commands"],
  ];
  const heading = [
    `plinth serves ${vocabulary.name} names at ${strong(url)}`,
    `administrator: ${strong(kubeconfig)}`,
    kubectl,
    "next:",
  ];
  return `${heading.join("\n")}\n${columns(next, (command) => paint(command, "cyan", isColored))}`;
}
