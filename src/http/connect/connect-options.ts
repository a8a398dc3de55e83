import { objectAs } from "../../schema/api-object.ts";
import type { Target } from "../../resources/engine/engine.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { isTrue, type ResourceFacts } from "../request/facts.ts";

/**
 * Returns the options of a connection as an object (`PodExecOptions`, …), for admission. Each connection parses and
 * validates its options itself.
 */
export function connectOptions({ resource, subresource }: Target, facts: ResourceFacts): ApiObject {
  const declared = resource.kind.subresources[subresource];
  const kind = declared?.shape === "connect" ? declared.optionsKind : "";
  const options = { apiVersion: resource.apiVersion, kind, ...members(subresource, facts) };
  return objectAs<ApiObject>(options);
}

function members(subresource: string, { query, rest }: ResourceFacts): object {
  switch (subresource) {
    case "proxy":
      return rest === "" ? {} : { path: rest };
    case "portforward": {
      const ports = query.all("ports").flatMap((text) => text.split(","));
      return ports.length === 0 ? {} : { ports: ports.map(Number) };
    }
    case "attach":
    case "exec":
      return streamMembers(subresource, { query });
    default:
      return {};
  }
}

const flags = ["stdin", "stdout", "stderr", "tty"];

function streamMembers(subresource: "attach" | "exec", { query }: Pick<ResourceFacts, "query">): object {
  const set = flags.filter((name) => isTrue(query.get(name))).map((name) => [name, true] as const);
  const container = query.get("container") ?? "";
  return {
    ...Object.fromEntries(set),
    ...(container === "" ? {} : { container }),
    ...(subresource === "exec" ? { command: query.all("command") } : {}),
  };
}
