import { fullName } from "./resource-types.ts";

/** An action that `plinth auth why` explains. */
interface ExplainedAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Returns the command by which an administrator explains a decision. Names come from links too, so they are quoted for the shell.
 *
 * @param server URL of a workspace; empty for the server itself.
 */
export function whyCommand(
  user: string,
  action: ExplainedAction,
  groups: readonly string[] = [],
  server = "",
): string {
  const { verb, resource, group, subresource = "", namespace = "", name = "" } = action;
  const type = fullName({ group, name: resource });
  const words = [user, verb, subresource === "" ? type : `${type}/${subresource}`];
  if (name !== "") words.push(name);
  words.push(namespace === "" ? "-A" : `--namespace=${namespace}`);
  // The command adds the groups that all users of the kind have.
  const own = groups.filter(
    (one) => one !== "system:authenticated" && !one.startsWith("system:serviceaccounts"),
  );
  words.push(...own.map((group) => `--group=${group}`));
  if (server !== "") words.push(`--server=${server}`);
  return ["plinth auth why", ...words.map(shellWord)].join(" ");
}

/** Quotes a text for the shell, if it needs that. */
export function shellWord(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
