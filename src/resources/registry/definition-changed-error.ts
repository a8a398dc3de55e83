/**
 * Ends a watch whose resource type has another definition now. Every change up to the watch's position has been delivered: over HTTP the
 * response is complete, as after its time limit, and the client resumes at its last resource version with the new definition.
 */
export class DefinitionChangedError extends Error {
  override name = "DefinitionChangedError";
}
