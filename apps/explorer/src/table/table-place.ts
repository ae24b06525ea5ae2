import { BYTE_FORMS, type ByteForm } from '../bytes/byte-form-names.js';

/** The selected part of a table. */
export interface TablePlace {
  /** The offset at which the selected part starts. */
  readonly at: number;
  /** Undefined for the table's default. */
  readonly form: ByteForm | undefined;
}

export const START: TablePlace = { at: 0, form: undefined };

export function placeFromParams(params: URLSearchParams): TablePlace {
  const at = Number(params.get('at') ?? 0);
  return { at: at > 0 ? at : 0, form: BYTE_FORMS.find((form) => form === params.get('form')) };
}

export function paramsOfPlace(params: URLSearchParams, { at, form }: TablePlace): void {
  if (at > 0) params.set('at', String(at));
  if (form !== undefined) params.set('form', form);
}
