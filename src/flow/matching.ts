import type { UserInfo } from "../base/user-info.ts";
import type { PathRule, PolicyRules, ResourceRule, Subject } from "./objects.ts";
import type { FlowRequest, PathRequestFacts, ResourceRequestFacts } from "./request.ts";

/** Whether a subject of the rule matches the user. */
export function meansUser({ subjects }: PolicyRules, user: UserInfo, systemPrefix: string): boolean {
  return (subjects ?? []).some((subject) => isSubject(subject, user, systemPrefix));
}

function isSubject(subject: Subject, { name, groups }: UserInfo, systemPrefix: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.user?.name === "*" || subject.user?.name === name;
    case "Group":
      return isGroup(subject.group?.name, groups);
    case "ServiceAccount": {
      const prefix = `${systemPrefix}serviceaccount:${subject.serviceAccount?.namespace}:`;
      const account = subject.serviceAccount?.name;
      return account === "*" ? name.startsWith(prefix) : name === `${prefix}${account}`;
    }
    default:
      return false;
  }
}

function isGroup(group: string | undefined, groups: readonly string[]): boolean {
  return group === "*" || (group !== undefined && groups.includes(group));
}

/** Whether a rule matches the request, regardless of the user. */
export function meansRequest(
  { resourceRules, nonResourceRules }: PolicyRules,
  request: FlowRequest,
): boolean {
  if (request.kind === "path") {
    return nonResourceRules?.some((rule) => meansPath(rule, request)) ?? false;
  }
  return resourceRules?.some((rule) => meansResource(rule, request)) ?? false;
}

function meansResource(rule: ResourceRule, request: ResourceRequestFacts): boolean {
  const { verb, group, resource, subresource, namespace } = request;
  if (!has(rule.verbs, verb) || !has(rule.apiGroups, group)) return false;
  if (!has(rule.resources, subresource === "" ? resource : `${resource}/${subresource}`)) return false;
  return namespace === "" ? rule.clusterScope === true : has(rule.namespaces, namespace);
}

function meansPath(rule: PathRule, { verb, path }: PathRequestFacts): boolean {
  if (!has(rule.verbs, verb)) return false;
  return (rule.nonResourceURLs ?? []).some((url) =>
    url.endsWith("*") ? path.startsWith(url.slice(0, -1)) : path === url,
  );
}

/** Whether a list contains the value or `*`. */
function has(list: readonly string[] | null | undefined, value: string): boolean {
  return list?.[0] === "*" || (list?.includes(value) ?? false);
}

/** Seats that a request needs. */
export interface Width {
  /** Seats until the response. */
  readonly seats: number;
  /** Seats of the work after the response: notifying watchers. */
  readonly finalSeats: number;
  /** Duration of that work in milliseconds; the client doesn't wait for it. */
  readonly finalMs: number;
}

/** The width of most requests: one seat until the response. */
export const ordinary: Width = { seats: 1, finalSeats: 0, finalMs: 0 };

/** Most seats of a request. */
const mostSeats = 10;
/** Objects of a list that count as one seat. */
const objectsPerSeat = 100;

/** Shared widths, by number of seats. */
const plainWidths: readonly Width[] = Array.from({ length: mostSeats + 1 }, (_, seats) => ({
  ...ordinary,
  seats,
}));

/** Estimates of a list before it is read. */
interface ListFacts {
  /** Number of objects of the resource type; undefined if unknown. */
  readonly stored: number | undefined;
  /** The limit of the request; 0 for none. */
  readonly limit: number;
  /** Whether a selector filters objects, so that the server reads more than it returns. */
  readonly selects: boolean;
}

/** The width of a list: 1 to 10 seats by the number of objects to read. */
export function listWidth({ stored, limit, selects }: ListFacts): Width {
  if (stored === undefined) return ordinary;
  const read = selects || limit === 0 ? stored : Math.min(stored, limit);
  return plainWidths[Math.min(mostSeats, Math.max(1, Math.ceil(read / objectsPerSeat)))]!;
}

/** Watchers of a change that count as one seat; fewer count as none. */
const watchersPerSeat = 10;
/**
 * Duration of the work after the response for one seat's watchers, in milliseconds. The reference assumes 5 ms, as its threads notify
 * watchers after the response. This server writes the frames before it, and ten watchers take about 0.05 ms.
 */
const watchDispatchMs = 0.5;

/**
 * The width of a change that a number of watchers receive: one seat until the response, then up to 10 seats. Above that, the work
 * takes longer instead.
 */
export function changeWidth(watchers: number): Width {
  if (watchers < watchersPerSeat) return ordinary;
  const seats = Math.ceil(watchers / watchersPerSeat);
  const finalSeats = Math.min(mostSeats, seats);
  return { seats: 1, finalSeats, finalMs: (seats * watchDispatchMs) / finalSeats };
}

/** The same work with at most the available seats; the work after the response takes longer instead. */
export function narrowed(width: Width, most: number): Width {
  if (width.seats <= most && width.finalSeats <= most) return width;
  const finalSeats = Math.min(width.finalSeats, most);
  const finalMs = finalSeats === 0 ? 0 : (width.finalMs * width.finalSeats) / finalSeats;
  return { seats: Math.min(width.seats, most), finalSeats, finalMs };
}
