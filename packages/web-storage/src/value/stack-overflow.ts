/** Whether the call stack overflowed. V8 and JavaScriptCore throw a RangeError, SpiderMonkey an InternalError. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && (error.name === 'InternalError' || (error instanceof RangeError && error.message.includes('call stack')));
}
