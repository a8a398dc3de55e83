import path from "node:path";

/**
 * Returns the words with which the user ran this program, for commands to try: `npx plinth`, `plinth`, or `node` and the file in a
 * checkout.
 *
 * @param file the file that Node runs, `process.argv[1]`
 */
export function invokedAs(
  { npm_command: npmCommand }: NodeJS.ProcessEnv = process.env,
  file = process.argv[1] ?? "plinth",
): string {
  if (path.basename(file) === "plinth") return npmCommand === "exec" ? "npx plinth" : "plinth";
  const relative = path.relative(process.cwd(), file);
  return `node ${relative.startsWith("..") ? file : relative}`;
}
