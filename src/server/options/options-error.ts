/** Options that can't be used; the message names the option, the value and what is wrong. */
export class OptionsError extends Error {
  override name = "OptionsError";
}
