/** The command that starts a program. */
export interface ProgramCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}
