import type {
  ValidatedObject,
  ValidationLocation,
  ValidationProblem,
  ValidationReport,
} from "../../../server/validation/problem.ts";

/** What a reporter needs besides the report. */
export interface ReportContext {
  /** Whether the output is colored. */
  readonly color: boolean;
  /** Returns a line of a file; undefined if it can't be read again. */
  readonly lineAt: (location: ValidationLocation) => string | undefined;
  /** Version of the program. */
  readonly version: string;
  readonly durationMs: number;
  /** Requests of clients, which JSON has as the member `requests`. */
  readonly requests?: object;
}

/** Returns the text of a report in one format; it ends with a line break unless it is empty. */
export type Reporter = (report: ValidationReport, context: ReportContext) => string;

/** Returns the name of an object for people: `Deployment web`, or `text` for one that is no manifest. */
export function titleOf({ kind, name, namespace }: ValidatedObject): string {
  if (kind === "") return "document";
  const scope = namespace === "" || namespace === "default" ? "" : ` in ${namespace}`;
  return name === "" ? kind : `${kind} ${name}${scope}`;
}

/** Returns a position as `file:line:column`. */
export function positionText({ file, line, column }: ValidationLocation): string {
  return `${file}:${line}:${column}`;
}

/** Returns the field and message of a problem. */
export function messageOf({ field, message }: ValidationProblem): string {
  return field === "" || message.includes(`"${field}"`) ? message : `${field}: ${message}`;
}

/** Returns the releases of a problem, if it doesn't occur in all: ` [1.28, 1.33]`. */
export function releaseNote({ releases }: ValidationProblem, report: ValidationReport): string {
  return releases.length === report.releases.length ? "" : ` [${releases.join(", ")}]`;
}

/** Numbers of a report. */
export interface Summary {
  readonly objects: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: number;
  readonly warnings: number;
}

/** Counts objects and problems. */
export function summaryOf({ objects }: ValidationReport): Summary {
  const problems = objects.flatMap((one) => one.problems);
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const accepted = objects.filter((one) => one.accepted).length;
  const rejected = objects.length - accepted;
  return { objects: objects.length, accepted, rejected, errors, warnings: problems.length - errors };
}

/** Every problem with its object, in order. */
export function problemsOf({
  objects,
}: ValidationReport): { readonly object: ValidatedObject; readonly problem: ValidationProblem }[] {
  return objects.flatMap((object) => object.problems.map((problem) => ({ object, problem })));
}
