import { fullName, pathOf, type ResourceType } from "./resource-types.ts";
import { shellWord } from "./why-command.ts";

/** Returns the command that reads an object with kubectl. @param server URL of a workspace; empty for the server itself. */
export function kubectlCommand(type: ResourceType, namespace: string, name: string, server = ""): string {
  const words = [
    "kubectl",
    "get",
    fullName(type),
    name,
    ...(namespace === "" ? [] : [`--namespace=${namespace}`]),
    ...(server === "" ? [] : [`--server=${server}`]),
  ];
  return [...words, "--output=yaml"].map(shellWord).join(" ");
}

/** Returns the command that reads an object with curl. The token isn't part of it. */
export function curlCommand(server: string, type: ResourceType, namespace: string, name: string): string {
  const url = shellWord(`${server}${pathOf(type, namespace, name)}`);
  return `curl --cacert ca.crt --header "Authorization: Bearer $TOKEN" ${url}`;
}
