import { Life, type Ask, type Told } from "../life.ts";
import type { Subject } from "../subject.ts";
import { applying } from "./applying.ts";
import { creating } from "./creating.ts";
import { deleting } from "./deleting.ts";
import { parts } from "./parts.ts";
import { patching } from "./patching.ts";
import { reading } from "./reading.ts";
import { replacing } from "./replacing.ts";

/** What happens in a life, in order; each part begins with an object of its own. */
const phases = [creating, reading, replacing, patching, applying, parts, deleting];

/**
 * Follows the life of a subject; tells what each answer said.
 *
 * @param isAsked which of the requests that change nothing are sent.
 */
export async function live(
  subject: Subject,
  ask: Ask,
  isAsked?: (step: string) => boolean,
): Promise<readonly Told[]> {
  const life = new Life(subject, ask, isAsked);
  await life.fresh();
  for (const phase of phases) await phase(life);
  return life.told;
}
