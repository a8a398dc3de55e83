import { isRecord } from "./paths.ts";

/** A container of a pod or of a template. */
export interface ContainerRow {
  readonly name: string;
  /** `init`, `ephemeral`, or empty. */
  readonly role: string;
  readonly image: string;
  /** A word such as `Running` or `ImagePullBackOff`; empty for a template. */
  readonly state: string;
  readonly message: string;
  readonly ready: boolean | undefined;
  readonly restarts: number | undefined;
  readonly ports: string;
  readonly resources: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the specification of the pods of an object: its own, or that of its template. */
function podSpecOf(object: Fields): Fields | undefined {
  let spec = recordAt(object, "spec");
  const jobTemplate = recordAt(spec, "jobTemplate");
  if (jobTemplate !== undefined) spec = recordAt(jobTemplate, "spec");
  const template = recordAt(spec, "template");
  if (template !== undefined) spec = recordAt(template, "spec");
  return Array.isArray(spec?.["containers"]) ? spec : undefined;
}

/** Returns the containers of an object, the main ones first. */
export function containersOf(object: Fields): ContainerRow[] {
  const spec = podSpecOf(object);
  if (spec === undefined) return [];
  const status = recordAt(object, "status");
  const isPod = Array.isArray(recordAt(object, "spec")?.["containers"]);
  return [
    ...rows(spec, "containers", "", status, "containerStatuses", isPod),
    ...rows(spec, "initContainers", "init", status, "initContainerStatuses", isPod),
    ...rows(spec, "ephemeralContainers", "ephemeral", status, "ephemeralContainerStatuses", isPod),
  ];
}

function rows(
  spec: Fields,
  field: string,
  role: string,
  status: Fields | undefined,
  statusField: string,
  isPod: boolean,
): ContainerRow[] {
  const statuses = new Map(records(status?.[statusField]).map((one) => [one["name"], one]));
  return records(spec[field]).map((container) => {
    const name = textAt(container, "name");
    const own = statuses.get(name);
    const { state, message } = isPod ? stateOf(own) : { state: "", message: "" };
    const { ready, restartCount } = own ?? {};
    return {
      name,
      role,
      image: textAt(container, "image"),
      state,
      message,
      ready: typeof ready === "boolean" ? ready : undefined,
      restarts: typeof restartCount === "number" ? restartCount : undefined,
      ports: records(container["ports"]).map(portText).join(", "),
      resources: resourcesText(recordAt(container, "resources")),
    };
  });
}

function stateOf(status: Fields | undefined): { readonly state: string; readonly message: string } {
  const state = recordAt(status, "state");
  const waiting = recordAt(state, "waiting");
  if (waiting !== undefined)
    return { state: textAt(waiting, "reason") || "Waiting", message: textAt(waiting, "message") };
  const terminated = recordAt(state, "terminated");
  if (terminated !== undefined) {
    const code = terminated["exitCode"];
    const reason = textAt(terminated, "reason") || (code === 0 ? "Completed" : "Error");
    return {
      state: reason,
      message: [typeof code === "number" ? `exit code ${code}` : "", textAt(terminated, "message")]
        .filter((one) => one !== "")
        .join(", "),
    };
  }
  return { state: recordAt(state, "running") === undefined ? "No state yet" : "Running", message: "" };
}

/** `8080/TCP http` */
export function portText(port: Fields): string {
  const number = port["containerPort"] ?? port["port"];
  const protocol =
    port["protocol"] === undefined || port["protocol"] === "TCP" ? "" : `/${String(port["protocol"])}`;
  return `${String(number)}${protocol}${typeof port["name"] === "string" && port["name"] !== "" ? ` ${port["name"]}` : ""}`;
}

/** `cpu 100m–500m, memory 1Gi` */
function resourcesText(resources: Fields | undefined): string {
  const requests = recordAt(resources, "requests") ?? {};
  const limits = recordAt(resources, "limits") ?? {};
  return [...new Set([...Object.keys(requests), ...Object.keys(limits)])]
    .map((name) => {
      const [low, high] = [requests[name], limits[name]].map((one) => (one === undefined ? "" : String(one)));
      if (low === "") return `${name} up to ${high}`;
      return `${name} ${low === high || high === "" ? low : `${low}–${high}`}`;
    })
    .join(", ");
}

export function recordAt(value: Fields | undefined, name: string): Fields | undefined {
  const member = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  return isRecord(member) ? member : undefined;
}

/** Returns the records of a list; none if it isn't one. */
export function records(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Returns a text; empty if the member is missing or another value. */
export function textAt(value: Fields | undefined, name: string): string {
  const member = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof member === "string" ? member : "";
}
