import { counted } from '@bloom/report';
import { Segmented } from '../controls/controls.js';
import { BYTE_FORM_TITLES, BYTE_FORMS, type ByteForm, partsOf, valueParts } from './byte-forms.js';

interface BytesTextProps {
  readonly bytes: Uint8Array;
  readonly form: ByteForm;
  /** The total number of bytes, if `bytes` has only the first ones. */
  readonly byteLength?: number | undefined;
  /** Whether the bytes are a value. Forms for keys do not apply to it. */
  readonly isValue?: boolean | undefined;
}

/** Bytes as text in the chosen form. Escaped bytes are marked. */
export function BytesText({ bytes, form, byteLength = bytes.length, isValue = false }: BytesTextProps) {
  if (byteLength === 0) return <span class="bytes-empty">empty</span>;
  return (
    <span class="bytes-text">
      {(isValue ? valueParts(bytes, form) : partsOf(bytes, form)).map(({ text, isEscaped }, i) => (
        <span key={i} class={isEscaped ? 'bytes-escaped' : ''}>
          {text}
        </span>
      ))}
      {byteLength > bytes.length && <span class="bytes-empty"> … {counted(byteLength, 'byte')}</span>}
    </span>
  );
}

/** Switches between the forms. */
export function ByteFormSwitch({ form, onChange }: { readonly form: ByteForm; readonly onChange: (form: ByteForm) => void }) {
  return <Segmented legend="Show bytes as" name="key-form" value={form} options={BYTE_FORMS.map((name) => [name, BYTE_FORM_TITLES[name]] as const)} onChange={onChange} />;
}
