/** A kind of value that each process of a server shares with the others; its values are JSON. */
export interface Topic<T> {
  readonly name: string;
  /** Never set; binds the type of the values. */
  readonly value?: T;
}

/** The other processes of a server that has several. */
export interface OtherProcesses {
  /** Sets the function that returns this process's value when another one asks. */
  share<T>(topic: Topic<T>, own: () => T | Promise<T>): void;
  /** Returns the values of the other processes; a process that doesn't answer in time is left out. */
  collect<T>(topic: Topic<T>): Promise<readonly T[]>;
}
