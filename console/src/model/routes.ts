/** A place in the console. Its text is the fragment of the URL; it never has secrets. */
export type Route =
  | { readonly view: "home" }
  | ListRoute
  | ObjectRoute
  | CreateRoute
  | { readonly view: "access"; readonly tab: string; readonly query: Readonly<Record<string, string>> }
  /** The trash; of one kind (`deployments.apps`), or of all if it is empty. */
  | { readonly view: "trash"; readonly kind: string }
  | { readonly view: "workspaces" }
  | WorkspaceRoute
  | { readonly view: "server" };

/** A workspace, and what its page shows. */
export interface WorkspaceRoute {
  readonly view: "workspace";
  readonly name: string;
  readonly tab: string;
  readonly query: Readonly<Record<string, string>>;
}

export interface CreateRoute {
  readonly view: "create";
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** The name that the form begins with. */
  readonly name?: string;
}

export interface ListRoute {
  readonly view: "list";
  readonly group: string;
  readonly resource: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Text to search in the rows. */
  readonly search: string;
  readonly labels: string;
  readonly fields: string;
  /** Title of the column that the rows are sorted by, after `-` for descending order; empty for the usual order. */
  readonly sort: string;
}

export interface ObjectRoute {
  readonly view: "object";
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly tab: string;
}

/** Returns the route of a fragment, with or without its `#`; the start page for any other text. */
export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#/, "");
  const mark = text.indexOf("?");
  const [view = "", ...rest] = (mark === -1 ? text : text.slice(0, mark))
    .replace(/^\//, "")
    .split("/")
    .map(decoded);
  const query = new URLSearchParams(mark === -1 ? "" : text.slice(mark + 1));
  const parameter = (name: string) => query.get(name) ?? "";
  const [group, resource, ...names] = rest;
  switch (view) {
    case "list":
      if (!resource) break;
      return {
        view,
        group: groupOf(group),
        resource,
        namespace: parameter("namespace"),
        search: parameter("search"),
        labels: parameter("labels"),
        fields: parameter("fields"),
        sort: parameter("sort"),
      };
    case "object": {
      const [namespace = "", name = "", tab = "yaml"] = names;
      if (!resource || name === "") break;
      return {
        view,
        group: groupOf(group),
        resource,
        namespace: namespace === "-" ? "" : namespace,
        name,
        tab,
      };
    }
    case "create":
      if (!resource) break;
      return {
        view,
        group: groupOf(group),
        resource,
        namespace: parameter("namespace"),
        ...(query.has("name") && { name: parameter("name") }),
      };
    case "access":
      return { view, tab: group || "mine", query: Object.fromEntries(query) };
    case "trash":
      return { view, kind: parameter("kind") };
    case "server":
    case "workspaces":
      return { view };
    case "workspace": {
      const [name, tab = "overview"] = rest;
      if (!name) break;
      return { view, name, tab, query: Object.fromEntries(query) };
    }
    default:
  }
  return { view: "home" };
}

/** Returns the fragment of a route, with its `#`. */
export function formatRoute(route: Route): string {
  switch (route.view) {
    case "home":
      return "#/";
    case "server":
    case "workspaces":
      return `#/${route.view}`;
    case "workspace": {
      const { name, tab, query } = route;
      const segment = tab === "overview" ? "" : `/${encodeURIComponent(tab)}`;
      return `#/workspace/${encodeURIComponent(name)}${segment}${queryText(query)}`;
    }
    case "trash":
      return `#/trash${queryText({ kind: route.kind })}`;
    case "access":
      return `#/access/${encodeURIComponent(route.tab)}${queryText(route.query)}`;
    case "list": {
      const { namespace, search, labels, fields, sort } = route;
      return `#/list/${segments(route)}${queryText({ namespace, search, labels, fields, sort })}`;
    }
    case "create":
      return `#/create/${segments(route)}${queryText({ namespace: route.namespace, name: route.name ?? "" })}`;
    case "object": {
      const { namespace, name, tab } = route;
      const names = [namespace === "" ? "-" : namespace, name].map(encodeURIComponent).join("/");
      return `#/object/${segments(route)}/${names}${tab === "yaml" ? "" : `/${encodeURIComponent(tab)}`}`;
    }
  }
}

/** Returns a short title of a place. */
export function placeTitle(route: Route): string {
  switch (route.view) {
    case "object":
      return `${route.name}, ${route.resource}${route.namespace === "" ? "" : ` in ${route.namespace}`}`;
    case "list": {
      const { resource, namespace, search, labels, fields } = route;
      return [resource, namespace === "" ? "" : `in ${namespace}`, search, labels, fields]
        .filter((one) => one !== "")
        .join(" ");
    }
    case "create":
      return `new ${route.resource}`;
    case "access":
      return `access ${route.tab}`;
    default:
      return route.view;
  }
}

/** Returns the list of a resource type. */
export function listRoute(
  { group, name }: { readonly group: string; readonly name: string },
  namespace = "",
  more: Partial<Pick<ListRoute, "search" | "labels" | "fields" | "sort">> = {},
): ListRoute {
  const none = { search: "", labels: "", fields: "", sort: "" };
  return { view: "list", group, resource: name, namespace, ...none, ...more };
}

function segments({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return `${encodeURIComponent(group === "" ? "core" : group)}/${encodeURIComponent(resource)}`;
}

function groupOf(segment: string | undefined): string {
  return segment === undefined || segment === "core" ? "" : segment;
}

function queryText(values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // An incomplete percent-encoding, typed by hand.
    return segment;
  }
}
