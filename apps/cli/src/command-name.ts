/** The names of the commands. */
export const COMMAND_NAMES = [
  'build',
  'get',
  'scan',
  'count',
  'find',
  'stat',
  'verify',
  'layout',
  'salvage',
  'merge',
  'convert',
  'diff',
  'put',
  'delete',
  'load',
  'compact',
  'repair',
  'destroy',
  'copy',
  'filter',
  'completion',
] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];
