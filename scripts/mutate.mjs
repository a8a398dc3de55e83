/**
 * `npm run mutate`: changes the code of a folder in many small ways (mutants), runs the folder's tests for each, and lists the mutants that
 * no test detects. The runner (StrykerJS) is large and rarely needed, so it is installed into `scripts/mutation/` by the first run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

const root = path.resolve(import.meta.dirname, "..");
const home = path.join(root, "scripts/mutation");
const report = path.join(root, "node_modules/.plinth-mutants.json");

/** Code that is in several folders of `src/`, under a name of its own. */
const groups = { certificates: ["base/certificates", "controllers/certificates", "server/certificates"] };

/** The tests of each folder of `src/` or group of folders, as glob patterns below `test/`. */
const testsOf = {
  authorization: [
    "authorization/**",
    "api/rbac-*",
    "api/*review*",
    "api/access-*",
    "api/views.test*",
    "api/view-watches*",
    "api/insight*",
    "api/authorization-webhook*",
    "attacks/escalation*",
  ],
  authentication: [
    "authentication/**",
    "console/login*",
    "attacks/token-flood*",
    "server/authentication-flags*",
    "api/authenticating-proxy*",
    "api/bootstrap-tokens*",
    "api/oidc-*",
    "api/token-webhook*",
    "api/service-account-*",
    "api/credentials*",
    "api/trust-anchors*",
    "api/certificate-files*",
  ],
  admission: [
    "admission/**",
    "extensions/admission-*",
    "extensions/failing*",
    "extensions/places*",
    "attacks/webhooks*",
    "api/certificate-requests*",
    "api/privileged*",
  ],
  certificates: [
    "base/certificate-request*",
    "base/key-pair*",
    "base/pem*",
    "base/private-key*",
    "base/subject-name*",
    "controllers/certificate-*",
    "kinds/certificates*",
    "server/certificate*",
    "server/pod-certificates*",
    "server/serving-hosts*",
    "server/shared-authority*",
    "authentication/client-certificate*",
    "api/certificate-*",
    "api/client-certificates*",
    "api/own-certificate*",
  ],
  fields: ["fields/**", "api/apply/**"],
  resources: ["resources/**", "api/*.test.ts", "admission/**"],
  storage: ["storage/**"],
};

/** Lines of which no change of the named mutator can be detected, and why; they don't count. */
const equivalents = [
  {
    file: "src/fields/apply/merge-typed.ts",
    line: '(partsOf(applied, shape, "lenient") ?? []).map(({ element, value }) => [element, value]),',
    mutators: ["ArrayDeclaration", "StringLiteral"],
    because: "the applied items are a list whose keys were read strictly before, so both forms give the same",
  },
  {
    file: "src/admission/webhooks/followed-webhooks.ts",
    line: "if (configurations.length === 0) return none;",
    mutators: ["ConditionalExpression"],
    because: "an index without webhooks matches nothing; the line saves time",
  },
  {
    file: "src/admission/webhooks/followed-webhooks.ts",
    line: "if (configurations !== this.indexed) this.index = this.indexOf(configurations);",
    mutators: ["ConditionalExpression"],
    because: "another index of the same configurations matches the same; the line saves time",
  },
  {
    file: "src/admission/webhooks/reinvocation.ts",
    line: "if (this.upToDate.size > 0) this.output = textOf(request);",
    mutators: ["ConditionalExpression", "EqualityOperator"],
    because: "without webhooks that are up to date a change of the object has no effect; the line saves time",
  },
  {
    file: "src/authentication/service-accounts/keys.ts",
    line: "} catch {",
    mutators: ["BlockStatement"],
    because: "the block returns undefined, as the end of a function does",
  },
  {
    file: "src/authentication/service-accounts/own-signing-keys.ts",
    line: "if (existing !== undefined) return existing;",
    mutators: ["ConditionalExpression"],
    because: "the new key can't replace the existing file, which is then read; the line saves time",
  },
  {
    file: "src/authorization/reviews/bulk.ts",
    line: 'if (attributes.kind !== "resource" || attributes.name !== "") return {};',
    mutators: ["ConditionalExpression"],
    because: "a path has no name, so the second condition holds for it",
  },
  {
    file: "src/controllers/certificates/approving.ts",
    line: 'const { username: name = "", uid = "", groups = [], extra = {} } = spec;',
    mutators: ["ArrayDeclaration", "StringLiteral"],
    because: "the server records the requester when the request is created",
  },
  {
    file: "src/server/certificates/serving.ts",
    line: "if (!(error instanceof SyntaxError)) throw error;",
    mutators: ["ConditionalExpression"],
    because: "JSON.parse throws no other error",
  },
];

