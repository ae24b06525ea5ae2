export type { Finding, FindingCode } from './inspect/finding.js';
export { handleInValue, inspectBlock, InspectedBlock, type InspectedEntry } from './inspect/inspected-block.js';
export { type LayoutOptions, tableLayout } from './inspect/layout.js';
export { BLOCK_KINDS, outlineTable, type TableOutline } from './inspect/outline.js';
export { type ProfileOptions, profileTable, type TableProfile } from './inspect/profile.js';
export { type RefilteredTable, type RefilterOptions, refilterTable } from './inspect/refilter.js';
export {
  type LostRange,
  salvagedEntries,
  type SalvageOptions,
  type SalvageReport,
  salvageTable,
} from './inspect/salvage.js';
export type { InspectionOptions } from './inspect/stored-blocks.js';
export { type Unchecked, type VerifyOptions, type VerifyReport, verifyTable } from './inspect/verify.js';
