import { decodeJson } from "../../base/json/decode.ts";
import { isObject, type JsonObject } from "../../base/json/value.ts";
import type { LocalAnswer } from "../library/local-exchange.ts";
import { listAt, textOf } from "./documents.ts";
import type { Finding, ValidationRule } from "./problem.ts";

/** The Status of a rejected request. */
export interface Rejection {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly { readonly field: string; readonly message: string; readonly reason: string }[];
}

/** Returns the rejection in an answer; undefined if the request was accepted. */
export function rejectionOf({ status, body }: LocalAnswer): Rejection | undefined {
  if (status < 400) return undefined;
  const decoded = decodeJson(body).value;
  const answer: JsonObject = isObject(decoded) ? decoded : {};
  const causes = listAt(answer, "details", "causes").map((cause) => {
    const { field, message, reason } = isObject(cause) ? cause : {};
    return { field: fieldOf(textOf(field)), message: textOf(message), reason: textOf(reason) };
  });
  return { code: status, reason: textOf(answer["reason"]), message: textOf(answer["message"]), causes };
}

/** Returns the path of a cause; empty if the server names none. */
function fieldOf(field: string): string {
  return field === "<nil>" ? "" : field;
}

/** Finds `unknown field "a.b"` and `duplicate field "a.b"` in a message of strict decoding. */
const strictFault = /(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the problems in a message of decoding: the unknown and repeated fields, or the value of a wrong type.
 *
 * @param kind name of the kind, with which the server begins the message.
 */
export function decodingFindings(message: string, kind: string): Finding[] {
  const error = { severity: "error", rule: "schema" } as const;
  const strict = message.indexOf("strict decoding error: ");
  if (strict !== -1) {
    return [...message.slice(strict).matchAll(strictFault)].map(([text, field = ""]) => {
      const path = field.replaceAll(/\\(.)/g, "$1");
      return { ...error, field: path, message: text };
    });
  }
  const marker = `cannot be handled as a ${kind}: `;
  const at = message.indexOf(marker);
  const problem = at === -1 ? message : message.slice(at + marker.length);
  const [, field] = /^([a-zA-Z][^\s:]*): /.exec(problem) ?? [];
  return [
    {
      ...error,
      field: field ?? "",
      message: field === undefined ? problem : problem.slice(field.length + 2),
    },
  ];
}

/** Texts by which admission plugins begin their reasons, behind `… is forbidden: `. */
const plugins: readonly (readonly [ValidationRule, RegExp])[] = [
  ["pod-security", /^violates PodSecurity "/],
  ["quota", /^(?:exceeded quota|failed quota|insufficient quota|status unknown for quota): /],
  ["policy", /^(?:ValidatingAdmissionPolicy|policy) ['"]/],
  ["limit-range", /^\[?(?:maximum|minimum|[a-z-]+ max limit to request ratio) /],
];

/** An address of a Service that this server can't give: other clusters have other ranges, and other addresses in use. */
const unavailableAddress = /: failed to allocate IP /;

const skippedRules = "some validation rules were not checked because the object was invalid";

/** Returns the problems of a rejection by a rule or plugin. @param isCustom whether the kind has a definition. */
export function rejectionFindings(rejection: Rejection, isCustom: boolean): Finding[] {
  const { code, message, causes } = rejection;
  const reason = reasonIn(message);
  const plugin = plugins.find(([, pattern]) => pattern.test(reason))?.[0];
  if (plugin !== undefined) return [{ severity: "error", rule: plugin, field: "", message: reason }];
  const rule = code === 422 ? (isCustom ? "schema" : "validation") : "admission";
  if (causes.length === 0) return [{ severity: "error", rule, field: "", message: reason }];
  // The rules that the server leaves out, as the object has other errors, are no error of their own.
  const own = causes.filter(({ message: text }) => !text.includes(skippedRules));
  return (own.length === 0 ? causes : own).map((cause) => ({
    severity: unavailableAddress.test(cause.message) ? "warning" : "error",
    rule,
    field: cause.field,
    message: cause.message,
  }));
}

/** Returns the reason of a message `pods "x" is forbidden: …`; other messages are returned as they are. */
function reasonIn(message: string): string {
  const marker = " is forbidden: ";
  const at = message.indexOf(marker);
  return at === -1 ? message : message.slice(at + marker.length);
}

/** Own warning about kinds of controllers that a server of the API alone doesn't have. */
const unenforced = "this server stores the object and does not enforce it: ";

/** Returns the problems that a server reports as warnings. */
export function warningFindings(warnings: readonly string[]): Finding[] {
  return warnings
    .filter((text) => !text.startsWith(unenforced))
    .map((message) => ({
      severity: "warning",
      rule: ruleOfWarning(message),
      field: fieldIn(message),
      message,
    }));
}

function ruleOfWarning(message: string): ValidationRule {
  if (message.startsWith("would violate PodSecurity")) return "pod-security";
  if (message.startsWith("Validation failed for ValidatingAdmissionPolicy")) return "policy";
  return /\bdeprecated\b/.test(message) ? "deprecation" : "warning";
}

/** Returns the path with which a message begins; empty for none. */
function fieldIn(message: string): string {
  return /^((?:spec|metadata|data|webhooks|rules|template)\b[^\s:]*): /.exec(message)?.[1] ?? "";
}

/** Returns the name of the policy or quota in a message. */
export function sourceName({ rule, message }: Finding): string | undefined {
  if (rule === "policy") return /[Pp]olicy ['"]([^'"]+)['"]/.exec(message)?.[1];
  if (rule === "quota") return /quota: ([^,: ]+)/.exec(message)?.[1];
  return undefined;
}
