import { KEY_FORMS, type KeyForm } from '../bytes/key-form-names.js';

/** The part of a table that is shown. */
export interface TablePlace {
  /** Where in the file the part that is selected starts. */
  readonly at: number;
  /** Undefined: as is usual for such a table. */
  readonly form: KeyForm | undefined;
}

export const START: TablePlace = { at: 0, form: undefined };

export function placeFromParams(params: URLSearchParams): TablePlace {
  const at = Number(params.get('at') ?? 0);
  return { at: at > 0 ? at : 0, form: KEY_FORMS.find((form) => form === params.get('form')) };
}

export function paramsOfPlace(params: URLSearchParams, { at, form }: TablePlace): void {
  if (at > 0) params.set('at', String(at));
  if (form !== undefined) params.set('form', form);
}