const usage = `npm run mutate -- --folder NAME [OPTIONS]

  --folder NAME     ${Object.keys(testsOf).join(", ")}
  --ranges N        number of random ranges of 12 lines that are changed (default 60); 0 for the whole folder
  --seed N          seed of the ranges (default: the number of the week)
  --only TEXT       only files whose path contains the text
  --survivors       only the mutants that the last run of the folder didn't detect, without those of changed lines
  --concurrency N   number of processes that run tests (default 2)
`;

/** Lines of a range. */
const rangeLines = 12;

/** Reads the command line; prints the usage or what is wrong, and returns undefined. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        folder: { type: "string", default: "" },
        ranges: { type: "string", default: "60" },
        seed: { type: "string", default: String(Math.floor(Date.now() / (7 * 24 * 3_600_000))) },
        only: { type: "string", default: "" },
        survivors: { type: "boolean", default: false },
        concurrency: { type: "string", default: "2" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return void process.stdout.write(usage);
    if (!Object.hasOwn(testsOf, values.folder))
      throw new Error(
        `--folder: ${JSON.stringify(values.folder)} is none of ${Object.keys(testsOf).join(", ")}`,
      );
    const { folder, only, survivors } = values;
    return { folder, only, survivors, ...wholeNumbers(values) };
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 1;
  }
}

function wholeNumbers(values) {
  const numbers = ["ranges", "seed", "concurrency"].map((name) => {
    const value = Number(values[name]);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Error(`--${name}: ${JSON.stringify(values[name])} is not a whole number`);
    return [name, value];
  });
  return Object.fromEntries(numbers);
}

/** Returns the files of a folder of `src/` or of a group, relative to the root. */
function sourcesOf(name) {
  return (groups[name] ?? [name])
    .flatMap((folder) =>
      readdirSync(path.join(root, "src", folder), { recursive: true })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => path.posix.join("src", folder, file)),
    )
    .toSorted();
}

/** Returns random ranges of lines, each line with the same probability. */
function randomRanges(files, count, seed) {
  const lines = files.map((file) => readFileSync(path.join(root, file), "utf8").split("\n").length);
  const total = lines.reduce((sum, one) => sum + one, 0);
  let state = seed;
  const ranges = new Set();
  while (ranges.size < Math.min(count, Math.floor(total / rangeLines))) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    let line = Math.floor((state / 2 ** 32) * total);
    const file = lines.findIndex((length) => (line < length ? true : ((line -= length), false)));
    const first = Math.floor(line / rangeLines) * rangeLines + 1;
    ranges.add(`${files[file]}:${first}-${first + rangeLines - 1}`);
  }
  return [...ranges];
}

/** Returns the places of the mutants in some files that the last run didn't detect; those whose line has changed are left out. */
function undetectedPlaces(files) {
  const places = Object.entries(JSON.parse(readFileSync(report, "utf8")).files)
    .filter(([file]) => files.includes(file))
    .flatMap(([file, { source, mutants }]) => {
      const [before, now] = [source, readFileSync(path.join(root, file), "utf8")].map((text) =>
        text.split("\n"),
      );
      return mutants
        .filter(({ status }) => isUndetected(status))
        .map(({ location: { start, end } }) => {
          const moved = linesMoved(before, now, start.line - 1);
          // Columns of reports begin with 1, those of ranges with 0.
          const range = [start, end].map((at) => `${at.line + moved}:${at.column - 1}`);
          return moved === undefined ? undefined : `${file}:${range.join("-")}`;
        });
    });
  const distinct = [...new Set(places.filter((place) => place !== undefined))];
  if (distinct.length === 0)
    throw new Error(`--survivors: ${report} has no undetected mutant of these files`);
  return distinct;
}

/** Returns by how many lines a line has moved; undefined if there is no such line any more. */
function linesMoved(before, now, index) {
  const moves = now.flatMap((line, at) => (line === before[index] ? [at - index] : []));
  return moves.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0];
}

const programStarter = path.join(root, "test/support/process.ts");

/** Whether a test runs the built program, which doesn't have the changed code. */
function runsBuiltProgram(test, seen = new Set()) {
  if (test === programStarter) return true;
  if (seen.has(test)) return false;
  seen.add(test);
  const imports = readFileSync(test, "utf8").matchAll(/from "(\.[^"]+)"/g);
  return [...imports]
    .map(([, name]) => path.resolve(path.dirname(test), name))
    .some((file) => file.startsWith(path.join(root, "test")) && runsBuiltProgram(file, seen));
}

function placesOf(files, { ranges, seed, survivors }) {
  if (survivors) return undetectedPlaces(files);
  return ranges === 0 ? files : randomRanges(files, ranges, seed);
}

