export type { LabelledRange } from '@bloom/bytes';
export { LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH, type LogDropReason, putFragment } from './log-format.js';
export { logLayout, logRanges, type RecordLayout } from './log-layout.js';
export { type LogDrop, LogReader, type LogReaderOptions, type LogReading, MAX_RECORD_LENGTH, type LogRecord, type LogTail, readLog } from './log-reader.js';
export { type LogSink, LogWriter } from './log-writer.js';
