// Checks the titles of new commits against the rule in CONTRIBUTING.md.
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

/** Commits up to this one are not checked: they were made before the rule. */
const baseCommit = "7fb5d6e70682aeae4d069edd38b1c189834b85f9";

const maxTitleLength = 72;

/** Verbs whose base form ends like a participle. */
const verbsLikeParticiples = new Set(["bring", "embed", "exceed", "feed", "need", "ping", "proceed", "seed"]);

/**
 * Checks one commit message.
 *
 * @param {string} message the whole message: title, and body behind an empty line
 * @returns {string | undefined} what is wrong with it; undefined if it follows the rule
 */
export function messageProblem(message) {
  const [title = "", second = ""] = message.split("\n");
  if (title.length > maxTitleLength) return `the title has ${title.length} characters, of ${maxTitleLength}`;
  const verb = /^[a-z0-9][a-z0-9 .,/_-]*: (\S+) \S/.exec(title)?.[1];
  if (verb === undefined) return "the title does not have the form `area: verb …`";
  if (!/^[a-z]+(-[a-z]+)*$/.test(verb))
    return `the title needs a verb in lower case behind the colon, not "${verb}"`;
  if (/^(a|an|the)$/.test(verb) || (/(ed|ing)$/.test(verb) && !verbsLikeParticiples.has(verb))) {
    return `the title needs a verb in the imperative behind the colon, not "${verb}"`;
  }
  if (title.endsWith(".")) return "the title ends with a period";
  if (second !== "") return "the line behind the title is not empty";
  return undefined;
}

/** Runs git; the output, or undefined if git is missing or fails. */
function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : undefined;
}

/** Checks the commits after the base commit, without merges, and prints the wrong ones; the exit code. */
function checkHistory() {
  if (git("cat-file", "-e", `${baseCommit}^{commit}`) === undefined) {
    console.log(
      `commit titles not checked: no git history, or it lacks ${baseCommit.slice(0, 10)} (shallow clone)`,
    );
    return 0;
  }
  const log = git("log", "--no-merges", "-z", "--format=%h %B", `${baseCommit}..HEAD`);
  if (log === undefined) throw new Error("git log failed");
  const commits = log.split("\0").filter((entry) => entry !== "");
  let problems = 0;
  for (const entry of commits) {
    const space = entry.indexOf(" ");
    const message = entry.slice(space + 1);
    const problem = messageProblem(message);
    if (problem === undefined) continue;
    problems++;
    console.error(`${entry.slice(0, space)} ${message.split("\n", 1)[0]}\n  ${problem}; see CONTRIBUTING.md`);
  }
  console.log(`${commits.length} commit messages checked, ${problems} wrong`);
  return problems === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = checkHistory();
