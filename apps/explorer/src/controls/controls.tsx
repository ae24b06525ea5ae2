import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { type Dropped, pickedFiles } from './dropped-files.js';

interface SegmentedProps<Name extends string> {
  readonly legend: string;
  readonly name: string;
  readonly value: Name;
  readonly options: readonly (readonly [Name, string])[];
  readonly onChange: (value: Name) => void;
  readonly hideLegend?: boolean;
}

/** Radio buttons in a row. */
export function Segmented<Name extends string>({ legend, name, value, options, onChange, hideLegend }: SegmentedProps<Name>) {
  return (
    <fieldset class="segmented-field">
      <legend class={hideLegend === true ? 'visually-hidden' : ''}>{legend}</legend>
      <div class="segmented">
        {options.map(([option, label]) => (
          <label key={option}>
            <input type="radio" name={name} checked={value === option} onChange={() => onChange(option)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly hint?: ComponentChildren;
  /** If set, there is also a slider, up to this value. The field itself accepts larger values. */
  readonly sliderMax?: number;
  readonly onChange: (value: number) => void;
}

/** A number field. Values that are out of range are reported and not applied. */
export function NumberField({ label, value, min, max, step = 1, hint, sliderMax, onChange }: NumberFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? String(value);
  const take = (text: string): void => {
    const number = Number(text);
    const good = text.trim() !== '' && number >= min && number <= max && (step !== 1 || Number.isInteger(number));
    setTyped(good ? undefined : text);
    if (good) onChange(number);
  };
  const wrong = typed !== undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="field-line">
        {sliderMax !== undefined && (
          <input
            type="range"
            aria-label={`${label}, slider`}
            min={min}
            max={sliderMax}
            step={step}
            value={Math.min(value, sliderMax)}
            onInput={({ currentTarget }) => take(currentTarget.value)}
          />
        )}
        <input
          id={id}
          class={sliderMax === undefined ? '' : 'beside-slider'}
          type="number"
          inputMode="decimal"
          min={min}
          max={max}
          step={step}
          value={shown}
          aria-invalid={wrong}
          aria-describedby={wrong || hint !== undefined ? `${id}-hint` : undefined}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onBlur={() => setTyped(undefined)}
        />
      </div>
      {(wrong || hint !== undefined) && (
        <span class="hint" id={`${id}-hint`}>
          {wrong ? `A ${step === 1 ? 'whole ' : ''}number from ${min} to ${max.toLocaleString('en')}.` : hint}
        </span>
      )}
    </div>
  );
}

interface DropProps {
  readonly title: string;
  readonly explanation: ComponentChildren;
  /** Whether to ask for a folder. */
  readonly folder?: boolean;
  readonly sampleLabel: string;
  readonly onFiles: (files: Dropped) => void;
  /** If set, an address can be entered too. */
  readonly url?: { readonly label: string; readonly placeholder: string; readonly onOpen: (url: string) => void };
  readonly onSample: () => void;
  readonly children?: ComponentChildren;
}

/** Asks for a file, a folder or an address when a view is empty. */
export function Drop({ title, explanation, folder, url: address, sampleLabel, onFiles, onSample, children }: DropProps) {
  const [over, setOver] = useState(false);
  const [url, setUrl] = useState('');
  const input = useRef<HTMLInputElement>(null);
  return (
    <section
      class={`drop ${over ? 'is-over' : ''}`}
      aria-label={title}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      // The page handles drops anywhere on it.
      onDrop={() => setOver(false)}
    >
      <svg class="drop-icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 15V4m0 0L8 8m4-4 4 4M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4" stroke-linecap="round" stroke-linejoin="round" />
      </svg>
      <h2>{title}</h2>
      <p class="muted">{explanation}</p>
      <div class="row">
        <button type="button" class="is-primary" onClick={onSample}>
          {sampleLabel}
        </button>
        <button type="button" onClick={() => input.current?.click()}>
          {folder === true ? 'Choose a folder' : 'Choose a file'}
        </button>
        <input
          ref={(element) => {
            input.current = element;
            if (element !== null && folder === true) element.webkitdirectory = true;
          }}
          class="visually-hidden"
          type="file"
          tabIndex={-1}
          aria-hidden="true"
          multiple={folder === true}
          onChange={({ currentTarget }) => {
            void pickedFiles(Array.from(currentTarget.files ?? [])).then(onFiles);
            currentTarget.value = '';
          }}
        />
      </div>
      {address !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (url !== '') address.onOpen(url);
          }}
        >
          <input type="url" aria-label={address.label} placeholder={address.placeholder} value={url} onInput={({ currentTarget }) => setUrl(currentTarget.value)} />
          <button type="submit">Open</button>
        </form>
      )}
      {children}
    </section>
  );
}

/** The progress of a long task. */
export function Progress({ label, done, total, onCancel }: { readonly label: string; readonly done: number; readonly total: number; readonly onCancel: () => void }) {
  const id = useId();
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100));
  return (
    <div class="progress">
      <div class="card-head">
        <label for={id}>
          {label} <span class="muted">{percent}%</span>
        </label>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      <progress id={id} max={total} value={done} />
    </div>
  );
}

/** A named value. */
export function Fact({ name, isWide, children }: { readonly name: string; readonly isWide?: boolean; readonly children: ComponentChildren }) {
  return (
    <div class={isWide === true ? 'is-wide' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
