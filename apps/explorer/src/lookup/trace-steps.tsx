import { count, counted } from '@bloom/report';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import type { ByteForm } from '../bytes/byte-forms.js';
import type { TableTrace, TraceStep } from '../database/database-facts.js';
import { StoredFilterPicture } from '../filter/stored-filter.js';
import type { StoredFilter } from '../table/table-facts.js';
import { remedyOf } from '../table/remedy.js';
import { placeText } from '../worker/failure.js';

interface StepsProps extends FilterAccess {
  readonly steps: readonly TraceStep[];
  readonly form: ByteForm;
  readonly total: number;
}

/** The key of the lookup, and a function that reads the filters, to show their bits. */
interface FilterAccess {
  readonly asked: Uint8Array;
  readonly storedFilter?: ((file: string, number: number) => Promise<StoredFilter>) | undefined;
}

/** The steps of a lookup. */
export function TraceSteps({ steps, form, total, asked, storedFilter }: StepsProps) {
  return (
    <ol class="trace" aria-label={`Steps ${steps.length} of ${total}`}>
      {steps.map((step, i) => (
        <li key={i} class={`trace-step is-${kindOf(step)}`} data-step={step.kind} data-outcome={'outcome' in step ? step.outcome : undefined}>
          <StepText step={step} form={form} asked={asked} storedFilter={storedFilter} />
        </li>
      ))}
    </ol>
  );
}

function kindOf(step: TraceStep): string {
  if (step.kind === 'rest') return 'rest';
  if (step.kind === 'table' && step.failure !== undefined) return 'failed';
  return step.outcome.replace(' ', '-');
}

function StepText({ step, form, ...access }: FilterAccess & { readonly step: TraceStep; readonly form: ByteForm }) {
  switch (step.kind) {
    case 'log':
      return (
        <>
          <h3>
            Log <span class="muted">{step.file}</span>
          </h3>
          <p>
            {step.outcome === 'nothing'
              ? `Not among its ${counted(step.entries, 'write')}, which are sorted in memory.`
              : `${step.outcome === 'deleted' ? 'Deleted' : 'Written'} here, with sequence ${count(BigInt(step.sequence!))}. There cannot be a newer version, so the lookup ends.`}
          </p>
        </>
      );
    case 'level':
      return (
        <>
          <h3>Level {step.level}</h3>
          <p>None of its {counted(step.tables, 'table')} has the key in its range. Nothing is read.</p>
        </>
      );
    case 'rest':
      return <p class="muted">Not searched: {step.sources.join(', ')}.</p>;
    case 'table':
      return <TableStep step={step} form={form} {...access} />;
  }
}

function TableStep({ step, form, asked, storedFilter }: FilterAccess & { readonly step: TableTrace; readonly form: ByteForm }) {
  const { file, level, index, filter, block, outcome, failure, sequence } = step;
  return (
    <>
      <h3>
        Level {level} <span class="muted">{file}</span>
      </h3>
      <ol class="trace-parts">
        {index.entries > 0 && (
          <li>
            <span class="trace-label">Index</span>
            <div>
              <p>
                {counted(index.compared.length, 'comparison')} among {counted(index.entries, 'entry')}
                {index.block === undefined
                  ? ': the key comes after the last block.'
                  : `: block ${count(index.block.number + 1)}, ${counted(index.block.size, 'byte')} at ${count(index.block.offset)}.`}
              </p>
              <details>
                <summary>Keys it was compared with</summary>
                <ul class="compared">
                  {index.compared.map(({ entry, key, order }) => (
                    <li key={entry}>
                      {count(entry + 1)} <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} /> <span class="muted">is {order}</span>
                    </li>
                  ))}
                </ul>
              </details>
            </div>
          </li>
        )}
        {filter !== undefined && (
          <li data-filter={filter.answer}>
            <span class="trace-label">Filter</span>
            <div>
              {filter.answer === 'no' ? (
                <p>
                  <strong class="answer-no">No.</strong> Filter {count(filter.number)}{filter.byteLength === 0 ? ', which is empty,' : `, ${counted(filter.byteLength, 'byte')} for blocks from ${count(filter.from)},`} is certain. The
                  block is not read.
                </p>
              ) : filter.answer === 'maybe' ? (
                <p>
                  <strong class="answer-maybe">Maybe.</strong> Filter {count(filter.number)} cannot rule the key out.{' '}
                  {outcome === 'nothing' && failure === undefined && <strong class="answer-false">A false positive, as it turns out.</strong>}
                </p>
              ) : (
                <p>{filter.answer === 'damaged' ? 'Damaged, so it is not used. That costs a read but hides no key.' : 'The table has no filter, so the block must be read.'}</p>
              )}
              {storedFilter !== undefined && (filter.answer === 'no' || filter.answer === 'maybe') && filter.byteLength > 1 && (
                <ShownOnRequest key={`${file} ${filter.number}`} summary="Its bits">
                  <StoredFilterPicture number={filter.number} load={(number) => storedFilter(file, number)} asked={asked} form={form} />
                </ShownOnRequest>
              )}
            </div>
          </li>
        )}
        {block !== undefined && (
          <li>
            <span class="trace-label">Block</span>
            <div>
              <p>
                Read. {counted(block.compared.length, 'comparison')} to find the restart point among {count(block.restarts)}, then {counted(block.walked.length, 'entry')} scanned.
              </p>
              <details>
                <summary>Keys that were compared and scanned</summary>
                <ul class="compared">
                  {block.compared.map(({ restart, key, order }) => (
                    <li key={restart}>
                      ▸ {count(restart)} <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} /> <span class="muted">is {order}</span>
                    </li>
                  ))}
                  {block.walked.map((key, i) => (
                    <li key={`walked ${i}`}>
                      <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} />
                    </li>
                  ))}
                </ul>
              </details>
            </div>
          </li>
        )}
        {failure !== undefined && (
          <li>
            <span class="trace-label">Damage</span>
            <div class="notice is-bad">
              <p>
                {placeText({ ...failure, file: undefined })}
                {failure.message}
              </p>
              {failure.code !== undefined && <p class="small">{remedyOf(failure.code, failure.structure)}</p>}
            </div>
          </li>
        )}
        {failure === undefined && outcome !== 'skipped' && (
          <li>
            <span class="trace-label">Result</span>
            <p>
              {outcome === 'found'
                ? `Found, with sequence ${count(BigInt(sequence!))}.`
                : outcome === 'deleted'
                  ? `A deletion, with sequence ${count(BigInt(sequence!))}: older versions are ignored.`
                  : 'Not in this table. The lookup goes on.'}
            </p>
          </li>
        )}
      </ol>
    </>
  );
}

/** Content that is drawn, and loads its data, only when it is opened. */
function ShownOnRequest({ summary, children }: { readonly summary: string; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}
