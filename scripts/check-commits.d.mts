/** Checks one commit message; says what is wrong with it, or undefined if it follows the rule. */
export function messageProblem(message: string): string | undefined;
