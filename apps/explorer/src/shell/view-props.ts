/** What each view is given. */
export interface ViewProps {
  readonly params: URLSearchParams;
}
