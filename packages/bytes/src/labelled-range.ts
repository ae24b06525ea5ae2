/** What some bytes of a file are: the structures' own account of their layout. */
export interface LabelledRange {
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
  /** What the bytes are, in the words of the pictures in the source. */
  readonly label: string;
  /** What they say, where that is not the bytes themselves. */
  readonly value?: string;
}
