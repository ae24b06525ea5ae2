export { commonStart } from './common-prefix.js';
export {
  countMatching,
  databaseKeys,
  type FalsePositives,
  type FilterTrial,
  filterTrialSteps,
  type FilterTrialSubject,
  plainKeys,
  tryFilters,
  WatchedPolicy,
} from './filter-trial.js';
export { filterWriter, GOLEVELDB_FILTER } from './filter-writers.js';
export { hexBytes, hexDigits, hexNumber } from './hexadecimal.js';
export { KeyEvidence, type KeyForm, type KeyReading } from './key-evidence.js';
export { KeySet } from './key-set.js';
export { minecraftKey, typedMinecraftKey } from './minecraft-key.js';
export { count, counted } from './quantity.js';
export { bitsPerKey, compressionRatio, falsePositivesText, type MeasuredRate, neighboursText } from './table-figures.js';
export { BYTE_ORDER_MARK, endsInCarriageReturn, LF, startsWithMark, textAfterMark, textOfLine } from './text-line.js';
