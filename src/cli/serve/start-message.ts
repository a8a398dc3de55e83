import { coversHost } from "../../base/certificates/serving-certificates.ts";
import { apiGroup } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { administratorFile } from "./administrator-file.ts";
import { defaultDataDir } from "./data-folder.ts";
import { shellWord } from "../terminal/shell.ts";
import { columns, paint } from "../terminal/terminal.ts";

/** The address of the console. */
interface ConsoleAddress {
  readonly url: string;
  /** For how many minutes it signs the administrator in, once; undefined: it doesn't. */
  readonly minutes: number | undefined;
}

/** What a started server prints on standard output. */
export interface StartFacts {
  readonly url: string;
  /** URL for other machines; undefined if the server listens on loopback only. */
  readonly publicUrl: string | undefined;
  /** Names and addresses for which the certificate is valid. */
  readonly certificateHosts: readonly string[];
  /** Whether the certificate is the operator's (`--tls-cert-file`). */
  readonly hasOperatorCertificate: boolean;
  readonly vocabulary: Vocabulary;
  readonly console: ConsoleAddress | undefined;
  /** File of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The words with which the user runs this program. */
  readonly program: string;
}

/** Returns the message of a started server: address, kubeconfig, console, vocabulary, and commands to try. */
export function startMessage(facts: StartFacts, isColored: boolean): string {
  const { url, vocabulary, kubeconfig, program } = facts;
  const strong = (text: string) => paint(text, "bold", isColored);
  // The commands find the kubeconfig of a server in this folder.
  const access =
    kubeconfig === administratorFile(defaultDataDir) ? "" : ` --kubeconfig=${shellWord(kubeconfig)}`;
  const worksWithKubectl = vocabulary.clientSideApply !== undefined;
  const next: (readonly [string, string])[] = [
    worksWithKubectl
      ? ["kubectl get namespaces", "lists objects"]
      : [`${program} auth who-can get secrets${access}`, "explains who is allowed an action"],
    [`${program} demo${access}`, "loads an example organisation"],
    [`${program} help`, "lists all commands"],
  ];
  const heading = [
    `plinth serves ${vocabulary.name} names at ${strong(url)}`,
    ...otherMachines(facts),
    `administrator: ${strong(kubeconfig)}`,
    ...consoleLine(facts.console, `${program} console${access}`, strong),
    ...vocabularyLines(vocabulary, program),
    ...(worksWithKubectl ? [`kubectl: export KUBECONFIG=${shellWord(kubeconfig)}`] : []),
    "next:",
  ];
  return `${heading.join("\n")}\n${columns(next, (command) => paint(command, "cyan", isColored))}`;
}

/** Returns the line about the console. @param command opens the console of this server. */
function consoleLine(
  address: ConsoleAddress | undefined,
  command: string,
  strong: (text: string) => string,
): string[] {
  if (address === undefined) return [];
  const { url, minutes } = address;
  const note =
    minutes === undefined ? `${command} signs you in` : `signs you in once, within ${minutes} minutes`;
  return [`console: ${strong(url)} (${note})`];
}

/** Returns a line about the names of this server, and one about those of the other vocabulary, with the command that serves them. */
function vocabularyLines(vocabulary: Vocabulary, program: string): string[] {
  const example = apiGroup(vocabulary.groupSuffix, "rbac.authorization");
  return vocabulary.clientSideApply === undefined
    ? [
        `names: ${vocabulary.name} (${example}), for products with an API of their own`,
        `kubectl, Helm and operators need Kubernetes names: ${program} serve --kubernetes --data-dir=.plinth-kubernetes`,
      ]
    : [
        `names: ${vocabulary.name} (${example}), for kubectl, Helm and operators`,
        `products with an API of their own can have neutral names: ${program} serve --vocabulary=platform --data-dir=.plinth-platform`,
      ];
}

/** Returns a line about access from other machines: the URL, and whether the certificate is valid for it. */
function otherMachines({ publicUrl, certificateHosts, hasOperatorCertificate }: StartFacts): string[] {
  if (publicUrl === undefined) return [];
  const { hostname } = new URL(publicUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const others = certificateHosts.filter((name) => !isLoopbackName(name));
  const names = others.slice(0, maxNames).join(", ") + (others.length > maxNames ? ", …" : "");
  const remedy = hasOperatorCertificate ? "--tls-cert-file names its hosts" : "--tls-san adds names";
  const validity = coversHost(certificateHosts, host)
    ? `certificate for ${names}; ${remedy}`
    : `the certificate isn't valid for ${host}, only for ${names}; ${remedy}`;
  return [`other machines: ${publicUrl} (${validity})`];
}

/** Maximum number of names of the certificate in the message. */
const maxNames = 3;

function isLoopbackName(name: string): boolean {
  return ["localhost", "127.0.0.1", "::1"].includes(name);
}
