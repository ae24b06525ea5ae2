export { type LayoutOptions, tableLayout } from './inspect/layout.js';
export { type ProfileOptions, profileTable, type TableProfile } from './inspect/profile.js';
export {
  type LostRange,
  salvagedEntries,
  type SalvageOptions,
  type SalvageReport,
  salvageTable,
} from './inspect/salvage.js';
export type { Finding, FindingCode } from './inspect/survey.js';
export { type VerifyOptions, verifyTable } from './inspect/verify.js';