function writeConfiguration(options) {
  const { folder, only, concurrency } = options;
  const files = sourcesOf(folder).filter((file) => file.includes(only));
  const tests = readdirSync(path.join(root, "test"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts") && !file.endsWith(".scale.test.ts"))
    .filter((file) => testsOf[folder].some((pattern) => matches(file, pattern)))
    .filter((file) => !runsBuiltProgram(path.join(root, "test", file)));
  writeFileSync(path.join(home, "generated.config.mjs"), vitestConfiguration(tests));
  const configuration = {
    plugins: ["@stryker-mutator/vitest-runner"],
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/generated.config.mjs", related: false },
    mutate: placesOf(files, options),
    ignorePatterns: ["/bench", "/examples", "/release", "/api", "/dist", ".plinth*"],
    ignoreStatic: true,
    coverageAnalysis: "perTest",
    concurrency,
    reporters: ["progress-append-only", "json"],
    jsonReporter: { fileName: report },
    // Not in `node_modules/`, whose TypeScript isn't compiled.
    tempDirName: ".plinth-mutation",
    // The runner would rewrite the file with an interface that the compiler no longer has.
    tsconfigFile: "scripts/mutation/none.json",
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 30,
  };
  const file = path.join(root, "node_modules/.plinth-mutation.json");
  writeFileSync(file, JSON.stringify(configuration, undefined, 2));
  return file;
}

/** Returns the configuration of the tests: as that of `npm test`, with modules that Node loads, but with one process for all runs. */
function vitestConfiguration(tests) {
  const test = {
    include: tests.map((file) => `test/${file}`),
    testTimeout: 20_000,
    isolate: false,
    maxWorkers: 1,
    execArgv: ["--import", "./test/support/native/register.mjs"],
    globalSetup: ["test/support/native/global-setup.mjs"],
    setupFiles: ["scripts/mutation/worker-setup.mjs"],
    experimental: { viteModuleRunner: false, nodeLoader: false },
  };
  return [
    'import { warmPool } from "./warm-pool.mjs";',
    `export default { plugins: [warmPool], test: ${JSON.stringify(test)} };\n`,
  ].join("\n");
}

/** Whether a path matches a pattern with `*` and a final `**`. */
function matches(file, pattern) {
  if (pattern.endsWith("/**")) return file.startsWith(pattern.slice(0, -2));
  const [begin, end = ""] = pattern.split("*").filter((part, index) => index === 0 || part !== "");
  return (
    file.startsWith(begin) && !file.slice(begin.length).includes("/") && file.includes(end, begin.length)
  );
}

/** Whether no test detected a mutant of a status. */
function isUndetected(status) {
  return status === "Survived" || status === "NoCoverage";
}

function equivalentOf(file, code, mutator) {
  return equivalents.find((one) => one.file === file && one.line === code && one.mutators.includes(mutator));
}

/** Prints the mutants that no test detected, and the score. */
function printReport() {
  const { files } = JSON.parse(readFileSync(report, "utf8"));
  const counts = new Map();
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split("\n");
    for (const { status, location, replacement, mutatorName } of mutants) {
      const { line } = location.start;
      const code = lines[line - 1].trim();
      const equivalent = isUndetected(status) ? equivalentOf(file, code, mutatorName) : undefined;
      const counted = equivalent === undefined ? status : "Equivalent";
      counts.set(counted, (counts.get(counted) ?? 0) + 1);
      if (!isUndetected(counted)) continue;
      process.stdout.write(`${file}:${line} ${status} (${mutatorName}): ${code}\n`);
      process.stdout.write(`    becomes ${String(replacement).split("\n").join(" ").slice(0, 160)}\n`);
    }
  }
  const of = (...statuses) => statuses.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0);
  const [detected, undetected] = [of("Killed", "Timeout"), of("Survived", "NoCoverage")];
  const score = ((100 * detected) / Math.max(1, detected + undetected)).toFixed(1);
  process.stdout.write(`${detected} of ${detected + undetected} mutants detected: ${score} %\n`);
  if (of("Equivalent") > 0) process.stdout.write(`${of("Equivalent")} equivalent mutants don't count\n`);
}

const options = readOptions();
if (options !== undefined) {
  const env = { ...process.env, PLINTH_COMPILED: path.join(root, "node_modules/.plinth-compiled-mutants") };
  const run = (command, args, cwd) => spawnSync(command, args, { cwd, env, stdio: "inherit" }).status ?? 1;
  const program = path.join(home, "node_modules/@stryker-mutator/core/bin/stryker.js");
  mkdirSync(path.dirname(report), { recursive: true });
  // The runner uses the project's own vitest, a peer dependency that the lock file leaves out.
  if (!existsSync(program)) run("npm", ["ci", "--legacy-peer-deps", "--no-audit", "--no-fund"], home);
  process.exitCode = run(process.execPath, [program, "run", writeConfiguration(options)], root);
  if (process.exitCode === 0) printReport();
}
