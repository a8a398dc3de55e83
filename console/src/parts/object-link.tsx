import { apiVersionOf, type ResourceType } from "../model/resource-types.ts";
import { formatRoute } from "../model/routes.ts";

interface ObjectLinkProps {
  readonly type: ResourceType;
  /** Empty for objects of the cluster. */
  readonly namespace: string;
  readonly name: string;
  /** Shown instead of kind and name. */
  readonly text?: string;
}

/** A link to an object. */
export function ObjectLink({ type, namespace, name, text }: ObjectLinkProps) {
  const { group, name: resource } = type;
  const to = formatRoute({ view: "object", group, resource, namespace, name, tab: "overview" });
  return (
    <a
      href={to}
      title={`${type.kind} ${namespace === "" ? "" : `${namespace}/`}${name}, ${apiVersionOf(type)}`}
    >
      {text ?? `${type.kind} ${name}`}
    </a>
  );
}
