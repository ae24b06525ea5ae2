/** The names of the commands. */
export const COMMAND_NAMES = ['build', 'get', 'scan', 'stat', 'verify', 'layout', 'salvage'] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];
