import { effort } from "../support/effort.ts";
import type { Held } from "./comparison.ts";
import { asked, lives, type Corpus } from "./corpora.ts";
import { suiteOf } from "./suite.ts";

/** Who is known, and to whom, is all that depends on where objects are. */
const heldInWorkspaces: readonly Held[] = [
  {
    because: "tokens of a workspace are for its own audience",
    when: ({ kind, more }) =>
      kind === "tokens" && more.every((line) => line.includes('"https://api/clusters/UID"')),
  },
  {
    because: "users of the server are unknown in a workspace",
    when: ({ kind, step, missing }) =>
      kind === "token reviews" &&
      step.includes("usertoken") &&
      missing.includes("status.authenticated = true"),
  },
];

/** One case in this number, and all of them in the long form of the tests. */
const every = effort(8, 1);

/** The lives of a part of the kinds. */
const someLives: Corpus = {
  ...lives,
  cases: (release) => lives.cases(release).filter((_, index) => index % every === 0),
};
const questions: Corpus = { ...asked, held: (release) => [...heldInWorkspaces, ...asked.held(release)] };

for (const place of ["workspace", "branch"] as const) {
  suiteOf(someLives, "1.26", place);
  suiteOf(questions, "1.26", place);
}
