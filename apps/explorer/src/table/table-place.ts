import { KEY_FORMS, type KeyForm } from '../bytes/key-form-names.js';

/** The selected part of a table. */
export interface TablePlace {
  /** The offset at which the selected part starts. */
  readonly at: number;
  /** Undefined for the table's default. */
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
