import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runValidate } from "../../../src/cli/validate/validate.ts";
import type { ValidationReport } from "../../../src/server/validation/problem.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Result of a run of `plinth validate`. */
export interface Run {
  readonly code: number;
  /** Standard output, with the folder of the files as `.`. */
  readonly output: string;
  readonly errors: string;
}

/** Files by name. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Runs `plinth validate` in this process on files in a folder of their own, which `$DIR` in the words names. */
export async function validateFiles(
  files: Files,
  words: readonly string[] = ["$DIR"],
  input = "",
): Promise<Run> {
  const folder = temporaryFolder();
  try {
    writeFiles(folder.path, files);
    let output = "";
    let errors = "";
    const code = await runValidate(
      words.map((word) => word.replaceAll("$DIR", folder.path)),
      {},
      {
        readInput: () => Promise.resolve(Buffer.from(input)),
        writeOutput: (text) => (output += text),
        writeError: (text) => (errors += text),
      },
    );
    return { code, output: output.replaceAll(folder.path, "."), errors };
  } finally {
    folder.remove();
  }
}

/** Writes files into a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Validates files and returns the report of `--output=json`. */
export async function reportOf(files: Files, words: readonly string[] = []): Promise<ValidationReport> {
  const { output } = await validateFiles(files, ["$DIR", "--output=json", ...words]);
  return JSON.parse(output) as ValidationReport;
}

/** Returns the problems of a report, one in a line: `file:line:column severity rule field: message`. */
export function problemLines({ objects }: ValidationReport): string[] {
  return objects.flatMap(({ problems }) =>
    problems.map(({ severity, rule, field, message, location }) => {
      const where =
        location === undefined ? "" : `${path.basename(location.file)}:${location.line}:${location.column} `;
      return `${where}${severity} ${rule} ${field}: ${message}`;
    }),
  );
}

/** A Deployment without problems, with lines that tests replace. */
export const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: example.org/web:1
          ports:
            - name: http
              containerPort: 8080
`;

/** A definition of the kind Range in example.com with a rule in CEL. */
export const rangeDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ranges.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { plural: ranges, singular: range, kind: Range }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [max]
              x-kubernetes-validations:
                - rule: self.min <= self.max
                  message: min must not exceed max
              properties:
                min: { type: integer, default: 0 }
                max: { type: integer }
                mode: { type: string, enum: [open, closed] }
`;
