/** Counts the turns of the event loop from now on. @returns ends the count and gives it. */
export function countTurns(): () => number {
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    done = true;
    return turns;
  };
}
