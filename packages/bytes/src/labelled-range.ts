/** A range of a file's bytes and its meaning, as given by the code that decodes it. */
export interface LabelledRange {
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
  /** What the bytes are, in the terms of the pictures in the source. */
  readonly label: string;
  /** The decoded value, where there is one. */
  readonly value?: string;
}
