import { fullName, pathOf, type ResourceType } from "./resource-types.ts";
import { shellWord } from "./why-command.ts";

/** Returns the command that reads an object with kubectl. */
export function kubectlCommand(type: ResourceType, namespace: string, name: string): string {
  const words = [
    "kubectl",
    "get",
    fullName(type),
    name,
    ...(namespace === "" ? [] : [`--namespace=${namespace}`]),
  ];
  return [...words, "--output=yaml"].map(shellWord).join(" ");
}

/** Returns the command that reads an object with curl. The token isn't part of it. */
export function curlCommand(origin: string, type: ResourceType, namespace: string, name: string): string {
  const url = shellWord(`${origin}${pathOf(type, namespace, name)}`);
  return `curl --cacert ca.crt --header "Authorization: Bearer $TOKEN" ${url}`;
}
